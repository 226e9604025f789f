"""Grokking from a thousand examples, and the few neurons that remain (Barak et al. C.5, Merrill et al. 2023)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.networks import Network
from modgrok.palette import GRAY, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.barak2022.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, results
from modgrok.shapes import Float

ACTIVE = 10
"""Neurons whose norms are drawn one by one."""


def incoming_norms(network: Network) -> Float[np.ndarray, "N"]:
    """Norm of each hidden neuron's weights and bias."""
    p = network.parameters
    return np.hypot(np.linalg.norm(p["layers.0.weight"], axis=1), p["layers.0.bias"])


def active_neurons(network: Network, signs: Float[np.ndarray, "example n"]) -> int:
    """The fewest neurons, taken in the order of their norm, that answer every example as the whole network does."""
    p = {name: np.asarray(value, np.float64) for name, value in network.parameters.items()}
    order = np.argsort(-incoming_norms(network))
    hidden = np.maximum(signs @ p["layers.0.weight"][order].T + p["layers.0.bias"][order], 0)
    outputs = np.cumsum(hidden * p["layers.1.weight"][0, order], axis=1) + p["layers.1.bias"][0]
    agree = (np.sign(outputs) == np.sign(outputs[:, -1:])).all(axis=0)
    return int(np.flatnonzero(agree)[0]) + 1


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    return {
        "bits": profile.bits,
        "width": profile.finite_width,
        "runs": [_measure(run) for run in runs],
    }


def _measure(run: Run) -> dict[str, Any]:
    names = ("step", "train_accuracy", "test_accuracy")
    examples = run.experiment.split.examples_of(run.experiment.load_task())
    kept = run.snapshots
    norms = np.array([incoming_norms(run.snapshot(step)) for step in kept])
    largest = np.argsort(-norms[-1])[:ACTIVE]
    return {
        "curves": {name: run.history[name] for name in names},
        "memorized_at": results(run, "memorized_at"),
        "grokked_at": results(run, "grokked_at"),
        "test_accuracy": results(run, "test_accuracy"),
        "active": active_neurons(run.network, 1.0 - 2.0 * examples.inputs),
        "kept": kept,
        "largest": norms[:, largest].T,
        "others": np.delete(norms, largest, axis=1).mean(axis=1),
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7)
    left, right = panels[0]
    for i, run in enumerate(n["runs"]):
        look = {"alpha": 1 if i == 0 else 0.4, "linewidth": 1.3 if i == 0 else 0.8}
        for name, color in (("train_accuracy", TRAIN), ("test_accuracy", TEST)):
            label = name.replace("_", " ").replace("train", "training") if i == 0 else None
            left.plot(run["curves"]["step"], run["curves"][name], color=color, label=label, **look)
    first = n["runs"][0]
    for norms in first["largest"]:
        right.plot(first["kept"], norms, color=SERIES[2], linewidth=0.9)
    right.plot(first["kept"], first["others"], color=GRAY, label="mean of the others")
    right.plot([], [], color=SERIES[2], label=f"the {ACTIVE} largest at the end")
    right.legend()
    for panel in panels[0]:
        panel.set_xscale("symlog", linthresh=10)
        panel.set_xlabel("step")
        style.mark(panel, first["memorized_at"], "memorized" if panel is left else "", "right")
        style.mark(panel, first["grokked_at"], "grokked" if panel is left else "")
    left.set(ylabel="accuracy", ylim=(0.4, 1.02))
    right.set_ylabel("norm of a neuron's weights")
    left.legend(loc="upper left")
    style.letter(panels[0], ("", "neurons of seed 0"))
    left.set_title("(a)")
    sizes = ", ".join(str(run["active"]) for run in n["runs"])
    style.note(
        figure,
        f"parity of 3 of {n['bits']} bits, 1 000 examples, {n['width']} ReLU, L2 0.01; active neurons at the end: "
        f"{sizes}",
    )
    return figure


STUDY = Study(
    "figG",
    "Grokking a parity, and what is left of the network",
    "From a thousand fixed examples the training accuracy is soon perfect and the test accuracy at chance. With weight "
    "decay a handful of neurons grows while all others decay; when they have taken over, the test accuracy jumps.",
    numbers,
    lambda profile: profile.finite(),
    draw,
)
