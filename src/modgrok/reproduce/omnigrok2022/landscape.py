"""For each system: losses against a held norm, runs with a free and with a held norm, time against decay."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.weight_norm import critical_norm, decay_time, whole_norm
from modgrok.palette import GRAY, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.form import BEYOND, Ask, Column, Runs, Sizes, Table, make_claim, runs, study
from modgrok.reproduce.omnigrok2022.sizes import SETTINGS
from modgrok.text import number, percent


def held_and_free(name: str, s: Sizes) -> Runs:
    """For every α of the landscape and for every weight decay, a run for each seed."""
    system = s.values[name]
    base = SETTINGS[name] | system.settings | {"evaluations": 100, "snapshots": 0}
    held, free, seeds, found = system.held, system.free, range(system.seeds), Runs([])
    holding = {"optimizer": "adam", "weight_decay": 0.0, "hold_norm": True, "steps": held.steps}
    for scale in held.scales:
        some = runs(base | holding, batch_size=held.batch, init_scale=[scale], seed=seeds)
        found += some.tag(part="held" if scale == held.shown else "landscape")
    freed = {"optimizer": "adamw", "init_scale": free.start, "steps": free.steps, "until": free.steps // 20}
    return found + runs(base | freed, batch_size=free.batch, weight_decay=[*free.decays], seed=seeds).tag(part="free")


def known_at(run: Any) -> dict[str, Any]:
    """The norm when the test set is known."""
    step, history = run.result["grokked_at"], run.history
    return {"norm_when_known": None if step is None else np.interp(step, history["step"], whole_norm(history))}


def of_all(name: str, s: Sizes, t: Table) -> dict[str, Any]:
    """The landscape, the two norms that the time of decay follows from, and one run of each kind."""
    system = s.values[name]
    made = [*zip(t, t.runs, strict=True)]
    held = {a: [run for row, run in made if row.part != "free" and row.init_scale == a] for a in system.held.scales}
    slowest = [run for row, run in made if row.part == "free" and row.weight_decay == system.free.decays[0]]
    places = [{"scale": scale} | _place(some) for scale, some in held.items()]
    norms, accuracies = ([place[key] for place in places] for key in ("norm", "test_accuracy"))
    critical = critical_norm(norms, accuracies, system.settings["threshold"])
    begin = float(np.median([whole_norm(run.history).max() for run in slowest]))
    return {
        "threshold": system.settings["threshold"],
        "landscape": places,
        "critical_norm": critical,
        "begin_norm": begin,
        "predicted": [decay_time(begin, critical, system.settings["lr"], g) for g in system.free.decays if critical],
        "free_run": _curves(slowest[0]),
        "held_run": _curves(held[system.held.shown][0]),
    }


def _place(some: Sequence[Any]) -> dict[str, float]:
    """The best losses at one norm, and the test accuracy at the end: medians over seeds."""
    found = {key: [np.nanmin(run.history[key]) for run in some] for key in ("train_loss", "test_loss")}
    found["norm"] = [whole_norm(run.history)[0] for run in some]
    for key in ("train_accuracy", "test_accuracy"):
        found[key] = [run.result[key] for run in some]
    return {key: float(np.median(values)) for key, values in found.items()}


def _curves(run: Run) -> dict[str, Any]:
    return {name: run.history[name] for name in ("step", "train_accuracy", "test_accuracy")}


SYSTEMS = {
    "teacher": ("figS", "A student of a teacher", "a student of a teacher"),
    "digits": ("figD", "Handwritten digits", "scikit-learn's digits"),
    "addition": ("figA", "Modular addition by the network of Gromov", "modular addition by the network of Gromov"),
    "transformer": ("figT", "Modular addition by a transformer", "modular addition by a transformer"),
}
"""Study, its title, and what the claims say."""
STUDIES = {
    name: study(
        figure,
        title,
        "(a) The least training and test loss while the norm of all weights is held fixed (for digits errors, as in "
        "the paper). (b) A run that starts with large weights and little weight decay, beside one whose norm is held "
        "where the test loss is small. (c) Steps until the training and the test set are known, against weight decay; "
        "the line is the time that the norm alone would take to decay from its largest value to the critical one, "
        "found in (a).",
        runs=partial(held_and_free, name),
        keep=("memorized_at", "grokked_at", known_at),
        also=partial(of_all, name),
    )
    for name, (figure, title, _) in SYSTEMS.items()
}


def predicted(t: Table) -> dict[float, float]:
    """The time of decay from the largest norm to the critical one, for every weight decay."""
    return dict(zip(t.where(part="free")["weight_decay"].distinct(), t.first.predicted, strict=False))


def heights(t: Table) -> tuple[str, Column, Column]:
    """The landscape of the training and of the test set: losses, or errors where the paper plots them."""
    places = Table(t.first.landscape)
    if t.first.task != "digits":
        return "loss", places["train_loss"], places["test_loss"]
    train, test = (Column(1 - accuracy for accuracy in places[f"{kind}_accuracy"]) for kind in ("train", "test"))
    return "error", train, test


def three_panels(t: Table, left: Any, middle: Any, right: Any) -> str:
    first, places, free, shown = t.first, Table(t.first.landscape), t.where(part="free"), t.where(part="held").first
    measured, train, test = heights(t)
    for some, color in ((train, TRAIN), (test, TEST)):
        left.plot(places["norm"], some, color=color, marker="o")
    for run, line in ((first.free_run, "-"), (first.held_run, ":")):
        for kind, color in (("train", TRAIN), ("test", TEST)):
            middle.plot(run["step"], run[f"{kind}_accuracy"], color=color, linestyle=line)
    scale, label = ("log", "least loss") if measured == "loss" else ("linear", "error at the end")
    left.set(xscale="log", yscale=scale, xlabel="norm of all weights, held", ylabel=label)
    style.mark(left, first.critical_norm)
    middle.set_xscale("symlog", linthresh=10)
    middle.set(xlabel="step", ylabel="accuracy", ylim=(-0.03, 1.03))
    cells, times = free.by("weight_decay"), predicted(t)
    for decay, cell in cells.items():
        for column, color in (("memorized_at", TRAIN), ("grokked_at", TEST)):
            known = cell[column].known()
            right.plot([decay] * len(known), known, "o", color=color, fillstyle="none")
    right.plot([*times], [*times.values()], color=GRAY, linewidth=0.9)
    if not free["grokked_at"].none():
        right.set_yscale("log")
    right.set(xscale="log", xlabel="weight decay γ", ylabel="steps until known")
    right.set_xticks([*cells], map(number, cells))
    for axis in (left.xaxis, right.xaxis, right.yaxis):
        axis.set_minor_formatter(lambda value, _: "")
    for label, look in (
        ("training", {"color": TRAIN}),
        ("test", {"color": TEST}),
        (f"(b) free, from α = {number(free.one('init_scale'))}", {"color": "black"}),
        (f"(b) held at α = {number(shown.init_scale)}", {"color": "black", "linestyle": ":"}),
        ("(c) $\\ln(w_0/w_c)/\\eta\\gamma$", {"color": GRAY, "linewidth": 0.9}),
    ):
        middle.plot([], [], label=label, **look)
    left.figure.legend(loc="outside upper center", ncols=5)
    both = f"$w_0$ = {number(first.begin_norm)}, the largest norm on the way; $w_c$ = {number(first.critical_norm)}"
    told = f"known: accuracy {first.threshold}; {both}, dotted in (a): test set known up to there"
    return f"{told}; rate {number(first.lr)}"


for one in STUDIES.values():
    one.figure("landscape", "free and held", "time against decay", height=2.9)(three_panels)


def landscape(t: Table, ask: Ask) -> None:
    """Against the norm of the weights the training loss is an L and the test loss a U."""
    places = Table(t.first.landscape)
    kind, train, test = heights(t)
    best = int(np.argmin(test))
    at = (0, best, -1)
    ask.show({f"α of the least test {kind}": number(places["scale"][best])})
    ask.show({f"test {kind}: smallest α, minimum, largest α": ", ".join(number(test[i]) for i in at)})
    ask.show({"critical norm": t.first.critical_norm})
    ask.show({f"training {kind}: smallest α, there, largest α": ", ".join(number(train[i]) for i in at)})
    inside = 0 < best < len(test) - 1 and min(test[0], test[-1]) >= 2 * test[best]
    ask.that(f"the test {kind} has a minimum inside, at most half of both its ends", inside)
    low = max(train[best:]) <= 0.1 * train[0]
    ask.that(f"from there on the training {kind} is at most a tenth of its value at the smallest norm", low)
    ask.budget(t.where(part="held"), steps=10_000)  # As many as the paper has.


def no_delay(t: Table, ask: Ask) -> None:
    """With the norm held where the test loss is small, there is no delay."""
    least, held = min(t.where(part="free")["weight_decay"]), t.where(part="held")
    delayed = t.where(part="free", weight_decay=least), held
    free, delays = (some["grokked_at"] - some["memorized_at"] for some in delayed)
    complete = delays.whole() and not free.none()
    share = float(np.median(delays)) / max(1.0, float(np.median(free.known()))) if complete else None
    ask.that(
        "every run with a held norm learns the test set, and their median delay after the training set is at most a "
        "quarter of that of the free runs with the smallest decay",
        share is not None and share <= 0.25,
    )
    ask.yes(f"The delay is {percent(share, 0)} of that with a free norm.")
    scale = number(held.one("init_scale"))
    ask.show({f"delay, free, decay {number(least)}": free, f"delay, held at α = {scale}": delays})


def inverse_decay(t: Table, ask: Ask) -> None:
    """The time to generalization is inverse to the weight decay."""
    free = t.where(part="free")
    medians = free.of("grokked_at", lambda times: times.median() if times.whole() else None, "weight_decay")
    products = medians.known().products()
    ratio = max(products) / min(products) if medians.y.whole() else None
    ask.that(
        "every run learns the test set, and median time · decay stays within a factor of 1.5 over all decays",
        ratio is not None and ratio <= 1.5,
    )
    quotients = [medians[decay] and medians[decay] / time for decay, time in predicted(t).items() if time]
    ask.remark(
        "the times are within a factor of two of ln(w0/wc)/(ηγ), what the norm's decay alone takes, without the second "
        "term of the paper's formula (L + h tan θ)/(ηγ)",
        quotients and all(quotient is not None and 0.5 <= quotient <= 2 for quotient in quotients),
    )
    second = [(medians[g] - time) * t.first.lr * g for g, time in predicted(t).items() if medians[g]]
    ask.show({"largest over smallest time · decay": ratio})
    delays = [(cell["grokked_at"] - cell["memorized_at"]).median() for cell in free.by("weight_decay").values()]
    ask.show({"median delay after the training set, from the smallest decay on": ", ".join(map(number, delays))})
    ask.show({"measured over predicted": ", ".join(map(number, quotients)) or "no critical norm"})
    ask.show({"h tan θ, the measured time · ηγ less ln(w0/wc)": second or "no critical norm"}, over="decay")
    ask.show({"norm when the test set is known": free["norm_when_known"]}, over="run")
    ask.show({f"steps, decay {number(decay)}": time for decay, time in medians.items()})


SECTIONS: dict[Callable[[Table, Ask], None], str] = {landscape: "2", no_delay: "3, 4", inverse_decay: "5.1"}
CLAIMS = tuple(
    make_claim(
        judge,
        f"{judge.__name__}_{system}",
        f"{(judge.__doc__ or '').rstrip('.')}: {name}.",
        BEYOND if system == "addition" else section,
        (STUDIES[system],),
    )
    for system, (_, _, name) in SYSTEMS.items()
    for judge, section in SECTIONS.items()
)
