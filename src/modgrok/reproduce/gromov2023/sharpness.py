r"""Sharpness through grokking: the largest eigenvalue of the training loss's Hessian, against 2/rate."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import sharpness
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile, Training
from modgrok.reproduce.nested import Numbers, Study
from modgrok.text import number


def experiments(profile: Profile) -> list[Experiment]:
    """n + m under plain gradient descent at several rates, for equally long times."""
    further = profile.further
    return [
        Training(rate, round(further.gd.steps * further.gd.rate / rate), 60).descend(
            "n + m", further.modulus, further.width, further.fraction, snapshots=further.snapshots
        )
        for rate in further.sharpness_rates
    ]


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """Sharpness at every snapshot in units of 2/η, beside the accuracies and losses there."""
    further = profile.further
    return {
        "modulus": further.modulus,
        "width": further.width,
        "fraction": further.fraction,
        "rates": further.sharpness_rates,
        "runs": [_followed(run) for run in runs],
    }


def _followed(run: Run) -> dict[str, Any]:
    history, steps, result = run.history, run.snapshots, dict(run.result or {})
    at = np.searchsorted(history["step"], steps)
    found = sharpness_of([run.snapshot(step) for step in steps], run)
    curves = ("train_accuracy", "test_accuracy", "train_loss", "test_loss")
    return {
        "learning_rate": run.experiment.lr,
        "status": result["status"],
        "memorized_at": result["memorized_at"],
        "grokked_at": result["grokked_at"],
        "step": steps,
        "sharpness": found,
        "over_limit": found * run.experiment.lr / 2,
        **{name: history[name][at] for name in curves},
    }


def sharpness_of(networks: list[Any], run: Run) -> np.ndarray:
    """Of the mean squared error on the run's training pairs, at each of some networks."""
    import jax.numpy as jnp

    examples = run.experiment.split.examples_of(run.task)
    inputs = jnp.asarray(examples.inputs[examples.trained])
    answers = jnp.asarray(np.eye(run.task.answers, dtype=np.float32)[examples.labels[examples.trained]])
    architecture, signature = networks[0].architecture, networks[0].signature

    def loss(parameters: Any) -> Any:
        return jnp.square(architecture.apply(parameters, inputs, signature) - answers).mean()

    return sharpness(loss, [network.parameters for network in networks])


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 1, height=4.4, sharex=True, height_ratios=(1.5, 1))
    above, below = panels[:, 0]
    for run, rate, color in zip(n["runs"], n["rates"], SERIES, strict=False):
        time = [step * rate / n["rates"][0] for step in run["step"]]
        label = f"rate {number(run['learning_rate'])}" + (" (diverged)" if run["status"] != "finished" else "")
        above.plot(time, run["over_limit"], color=color, marker="o", label=label)
        below.plot(time, run["test_accuracy"], color=color)
        below.plot(time, run["train_accuracy"], color=color, linestyle=":")
    above.axhline(1, color=GRAY, linestyle="--", linewidth=0.9)
    above.annotate(
        "stable below",
        (0.01, 1),
        (0, -2),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        va="top",
        fontsize=6,
        color=GRAY,
    )
    above.set_yscale("log")
    above.set_ylabel("sharpness / (2 / rate)")
    above.legend(loc="center left", bbox_to_anchor=(0, 0.62))
    below.set_ylabel("accuracy")
    below.set_ylim(-0.03, 1.03)
    below.set_xscale("symlog", linthresh=10)
    below.set_xlim(left=0)
    below.set_xlabel(f"step × rate / {number(n['runs'][0]['learning_rate'])}")
    below.plot([], [], color=GRAY, linestyle=":", label="train")
    below.plot([], [], color=GRAY, label="test")
    below.legend(loc="center left")
    style.letter((above, below), ("largest eigenvalue of the Hessian", "accuracy"))
    style.note(
        figure, f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, plain GD, training loss, seed 0"
    )
    return figure


STUDY = Study(
    "sharpness",
    "Sharpness through grokking",
    "The largest eigenvalue of the Hessian of the training loss, by Lanczos' method with products of the Hessian and a "
    "vector, along gradient descent at several rates, in units of 2/rate, above which a quadratic valley throws "
    "gradient descent out. Time is the step times the rate, so that gradient flow would give one curve.",
    numbers,
    experiments,
    draw,
    beyond=True,
    slow=True,
)
