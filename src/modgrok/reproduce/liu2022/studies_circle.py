"""The transformer of section 4: addition modulo 53 bends the embedding into a circle."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.plot import style
from modgrok.reproduce.liu2022.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, results
from modgrok.shapes import Float

MODULUS = 53


def experiments(profile: Profile) -> list[Experiment]:
    """One transformer with vectors of length 256; the first and the last weights are kept."""
    settings: dict[str, Any] = {"network": "transformer", "width": 256, "optimizer": "adamw", "lr": 1e-3}
    return [
        Experiment(
            "n + m", MODULUS, fraction=0.5, weight_decay=1.0, steps=profile.circle_steps, snapshots=12, **settings
        )
    ]


def effective_dimension(vectors: Float[np.ndarray, "number d"]) -> float:
    r"""$\exp(-\sum_k s_k \ln s_k)$ of the singular values, each a share of their sum."""
    values = np.linalg.svd(vectors - vectors.mean(axis=0), compute_uv=False)
    shares = values[values > 1e-9] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def principal(vectors: Float[np.ndarray, "number d"], count: int = 2) -> Float[np.ndarray, "number c"]:
    """The first principal components."""
    u, s, _ = np.linalg.svd(vectors - vectors.mean(axis=0), full_matrices=False)
    return u[:, :count] * s[:count]


def roundness(plane: Float[np.ndarray, "number 2"]) -> float:
    """Standard deviation of the radius in units of its mean: 0 on a circle, about ½ for normal points."""
    radius = np.linalg.norm(plane, axis=1)
    return float(radius.std() / radius.mean())


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """The plane of the first two components at the start and at the end, and the dimension on the way."""
    (run,) = runs
    steps = run.snapshots
    vectors = [np.asarray(run.snapshot(step).parameters["embedding"], np.float64)[:MODULUS] for step in steps]
    first, last = principal(vectors[0]), principal(vectors[-1])
    return {
        "steps": steps,
        "effective_dimension": [effective_dimension(one) for one in vectors],
        "start": first,
        "end": last,
        "roundness": [roundness(first), roundness(last)],
        "test_accuracy": results(run, "test_accuracy"),
        "grokked_at": results(run, "grokked_at"),
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, height=2.6)
    for panel, name in zip(panels[0], ("start", "end"), strict=False):
        x, y = zip(*n[name], strict=True)
        panel.scatter(x, y, c=range(len(x)), cmap="twilight", s=10)
        panel.set_aspect("equal")
        panel.set(xlabel="first component", ylabel="second component")
    panels[0, 2].plot(n["steps"], n["effective_dimension"], marker="o")
    panels[0, 2].set_xscale("symlog", linthresh=10)
    panels[0, 2].set(xlabel="step", ylabel="effective dimension")
    style.mark(panels[0, 2], n["grokked_at"], "grokked")
    style.letter(panels[0], ("embedding at the start", "at the end", "its dimension"))
    style.note(figure, f"n + m mod {MODULUS}, a transformer of one block; colors: the number n")
    return figure


STUDY = Study(
    "figP",
    "A circle in a transformer",
    "The embeddings of the numbers 0 … 52 on their first two principal components, before training and after a "
    "transformer has learnt to add modulo 53.",
    numbers,
    experiments,
    draw,
)
