"""Fig. 3: the curvature along the update, at stairs and elsewhere."""

from typing import Any

import numpy as np

from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.reproduce.thilak2022.along_update import follow
from modgrok.reproduce.thilak2022.profile import DOUBLE, EPSILONS, FIRST, QUICK, Profile
from modgrok.reproduce.thilak2022.spikes import FLOOR, VANISHED, near, spikes

BEFORE = 40
"""Steps before a spike is seen in which the curvature counts as its own."""


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Seed 0 followed step by step, with logits and loss in 32 and in 64 bits, at the quick profile's size."""
    made: dict[str, dict[str, Any]] = {FIRST: {}, DOUBLE: {"loss_precision": "float64"}}
    found = {}
    for name, more in made.items():
        experiment = QUICK.perceptron(epsilon=EPSILONS[0], record=(), **more)
        found[name] = _peaks(follow(experiment, profile.followed, profile.stride))
    return {"modulus": QUICK.modulus, "width": QUICK.width, "variants": found}


def _peaks(h: dict[str, np.ndarray]) -> dict[str, Any]:
    """The largest values near spikes and the middle of the others, after the loss has vanished."""
    steps, loss = h["step"], h["loss"].astype(np.float64)
    places = spikes(steps, loss)
    late = steps > (steps[np.argmax(loss < VANISHED)] if (loss < VANISHED).any() else steps[-1])
    at = near(steps, places, BEFORE)
    peaks = {}
    for name in ("curvature", "feature_change"):
        inside, outside = (h[name][late & where].astype(np.float64) for where in (at, ~at))
        peaks[name] = {
            "at_spikes": float(inside.max()) if inside.size else None,
            "elsewhere": float(np.median(outside)) if outside.size else None,
            "largest_elsewhere": float(outside.max()) if outside.size else None,
        }
    return {"curves": h, "spikes": places, "peaks": peaks}


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=3.8, sharex=True)
    shown = {
        "loss": "training loss",
        "last_layer": "norm of the last layer",
        "curvature": "curvature along the update",
        "feature_change": "relative change of features",
    }
    for panel, (name, label) in zip(panels.flat, shown.items(), strict=True):
        for (variant, run), color in zip(n["variants"].items(), (SERIES[1], GRAY), strict=True):
            values = run["curves"][name]
            if name == "loss":
                values = [max(value, FLOOR / 10) for value in values]
            panel.plot(run["curves"]["step"], values, color=color, linewidth=0.9, label=variant)
        panel.set_ylabel(label)
        if name != "last_layer":
            panel.set_yscale("symlog" if name == "curvature" else "log")
    for panel in panels[1]:
        panel.set_xlabel("step")
    panels[0, 1].legend(loc="lower right")
    style.note(figure, f"n + m mod {n['modulus']}, two hidden layers of {n['width']} ReLU, Adam, seed 0")
    return figure


STUDY = Study(
    "fig3",
    "Curvature along the update",
    "At a spike the loss is sharply curved in the direction in which Adam moves, and the features that the last layer "
    "reads change most; with logits and loss in 64 bits neither happens.",
    numbers,
    draw=draw,
)
