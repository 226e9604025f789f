r"""Finding 2: phases align when nothing is known (docs/findings/alignment.md).

Every right example pushes φ1 + φ2 − φ3 of every frequency toward zero, in all neurons alike, while what it takes to
memorize differs from neuron to neuron. The clock of that push (`early_flow`) does not depend on the number of pairs;
memorization stops it, at a time in proportion to that number. What the alignment is worth is a number of neurons
(`effective_width`); what it is good for, turning the phases at memorization tells (`turn_phases`).
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import early_flow
from modgrok.measures.cleaning import turn_phases
from modgrok.measures.effective_width import random_waves, rule_score, waves_alone
from modgrok.networks import predictions, score_table
from modgrok.palette import BLUE, GRAY, GREEN, MARKERS, ORANGE, PURPLE, SERIES, VERMILLION
from modgrok.reproduce.findings.sizes import descent_rate
from modgrok.reproduce.form import Column, Line, Runs, Settings, Sizes, Table, joined, runs, study
from modgrok.tasks import task

RANDOM = "random labels"
UNCHANGED = "unchanged"
WAYS = (UNCHANGED, "zero-strongest", "kept-strongest", "random-strongest", "zero", "kept", "random")
"""What becomes of the gaps at memorization, of the strongest frequency of every neuron or of all frequencies."""
SMALL = 0.95
"""Share of the initial training loss down to which outputs are small beside the answers."""
INDEPENDENT = 9
"""Pairs from which on the waves of different neurons are independent enough for `effective_width`."""
FRESH = 10
"""The first of the seeds that no other study has."""
RENAMED = "(n^5 + m^5)^5"
"""n + m with other names for the arguments and for the answers, where 5 does not divide p − 1."""


def few(s: Sizes, **more: Any) -> Runs:
    """Networks trained on very few pairs by Adam until they know them."""
    common = {"task": "n + m", "modulus": s.few_modulus, "width": s.few_width, "optimizer": "adam", "lr": 0.1}
    common |= {"weight_decay": 0.0, "steps": s.few_steps, "evaluations": 1, "snapshots": 2}
    return runs(common, **more, seed=range(s.few_seeds))


def clocks(s: Sizes) -> Runs:
    """Gradient descent on few and on many pairs, for the same time, rate times steps."""

    def settings(pairs: int) -> Settings:
        slowed = min(1, pairs / 282)  # The loss is a mean over pairs: with fewer of them it is sharper.
        rate = descent_rate(slowed, s.few_modulus, s.few_width)
        return {"examples": pairs, "lr": rate, "steps": round(s.clock_steps / slowed)}

    every = {pairs: settings(pairs) for pairs in s.clock_pairs}
    return few(s, optimizer="gd", evaluations=60, snapshots=15, pairs=every)


def memorizing(s: Sizes, seeds: range) -> Runs:
    """Gradient descent until the training set is known."""
    common = {"task": "n + m", "modulus": s.turned_modulus, "width": s.turned_width, "optimizer": "gd", "snapshots": 2}
    common |= {"lr": descent_rate(2, s.turned_modulus, s.turned_width), "evaluations": 20}
    return runs(common, fraction=list(s.turned_fractions), seed=seeds, steps=s.turned_at)


def turned(s: Sizes) -> Runs:
    """Networks that have just memorized, and what they become after their phases are turned."""
    memorized = memorizing(s, range(s.turned_seeds))
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
        "step": few(s, examples=max(s.few_pairs), evaluations=10, snapshots=11),
        "clock": clocks(s),
        "kinds": kinds(s, s.kinds),
    }
    return joined(some.tag(part=part) for part, some in parts.items()) + turned(s)


def reference(s: Sizes) -> Iterator[dict[str, Any]]:
    """Accuracy of the closed form by its width, with random frequencies and phases."""
    for p in (s.few_modulus, *s.line_moduli):
        table = task("n + m", p).table
        for n in np.unique(np.geomspace(1, 4 * p, 20).round().astype(int)).tolist():
            found = [score_table(random_waves(p, n, seed), table).accuracy for seed in range(3)]
            yield {"part": "reference", "modulus": p, "n": n, "accuracy": np.mean(found), "labels": "right"}


def aligned(run: Run, step: int | None = None) -> list[dict[str, Any]]:
    """Coherence and worth of a network's waves, at the strongest frequency of every neuron and at a random one, at a
    snapshot or at the end."""
    network = run.network if step is None else run.snapshot(step)
    drawn = np.random.default_rng(run.experiment.seed).integers(1, (network.modulus + 1) // 2, network.width)
    found = {"strongest": waves_alone(network), "drawn": waves_alone(network, frequency=drawn)}
    return [
        {"frequency": name, "coherence": one.coherence, "effective_width": one.effective_width}
        | {"waves": score_table(one.network, run.task.table).accuracy}
        for name, one in found.items()
    ]


def on_the_way(run: Run) -> list[dict[str, Any]]:
    return [{"step": step} | row for step in run.snapshots for row in aligned(run, step)]


def clock(run: Run) -> dict[str, Any]:
    """Coherence on the way, what the early flow on all pairs predicts, and when half of the loss is gone."""
    steps, history = np.array(run.snapshots, float), run.history
    loss = history["train_loss"] / history["train_loss"][0]
    at = np.searchsorted(history["step"], steps)
    lr: Any = run.experiment.lr
    applies, gone = loss[at] >= SMALL, loss <= 0.5
    return {
        "time": steps * lr,
        "flow": early_flow(run.snapshot(0), lr, steps).coherence,
        "measured": [waves_alone(run.snapshot(step)).coherence for step in run.snapshots],
        "applies": applies,
        "best_accuracy": max(history["test_accuracy"][at][applies]),
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
        "pairs": ("train_accuracy", "test_accuracy", aligned),
        "width": aligned,
        "p": aligned,
        "step": on_the_way,
        "clock": clock,
        "kinds": scored,
        "memorized": ("train_accuracy", "test_accuracy", coherent),
        "turned": "grokked_at",
    },
    rows=reference,
)


def left_over(run: Run) -> list[dict[str, Any]]:
    """Accuracy on training and test set right after the phases are turned."""
    trained = run.experiment.split.examples_of(run.task).trained
    table, seed, found = np.ravel(run.task.table), run.experiment.seed, []
    for way in WAYS:
        network = run.network if way == UNCHANGED else turn_phases(run.network, way, run.task, seed)
        right = np.ravel(predictions(network)) == table
        found.append({"way": way, "train": right[trained].mean(), "test": right[~trained].mean()})
    return found


erased = study(
    "erased",
    "What is left when a memorizer forgets",
    runs=lambda s: memorizing(s, range(FRESH, FRESH + s.erased_seeds)),
    keep=left_over,
)
renamed = study(
    "renamed",
    "Alignment under other names",
    runs=lambda s: kinds(s, (RENAMED, RANDOM)).tag(part="kinds"),
    keep=(scored, coherent),
)


def forms(t: Table) -> dict[int, Line]:
    """By modulus: the accuracy of the closed form against its width."""
    cells = t.where(part="reference").by("modulus")
    return {p: cell.of("accuracy", Column.average, "n") for p, cell in cells.items()}


def worth(t: Table) -> Table:
    """The networks of waves with right labels from `INDEPENDENT` pairs on."""
    return t.where(lambda r: r.labels != RANDOM, f"examples >= {INDEPENDENT}", part=["pairs", "width", "p", "step"])


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
    found, curves = worth(t), forms(t)
    for (p, some), color in zip(found.by("modulus").items(), SERIES, strict=False):
        for (frequency, cell), fill in zip(some.by("frequency").items(), ("full", "none"), strict=True):
            look: Any = {"ls": "", "marker": "o", "ms": 3, "color": color, "fillstyle": fill, "mew": 0.7}
            look |= {"label": f"p = {p}"} if frequency == "strongest" else {}
            collapse.plot(cell["effective_width"], cell["waves"], **look)
        collapse.plot([*curves[p]], curves[p].y, color=color, lw=0.8)
    collapse.plot([], [], ls="", marker="o", ms=3, color=GRAY, fillstyle="none", label="random frequency")
    collapse.set(xscale="log", xlabel="effective width", ylabel="accuracy of waves alone", xlim=(1, 500))
    collapse.legend(fontsize=6)
    clocks, turns = t.where(part="clock"), t.where(part="turned")
    for (pairs_seen, cell), color in zip(clocks.by("pairs").items(), SERIES, strict=False):
        time, coherence = cell.first.time, np.mean(cell["measured"], axis=0)
        flow.plot(time, coherence, color=color, marker="o", ms=2, label=f"{pairs_seen} pairs")
        if stops := cell["memory_time"].known():
            stop = np.mean(stops)
            flow.plot(stop, np.interp(stop, time, coherence), "x", color="black", ms=6)
    flow.plot(clocks.first.time, np.mean(clocks["flow"], axis=0), "k--", lw=1, label="early flow")
    flow.set(xscale="log", xlabel="rate × steps", ylabel="coherence", ylim=(0, 1.03))
    flow.legend(fontsize=6)
    _causes(cause, turns)
    moduli = f"a, c: p = {pairs.one('modulus')}; d: p = {turns.one('modulus')}"
    return f"n + m; {moduli}; means over seeds, in d medians and ranges"


def _causes(panel: Any, t: Table) -> None:
    colors = VERMILLION, BLUE, GREEN, PURPLE
    for i, ((fraction, cell), color) in enumerate(zip(t.by("fraction").items(), colors, strict=False)):
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
