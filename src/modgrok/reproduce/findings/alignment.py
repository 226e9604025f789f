r"""Finding 2: phases align when nothing is known (docs/findings/alignment.md).

Every right example pushes φ1 + φ2 − φ3 of every frequency toward zero, in all neurons alike, while what it takes to
memorize differs from neuron to neuron. The clock of that push (`early_flow`) does not depend on the number of pairs;
memorization stops it, at a time in proportion to that number. What the alignment is worth is a number of neurons
(`effective_width`); what it is good for, turning the phases at memorization tells (`turn_phases`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import early_flow
from modgrok.measures.effective_width import random_waves, rule_score, waves_alone
from modgrok.networks import Network, score_table
from modgrok.palette import BLUE, GRAY, GREEN, MARKERS, ORANGE, PURPLE, SERIES, VERMILLION
from modgrok.reproduce.form import Ask, Column, Runs, Settings, Sizes, Table, runs, study
from modgrok.tasks import task
from modgrok.text import percent

RANDOM = "random labels"
UNCHANGED = "unchanged"
WAYS = (UNCHANGED, "zero-strongest", "kept-strongest", "random-strongest", "zero", "kept", "random")
"""What becomes of the gaps at memorization, of the strongest frequency of every neuron or of all frequencies."""
SMALL = 0.95
"""Share of the initial training loss down to which outputs are small beside the answers."""
INDEPENDENT = 9
"""Pairs from which on the waves of different neurons are independent enough for `effective_width`."""
SIGMA = 5.0
RENAMED = "(n^5 + m^5)^5"
"""n + m with other names for the arguments and for the answers, where 5 does not divide p − 1."""


def descent_rate(rate: float, modulus: int, width: int) -> float:
    """Of gradient descent, from millions of natural units."""
    return float(f"{rate * 1e6 * (modulus / 97) ** 3 * width / 500:.5g}")


def few(s: Sizes, **more: Any) -> Runs:
    """Networks trained on very few pairs by Adam until they know them."""
    common = {"task": "n + m", "modulus": s.few_modulus, "width": s.few_width, "optimizer": "adam", "lr": 0.1}
    common |= {"weight_decay": 0.0, "steps": s.few_steps, "evaluations": 1, "snapshots": 2}
    return runs(common, **more, seed=range(s.few_seeds))


def clocks(s: Sizes) -> Runs:
    """Gradient descent on few and on many pairs, for the same time, rate times steps."""

    def settings(pairs: int) -> Settings:
        slowed = min(1, pairs / 282)  # The loss is a mean over pairs: with fewer of them it is sharper.
        found = {
            "optimizer": "gd",
            "lr": descent_rate(slowed, s.few_modulus, s.few_width),
            "steps": round(s.clock_steps / slowed),
        }
        return found | {"examples": pairs, "evaluations": 60, "snapshots": 15}

    return few(s, pairs={pairs: settings(pairs) for pairs in s.clock_pairs})


def turned(s: Sizes) -> Runs:
    """Networks that have just memorized, and what they become after their phases are turned."""
    common = {"task": "n + m", "modulus": s.turned_modulus, "width": s.turned_width, "optimizer": "gd", "snapshots": 2}
    common |= {"lr": descent_rate(2, s.turned_modulus, s.turned_width)}
    memorized = runs(
        common, fraction=list(s.turned_fractions), seed=range(s.turned_seeds), steps=s.turned_at, evaluations=20
    )
    found = memorized.tag(part="memorized")
    for _, settings in memorized.rows:
        start = f"{Experiment(**settings).id}@{s.turned_at}"
        ways = {way: {"parent": start + (f":{way}" if way != UNCHANGED else "")} for way in WAYS}
        after = {"steps": s.turned_steps, "evaluations": 400, "until": 0}
        found += runs(settings | after, way=ways).tag(part="turned")
    return found


def kinds(s: Sizes, names: Sequence[str]) -> Runs:
    """Networks on the way to memorization: the sum, the product, and other architectures."""
    common = {"modulus": s.few_modulus, "fraction": 0.3, "evaluations": 60, "snapshots": 16, "weight_decay": 0.0}
    adam = common | {"task": "n + m", "width": s.few_width, "optimizer": "adam", "lr": 0.1, "steps": s.kinds_steps}
    transformer = common | {"task": "n + m", "network": "transformer", "optimizer": "adamw", "weight_decay": 1.0}
    every = {
        "n + m": adam,
        RENAMED: adam | {"task": RENAMED},
        RANDOM: adam | {"wrong_labels": 1 - 1 / s.few_modulus},
        "n·m": adam | {"task": "n*m"},
        "ReLU": adam | {"activation": "relu"},
        "transformer": transformer | {"steps": 4 * s.kinds_steps},
    }
    return runs({}, kind={kind: every[kind] for kind in names}, seed=range(s.kinds_seeds))


def all_parts(s: Sizes) -> Runs:
    right_and_random = {"right": {}, RANDOM: {"wrong_labels": 1 - 1 / s.few_modulus}}
    parts = {
        "pairs": few(s, labels=right_and_random, examples=list(s.few_pairs)),
        "width": few(s, width=list(s.line_widths), examples=list(s.line_pairs)),
        "p": few(s, modulus=list(s.line_moduli), examples=list(s.line_pairs)),
        "step": few(s, examples=max(s.few_pairs)).but(evaluations=10, snapshots=11),
        "clock": clocks(s),
        "kinds": kinds(s, s.kinds),
    }
    return sum((some.tag(part=part) for part, some in parts.items()), Runs([])) + turned(s)


def reference(s: Sizes) -> list[dict[str, Any]]:
    """Accuracy of the closed form by its width, with random frequencies and phases."""
    return [
        {"part": "reference", "modulus": p, "n": int(n), "accuracy": np.mean(found), "labels": "right"}
        for p in (s.few_modulus, *s.line_moduli)
        for n in np.unique(np.geomspace(1, 4 * p, 20).round())
        for found in [
            [score_table(random_waves(p, int(n), seed), task("n + m", p).table).accuracy for seed in range(3)]
        ]
    ]


def aligned(network: Network, run: Run) -> list[dict[str, Any]]:
    """Coherence and worth of a network's waves, at the strongest frequency of every neuron and at a random one."""
    drawn = np.random.default_rng(run.experiment.seed).integers(1, (network.modulus + 1) // 2, network.width)
    found = {"strongest": waves_alone(network), "drawn": waves_alone(network, frequency=drawn)}
    return [
        {"frequency": name, "coherence": one.coherence, "effective_width": one.effective_width}
        | {"waves": score_table(one.network, run.task.table).accuracy}
        for name, one in found.items()
    ]


def at_the_end(run: Run) -> list[dict[str, Any]]:
    return aligned(run.network, run)


def on_the_way(run: Run) -> list[dict[str, Any]]:
    return [{"step": step} | row for step in run.snapshots for row in aligned(run.snapshot(step), run)]


def clock(run: Run) -> dict[str, Any]:
    """Coherence on the way, what the early flow on all pairs predicts, and when half of the loss is gone."""
    steps, history = np.array(run.snapshots, float), run.history
    loss = history["train_loss"] / history["train_loss"][0]
    at = np.searchsorted(history["step"], steps)
    lr: Any = run.experiment.lr
    gone = loss <= 0.5
    return {
        "time": steps * lr,
        "flow": early_flow(run.snapshot(0), lr, steps).coherence,
        "measured": [waves_alone(run.snapshot(step)).coherence for step in run.snapshots],
        "applies": loss[at] >= SMALL,
        "best_accuracy": max(history["test_accuracy"][at][loss[at] >= SMALL]),
        "memory_time": history["step"][gone][0] * lr if gone.any() else None,
    }


def coherent(run: Run) -> dict[str, float]:
    return {"coherence": waves_alone(run.network).coherence}


def scored(run: Run) -> dict[str, Any]:
    """The rule's score at every snapshot, on pairs of which neither order was trained."""
    p, history = run.task.modulus, run.history
    trained = run.experiment.split.examples_of(run.task).trained.reshape(p, p)
    table, at = np.asarray(run.task.table).reshape(p, p), np.searchsorted(history["step"], run.snapshots)
    scores = [rule_score(run.snapshot(step), table, ~(trained | trained.T)) for step in run.snapshots]
    curves = {name: history[name][at] for name in ("train_accuracy", "test_accuracy")}
    return {"step": run.snapshots, "score": scores} | curves


alignment = study(
    "alignment",
    "Phases align when nothing is known",
    "(a) Coherence of φ1 + φ2 − φ3 in networks that know a few pairs by heart and answer no other: with right labels, "
    "with random ones, and at a random frequency of every neuron instead of its strongest. (b) What the waves alone "
    "answer, against the number of neurons that they are worth; the line is the closed form of that width. (c) "
    "Gradient descent on few and on many pairs has one clock, that of the early flow (dashed), until half of its loss "
    "is gone (crosses). (d) Steps to 99 % of the test set after memorization, with the gaps of the strongest frequency "
    "or of all frequencies set to zero, kept while the phases are turned, or made random; a cross where most never do.",
    runs=all_parts,
    keep={
        "pairs": ("train_accuracy", "test_accuracy", at_the_end),
        "width": at_the_end,
        "p": at_the_end,
        "step": on_the_way,
        "clock": clock,
        "kinds": scored,
        "memorized": ("train_accuracy", "test_accuracy", coherent),
        "turned": "grokked_at",
    },
    rows=reference,
)


def worth(t: Table) -> Table:
    """The networks of waves with right labels from `INDEPENDENT` pairs on, each with what the closed form of its
    effective width answers, and of N times coherence²."""
    curves = {
        p: cell.of("accuracy", Column.average, "n") for p, cell in t.where(part="reference").by("modulus").items()
    }

    def answered(p: int, n: float) -> float:
        return float(np.interp(np.log(max(n, 1)), np.log([*curves[p]]), curves[p].y))

    rows = t.where(lambda r: r.labels != RANDOM, f"examples >= {INDEPENDENT}", part=["pairs", "width", "p", "step"])
    return Table(
        vars(row)
        | {"predicted": answered(row.modulus, row.effective_width)}
        | {"by_coherence": answered(row.modulus, row.width * row.coherence**2)}
        for row in rows
    )


def distance(found: Table, column: str) -> float:
    return float(np.sqrt(np.mean(np.square(np.subtract(found[column], found["waves"])))))


@alignment.figure(
    "few pairs align phases",
    "what the waves are worth",
    "one clock, stopped by memory",
    "phases turned at memorization",
    rows=2,
    height=5.4,
)
def before_knowledge(t: Table, few_pairs: Any, collapse: Any, flow: Any, cause: Any) -> str:
    pairs = t.where(part="pairs")
    lines = {
        "right labels": ("right", "strongest"),
        RANDOM: (RANDOM, "strongest"),
        "random frequency": ("right", "drawn"),
    }
    for (label, (labels, frequency)), color, marker in zip(lines.items(), (BLUE, GRAY, ORANGE), MARKERS, strict=False):
        line = pairs.where(labels=labels, frequency=frequency).of("coherence", Column.average, "examples")
        few_pairs.plot([*line], line.y, color=color, marker=marker, label=label)
    answered = pairs.where(labels="right", frequency="strongest").of("waves", Column.average, "examples")
    few_pairs.plot([*answered], answered.y, color=BLUE, ls=":", label="waves alone: accuracy")
    few_pairs.set(xscale="log", xlabel="training pairs", ylabel="coherence", ylim=(0, 1.03))
    few_pairs.legend(fontsize=6)
    found = worth(t)
    for (p, some), color in zip(found.by("modulus").items(), SERIES, strict=False):
        for (frequency, cell), fill in zip(some.by("frequency").items(), ("full", "none"), strict=True):
            look: Any = {"ls": "", "marker": "o", "ms": 3, "color": color, "fillstyle": fill, "mew": 0.7}
            look |= {"label": f"p = {p}"} if frequency == "strongest" else {}
            collapse.plot(cell["effective_width"], cell["waves"], **look)
        curve = t.where(part="reference", modulus=p).of("accuracy", Column.average, "n")
        collapse.plot([*curve], curve.y, color=color, lw=0.8)
    collapse.plot([], [], ls="", marker="o", ms=3, color=GRAY, fillstyle="none", label="random frequency")
    collapse.set(xscale="log", xlabel="effective width", ylabel="accuracy of waves alone", xlim=(1, 500))
    collapse.legend(fontsize=6)
    for (pairs_seen, cell), color in zip(t.where(part="clock").by("pairs").items(), SERIES, strict=False):
        flow.plot(
            cell.first.time,
            np.mean(cell["measured"], axis=0),
            color=color,
            marker="o",
            ms=2,
            label=f"{pairs_seen} pairs",
        )
        stops = cell["memory_time"].known()
        if stops:
            height = np.interp(np.mean(stops), cell.first.time, np.mean(cell["measured"], axis=0))
            flow.plot(np.mean(stops), height, "x", color="black", ms=6)
    last = t.where(part="clock")
    flow.plot(last.first.time, np.mean(last["flow"], axis=0), "k--", lw=1, label="early flow")
    flow.set(xscale="log", xlabel="rate × steps", ylabel="coherence", ylim=(0, 1.03))
    flow.legend(fontsize=6)
    _causes(cause, t.where(part="turned"))
    shown = f"n + m; a, c: p = {t.where(part='pairs').one('modulus')}; d: p = {t.where(part='turned').one('modulus')}"
    return shown + "; means over seeds, in d medians and ranges"


def _causes(panel: Any, t: Table) -> None:
    for i, ((fraction, cell), color) in enumerate(
        zip(t.by("fraction").items(), (VERMILLION, BLUE, GREEN, PURPLE), strict=False)
    ):
        for j, way in enumerate(WAYS):
            times = cell.where(way=way)["grokked_at"]
            place, middle = j + 0.2 * (i - 1), times.median()
            if middle is None:
                panel.plot(place, 0.97, "x", color=color, ms=4, transform=panel.get_xaxis_transform())
            else:
                panel.plot(place, middle, marker=MARKERS[i], color=color, ls="", ms=4)
                panel.vlines(place, min(times.known()), max(times.known()), color=color, lw=1)
        panel.plot([], [], marker=MARKERS[i], color=color, ls="", ms=4, label=f"α = {fraction}")
    panel.set(yscale="log", ylabel="steps to 99 % of the test set")
    panel.set_xticks(range(len(WAYS)), [way.replace("-strongest", "") for way in WAYS], fontsize=6, rotation=25)
    for place, text in ((2, "strongest frequency"), (5, "all frequencies")):
        panel.text(place, 0.02, text, fontsize=6, color=GRAY, ha="center", transform=panel.get_xaxis_transform())
    for place in (0.5, 3.5):
        panel.axvline(place, color=GRAY, lw=0.4)
    panel.legend(fontsize=6)


@alignment.claim("alignment")
def few_pairs_align(t: Table, ask: Ask) -> None:
    """A few right examples align the phases of all neurons while no other pair is answered; wrong labels do not."""
    pairs = t.where(part="pairs")
    most = pairs.where(examples=max(pairs["examples"]))
    right, random = (most.where(labels=labels, frequency="strongest") for labels in ("right", RANDOM))
    drawn = most.where(labels="right", frequency="drawn")
    ask.budget(pairs, "effect", modulus=97, width=500)
    ask.that("the largest number of pairs is known, train accuracy at least 99 %", min(right["train_accuracy"]) >= 0.99)
    ask.that("no more than 5 % of the other pairs are answered", max(right["test_accuracy"]) <= 0.05)
    ask.that("coherence is at least 0.4", min(right["coherence"]) >= 0.4)
    ask.that("with random labels it is at most 0.15", max(random["coherence"]) <= 0.15)
    ask.that(
        "at a random frequency of every neuron it is at most half: selection supplies the rest",
        drawn["coherence"].average() <= 0.5 * right["coherence"].average(),
    )
    for n, cell in pairs.where(labels="right").by("examples").items():
        strongest = cell.where(frequency="strongest")
        ask.show({f"coherence, {n} pairs": strongest["coherence"]})
        ask.show({f"coherence at a random frequency, {n} pairs": cell.where(frequency="drawn")["coherence"]})
        ask.show({f"waves alone answer, {n} pairs": strongest["waves"]}, percent)
    ask.show({"coherence with random labels": random["coherence"]})
    ask.yes("A few right examples align the phases of all neurons, before any other pair is answered.")


@alignment.claim("alignment")
def worth_in_neurons(t: Table, ask: Ask) -> None:
    """Waves alone answer as the closed form of N_eff neurons does, with nothing fitted."""
    found = worth(t)
    scales = np.geomspace(0.25, 4, 161)
    curves = {
        p: cell.of("accuracy", Column.average, "n") for p, cell in t.where(part="reference").by("modulus").items()
    }
    tried = [
        [
            np.interp(np.log(max(k * r.width * r.coherence**2, 1)), np.log([*curves[r.modulus]]), curves[r.modulus].y)
            for r in found
        ]
        for k in scales
    ]
    fits = [float(np.sqrt(np.mean(np.square(np.subtract(one, found["waves"]))))) for one in tried]
    rms, best = distance(found, "predicted"), int(np.argmin(fits))
    spread = max(found["waves"]) - min(found["waves"])
    ask.possible("accuracies range over at least 0.8", spread >= 0.8)
    ask.that("the root mean square distance in accuracy is at most 0.08", rms <= 0.08, rms)
    ask.that("N times coherence², with a factor fitted, is farther off", fits[best] > rms, fits[best])
    ask.show({"networks": str(len(found)), "fitted factor": float(scales[best])})
    for frequency, cell in found.by("frequency").items():
        ask.show({f"distance, {frequency} frequency": distance(cell, "predicted")})
    ask.yes("What the waves of a memorizer answer is what the closed form of as many neurons answers.")


@alignment.claim("alignment")
def one_clock(t: Table, ask: Ask) -> None:
    """Phases align by one clock, whatever the number of pairs, until memorization stops it, later for more pairs."""
    clocks = t.where(part="clock")
    apart = clocks.each(
        lambda r: max((abs(m - f) for m, f, a in zip(r.measured, r.flow, r.applies, strict=True) if a), default=0.0)
    )
    reached = max(max(f for f, a in zip(r.flow, r.applies, strict=True) if a) for r in clocks)
    stops = {n: cell["memory_time"].median() for n, cell in clocks.by("pairs").items()}
    known = {n: time for n, time in stops.items() if time is not None}
    ask.possible("the early flow reaches a coherence of 0.25 where it applies", reached >= 0.25, reached)
    ask.that("coherence is within 0.1 of the early flow wherever at least 95 % of the loss is left", max(apart) <= 0.1)
    ask.that("no more than 5 % of the test set is answered until then", max(clocks["best_accuracy"]) <= 0.05)
    ask.possible("half of the loss is gone with three numbers of pairs", len(known) >= 3)
    slope = float(np.polyfit(np.log([*known]), np.log([*known.values()]), 1)[0])
    ask.that(
        "the time to lose half of it grows as the number of pairs, exponent 0.85 to 1.15", 0.85 <= slope <= 1.15, slope
    )
    for n, cell in clocks.by("pairs").items():
        ask.show(
            {
                f"largest distance from the flow, {n} pairs": max(
                    a for a, r in zip(apart, clocks, strict=True) if r.pairs == n
                )
            }
        )
        ask.show({f"coherence in the end, {n} pairs": cell.each(lambda r: r.measured[-1])})
    ask.yes("One clock for all numbers of pairs; memorization stops it after a time in proportion to that number.")


def ratios(t: Table, way: str, to: str, fraction: float) -> list[float]:
    """Times to grok after one way of turning in units of those after another, network by network; a run that does not
    grok has taken all its steps."""
    cell = t.where(part="turned", fraction=fraction)
    times = {(r.way, r.seed): r.grokked_at or r.steps for r in cell}
    return [times[way, seed] / times[to, seed] for seed in cell["seed"].distinct()]


def memorizers(t: Table, ask: Ask) -> list[float]:
    """The fractions at which all networks had memorized and not grokked when their phases were turned."""
    cells = t.where(part="memorized").by("fraction")
    found = [
        a for a, cell in cells.items() if min(cell["train_accuracy"]) >= 0.99 and max(cell["test_accuracy"]) <= 0.05
    ]
    ask.possible(
        "all networks know 99 % of the training set and at most 5 % of the test set when they are turned", found
    )
    ask.show({f"coherence at memorization, α = {a}": cell["coherence"] for a, cell in cells.items()})
    return found


def compare(t: Table, ask: Ask, fractions: list[float], *pairs: tuple[str, str]) -> None:
    for a in fractions:
        for way, to in pairs:
            ask.show({f"time to grok, {way} / {to}, α = {a}": ratios(t, way, to, a)})


@alignment.claim("alignment")
def alignment_is_used(t: Table, ask: Ask) -> None:
    """Grokking uses the alignment: without it, all else alike, it comes later."""
    found = memorizers(t, ask)
    ask.budget(t.where(part="turned"), "effect", seeds=5)
    for way, factor in (("-strongest", 1.2), ("", 1.15)):
        every = [r for a in found for r in ratios(t, f"random{way}", f"kept{way}", a)]
        kind = "the strongest frequency" if way else "all frequencies"
        ask.that(
            f"random gaps of {kind} take at least {factor} times as long as kept ones, in the median at every α",
            all(np.median(ratios(t, f"random{way}", f"kept{way}", a)) >= factor for a in found),
        )
        ask.that(f"and longer in nine of ten networks ({kind})", np.mean(np.array(every) > 1) >= 0.9)
    compare(t, ask, found, ("random-strongest", "kept-strongest"), ("random-strongest", UNCHANGED), ("random", "kept"))
    ask.yes("Random gaps delay grokking; phases turned as far with their gaps kept do so less.")


@alignment.claim("alignment")
def perfection_is_not_needed(t: Table, ask: Ask) -> None:
    """Setting the gaps to zero gains next to nothing: the phases are aligned already."""
    found = memorizers(t, ask)
    ask.budget(t.where(part="turned"), "effect", seeds=5)
    ask.that(
        "zero gaps of the strongest frequency change the time by at most 15 %, in the median at every α",
        all(abs(np.median(ratios(t, "zero-strongest", UNCHANGED, a)) - 1) <= 0.15 for a in found),
    )
    compare(t, ask, found, ("zero-strongest", UNCHANGED), ("zero", UNCHANGED))
    ask.yes("Perfect phases at memorization gain next to nothing.")


@alignment.claim("alignment")
def memory_delays(t: Table, ask: Ask) -> None:
    """Memory delays grokking: phases turned with all gaps kept erase what was memorized, and grokking comes sooner."""
    found = memorizers(t, ask)
    ask.budget(t.where(part="turned"), "effect", seeds=5)
    every = [r for a in found for r in ratios(t, "kept", UNCHANGED, a)]
    ask.that(
        "after all phases are turned with their gaps kept it takes at most 0.75 of the time, in the median at every α",
        all(np.median(ratios(t, "kept", UNCHANGED, a)) <= 0.75 for a in found),
    )
    ask.that("and less in nine of ten networks", np.mean(np.array(every) < 1) >= 0.9)
    compare(t, ask, found, ("kept", UNCHANGED), ("random", UNCHANGED))
    ask.yes("A network that forgets its training set and keeps its gaps groks sooner than one that remembers.")


def at_memorization(t: Table, kind: str) -> list[tuple[float, float]]:
    """Score and test accuracy at the first snapshot with 99 % of the training set, of every network that gets there."""
    found = []
    for row in t.where(part="kinds", kind=kind):
        there = [i for i, a in enumerate(row.train_accuracy) if a >= 0.99]
        found += [(row.score[there[0]], row.test_accuracy[there[0]])] if there else []
    return found


def judge_kinds(t: Table, ask: Ask, names: tuple[str, ...]) -> None:
    shown = t.where(part="kinds")["kind"].distinct()
    have = {kind: found for kind in shown if (found := at_memorization(t, kind))}
    ask.possible(f"{' and '.join(names)} and {RANDOM} are memorized", {*names, RANDOM} <= {*have})
    ask.budget(t.where(part="kinds", kind=list(names)), "effect", modulus=97)
    for name in names:
        ask.that(
            f"{name}: the rule stands out by at least {SIGMA:g} standard deviations at memorization, in every network",
            min(score for score, _ in have[name]) >= SIGMA,
        )
        ask.that(f"{name}: at most 5 % of the test set is answered then", max(right for _, right in have[name]) <= 0.05)
    ask.that(f"with random labels it does not stand out by {SIGMA:g}", max(abs(s) for s, _ in have[RANDOM]) < SIGMA)
    for kind, found in have.items():
        ask.show({f"standard deviations at memorization, {kind}": [score for score, _ in found]})
        ask.show({f"test accuracy there, {kind}": [right for _, right in found]}, percent)
        ignorant = [
            max((score for score, right in zip(r.score, r.test_accuracy, strict=True) if right <= 0.05), key=abs)
            for r in t.where(part="kinds", kind=kind)
        ]
        label = f"after the fact: largest at any snapshot with at most 5 % of the test set, {kind}"
        ask.show({label: ignorant})


@alignment.claim("alignment")
def seen_without_coordinates(t: Table, ask: Ask) -> None:
    """The rule stands out in the outputs of a memorizer without any coordinate, whatever the inputs are called."""
    judge_kinds(t, ask, ("n + m", "n·m"))
    ask.yes("Outputs at the right answers of unseen pairs stand out at memorization, for sums and for products.")


@alignment.claim("alignment")
def other_networks(t: Table, ask: Ask) -> None:
    """So it does in networks of ReLU and in the transformer."""
    judge_kinds(t, ask, ("ReLU", "transformer"))
    ask.yes("The rule stands out at memorization in networks of ReLU and in the transformer too.")


renamed = study(
    "renamed",
    "Alignment under other names",
    runs=lambda s: kinds(s, (RENAMED, RANDOM)).tag(part="kinds"),
    keep=(scored, coherent),
)


@renamed.claim("alignment")
def names_do_not_matter(t: Table, ask: Ask) -> None:
    """Arguments and answers may have any names: the rule stands out without a coordinate in which it is a sum."""
    judge_kinds(t, ask, (RENAMED,))
    raw = t.where(kind=RENAMED)["coherence"]
    ask.that("while waves of the raw names have a coherence of at most 0.15", max(raw) <= 0.15, raw)
    ask.yes("The rule stands out at memorization under names in which there are no waves.")
