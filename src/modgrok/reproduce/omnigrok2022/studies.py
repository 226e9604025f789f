"""For each system: losses against a held norm, runs with a free and with a held norm, time against decay."""

from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GRAY, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.reproduce.omnigrok2022.landscape import crossing, decay_time, whole_norm
from modgrok.reproduce.omnigrok2022.profile import STUDIES as NAMES
from modgrok.reproduce.omnigrok2022.profile import Profile
from modgrok.text import number

TITLES = {
    "teacher": "A student of a teacher",
    "digits": "Handwritten digits",
    "addition": "Modular addition by the network of Gromov",
    "transformer": "Modular addition by a transformer",
}


def numbers(name: str, profile: Profile, runs: Tree) -> Numbers:
    """Everything the three panels show."""
    system = profile.systems[name]
    places = [_place(scale, some) for scale, some in runs["landscape"].items()]
    norms, accuracies = ([place[key] for place in places] for key in ("norm", "test_accuracy"))
    critical = crossing(norms, accuracies, system.threshold)
    slowest = runs["free"][system.decays[0]]
    begin = float(np.median([whole_norm(run).max() for run in slowest]))
    times = {decay: results(some, "memorized_at", "grokked_at") for decay, some in runs["free"].items()}
    return {
        "system": name,
        "lr": system.lr,
        "threshold": system.threshold,
        "start": system.start,
        "landscape": places,
        "critical_norm": critical,
        "begin_norm": begin,
        "norm_when_known": [
            _norm_at(run, results(run, "grokked_at")) for some in runs["free"].values() for run in some
        ],
        "free": {"decay": system.decays[0], "curves": _curves(slowest[0])},
        "held": {
            "scale": system.held,
            "curves": _curves(runs["landscape"][system.held][0]),
            "times": results(runs["landscape"][system.held], "memorized_at", "grokked_at"),
        },
        "times": times,
        "predicted": {
            decay: None if critical is None else decay_time(begin, critical, system.lr, decay) for decay in times
        },
    }


def _place(scale: float, some: list[Run]) -> dict[str, Any]:
    """The best losses at one norm, and the accuracies at the end: medians over seeds."""
    middle = {
        key: float(np.median([np.nanmin(run.history[key]) for run in some])) for key in ("train_loss", "test_loss")
    }
    ends = {key: float(np.median(results(some, key))) for key in ("train_accuracy", "test_accuracy")}
    norms = [float(whole_norm(run)[0]) for run in some]
    return {"scale": scale, "norm": float(np.median(norms))} | middle | ends


def _curves(run: Run) -> dict[str, Any]:
    names = ("step", "train_accuracy", "test_accuracy")
    return {name: run.history[name] for name in names} | {"norm": whole_norm(run)}


def _norm_at(run: Run, step: int | None) -> float | None:
    return None if step is None else float(np.interp(step, run.history["step"], whole_norm(run)))


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, height=2.9)
    left, middle, right = panels[0]
    norms = [place["norm"] for place in n["landscape"]]
    for key, color in (("train_loss", TRAIN), ("test_loss", TEST)):
        left.plot(norms, [place[key] for place in n["landscape"]], color=color, marker="o")
    left.set(xscale="log", yscale="log", xlabel="norm of all weights, held", ylabel="least loss")
    style.mark(left, n["critical_norm"])
    for kind, line in (("free", "-"), ("held", ":")):
        h = n[kind]["curves"]
        for key, color in (("train_accuracy", TRAIN), ("test_accuracy", TEST)):
            middle.plot(h["step"], h[key], color=color, linestyle=line)
    middle.set_xscale("symlog", linthresh=10)
    middle.set(xlabel="step", ylabel="accuracy", ylim=(-0.03, 1.03))
    decays = [float(decay) for decay in n["times"]]
    for decay, seeds in zip(decays, n["times"].values(), strict=True):
        for which, color in ((0, TRAIN), (1, TEST)):
            known = [pair[which] for pair in seeds if pair[which] is not None]
            right.plot([decay] * len(known), known, "o", color=color, fillstyle="none")
    if n["critical_norm"] is not None:
        right.plot(decays, list(n["predicted"].values()), color=GRAY, linewidth=0.9)
    if any(pair[1] for seeds in n["times"].values() for pair in seeds):
        right.set_yscale("log")
    right.set(xscale="log", xlabel="weight decay γ", ylabel="steps until known")
    right.set_xticks(decays, [number(decay) for decay in decays])
    for axis in (left.xaxis, right.xaxis, right.yaxis):
        axis.set_minor_formatter(lambda value, _: "")
    for label, look in (
        ("training", {"color": TRAIN}),
        ("test", {"color": TEST}),
        (f"(b) free, from α = {number(n['start'])}", {"color": "black"}),
        (f"(b) held at α = {number(n['held']['scale'])}", {"color": "black", "linestyle": ":"}),
        ("(c) $\\ln(w_0/w_c)/\\eta\\gamma$", {"color": GRAY, "linewidth": 0.9}),
    ):
        middle.plot([], [], label=label, **look)
    figure.legend(loc="outside upper center", ncols=5)
    style.letter(panels[0], ("losses against norm", "free and held", "time against decay"))
    style.note(
        figure,
        f"known: accuracy {n['threshold']}; $w_0$ = {number(n['begin_norm'])}, the largest norm on the way; $w_c$ = "
        f"{number(n['critical_norm'])}, dotted in (a): test set known up to there; rate {number(n['lr'])}",
    )
    return figure


STUDIES = tuple(
    Study(
        NAMES[name],
        title,
        "(a) The least training and test loss when the norm of all weights is held while the network trains. (b) A run "
        "that starts with large weights and small weight decay, beside one whose norm is held where the test loss is "
        "small. (c) When training and test set are known, against weight decay; the line is what the norm's decay "
        "alone would take from the largest norm to the critical one, which (a) gives.",
        partial(numbers, name),
        methodcaller("experiments", name),
        draw,
    )
    for name, title in TITLES.items()
)
