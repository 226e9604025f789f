r"""What a memorizer already holds: waves out of phase by less than chance, long before any test pair is answered.

Every right example pushes $\varphi_1 + \varphi_2 - \varphi_3$ of every frequency toward zero, coherently in all
neurons, while what it takes to memorize is incoherent (`modgrok.measures.early_flow`). Replacing neurons by their best
waves keeps the coherent part and supplies the rest itself: that a block is a wave, and that the three blocks of a
neuron share its frequency. What is left for the network to know is the signs and the offset in ±n ± m + c.
"""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import early_flow, neuron_waves, own_waves, shuffle_phases, waves_only
from modgrok.networks import score_table
from modgrok.palette import BLUE, GRAY, GREEN, MARKERS, ORANGE, PURPLE, VERMILLION
from modgrok.reproduce.figures import panels
from modgrok.reproduce.form import BEYOND, Ask, Column, Runs, Sizes, Table, joined, runs, study
from modgrok.reproduce.gromov2023.sizes import USUAL_DECAY, natural_rate
from modgrok.tasks import task
from modgrok.text import number, percent

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Of the table, to memorize: 9, 28, 94, 282 and 941 pairs at p = 97."""
SHARE = 0.03
SMALL = 0.9
"""Share of the initial training loss down to which outputs are small beside the answers, as the early flow has it."""
UNSTRUCTURED = "n^2 + m^2 + n*m"
FUNCTIONS = ("n - m", "2*n + 3*m", "n^2 + m^2", "n*m", UNSTRUCTURED)
SIGNS = ("n + m", "n + m + 7", "n - m", "m - n")
"""Functions that differ in signs and an offset only."""
RANDOM = "random labels"
RATE = 0.1
"""Of Adam."""
WAYS = {"as it is": GRAY, "waves": BLUE, "own waves": VERMILLION, "waves, readouts shuffled": GREEN}
VARIED = {"width": "width", "p": "modulus", "optimizer": "optimizer", "function": "task"}
"""What else is varied, and the setting."""


def memorizing(s: Sizes, *shares: float, **more: Any) -> Runs:
    """Networks that are trained on few pairs until they know them, under Adam unless another optimizer is named."""
    p = more.get("modulus", s.modulus)
    few = {share: {"examples": max(2, round(share * p * p))} for share in shares or (SHARE,)}
    settings = {"task": "n + m", "modulus": p, "width": s.width, "optimizer": "adam", "lr": RATE}
    settings |= {"weight_decay": 0.0, "steps": s.memorizer_steps, "evaluations": 1, "snapshots": 2}
    return runs(settings, **more, share=few, seed=range(s.memorizer_seeds))


def descended(s: Sizes, *shares: float) -> Runs:
    """The same under plain gradient descent, with snapshots on the way."""
    rate = natural_rate(1e6, s.modulus, s.width)
    return memorizing(s, *shares, optimizer="gd", lr=rate, steps=s.flow_steps, evaluations=10, snapshots=11)


def all_parts(s: Sizes) -> Runs:
    parts = {
        "pairs": memorizing(s, *SHARES),
        "steps": memorizing(s, evaluations=10, snapshots=11),
        "width": memorizing(s, width=[*s.memorizer_widths]),
        "p": joined(memorizing(s, modulus=p) for p in s.memorizer_moduli),
        "optimizer": descended(s) + memorizing(s, optimizer="adamw", weight_decay=USUAL_DECAY),
        "function": memorizing(s, task=[*FUNCTIONS]),
        "signs": memorizing(s, task=[*SIGNS]),
        RANDOM: memorizing(s, wrong_labels=1 - 1 / s.modulus),
        "flow": descended(s, SHARE, 0.5),
    }
    return joined(some.tag(part=part) for part, some in parts.items())


def held(run: Run, step: int | None = None) -> dict[str, Any]:
    """What one network holds, at a snapshot or at the end: accuracy on the whole table of what is left after each
    projection, and the coherence of the phases."""
    history = run.history
    network = run.network if step is None else run.snapshot(step)
    at = -1 if step is None else int(np.searchsorted(history["step"], step))
    coordinate = run.task.structure.coordinate
    waves = waves_only(network, coordinate)
    # A random label is right nowhere; what is asked is whether the rule is in the waves all the same.
    shuffled = shuffle_phases(waves, coordinate, readout=False)
    left = zip(WAYS, (network, waves, own_waves(network, coordinate), shuffled), strict=True)
    found = {way: score_table(one, run.task.table).accuracy for way, one in left}
    found |= {name: history[name][at] for name in ("train_accuracy", "test_accuracy", "ipr")}
    return found | {"coherence": neuron_waves(network, coordinate).coherence}


def on_the_way(run: Run) -> list[dict[str, Any]]:
    return [{"step": step} | held(run, step) for step in run.snapshots]


def asked_for_others(run: Run) -> dict[str, Any]:
    """How often the waves of a network that learned one function, fitted in the raw index, answer each of several."""
    waves, p = waves_only(run.network), run.task.modulus
    return {"answered": [score_table(waves, task(text, p).table).accuracy for text in SIGNS]}


def flow(run: Run) -> dict[str, Any]:
    """Coherence on the way under gradient descent, and what the early flow from the same weights predicts."""
    steps = np.array(run.snapshots, dtype=float)
    at = np.searchsorted(run.history["step"], steps)
    loss = run.history["train_loss"][at]
    return {
        "step": steps,
        "predicted": early_flow(run.snapshot(0), run.experiment.lr, steps).coherence,  # type: ignore[arg-type]
        "measured": [neuron_waves(run.snapshot(step)).coherence for step in run.snapshots],
        "applies": loss >= SMALL * loss[0],
        "test_accuracy": run.history["test_accuracy"][at],
    }


memorizer = study(
    "memorizer",
    "What a memorizer already holds",
    "Networks that know up to a tenth of the table by heart and answer no other pair. (a) Replace every neuron by its "
    "best wave triple, and the network answers all pairs; with untrained weights or random labels it does not. But the "
    "projection supplies nearly all of that: let every block have the wave that fits it best, with its own frequency, "
    "and little is left; shuffle the readouts among the neurons of a frequency, and nothing is. (c) What the weights "
    "do supply is a sign and an offset: waves answer the function that was trained, and no other. (d) The phases align "
    "because every right example pushes those of all neurons the same way, as the first stage of gradient flow "
    "predicts while outputs are small beside the answers (points: training loss at least 90 % of its start).",
    runs=all_parts,
    keep=dict.fromkeys(("pairs", *VARIED, RANDOM), held)
    | {"steps": on_the_way, "signs": asked_for_others, "flow": flow},
    beyond=True,
)


@memorizer.figure()
def projections(t: Table) -> Any:
    pairs, steps, random = (t.where(part=part) for part in ("pairs", "steps", RANDOM))
    titles = "what is answered after a projection", f"{pairs.where(share=SHARE).one('examples')} pairs, on the way"
    more = "known are a sign and an offset (accuracy)", "phases align; dashed: early flow"
    sizes = f"n + m mod {pairs.one('modulus')}, N = {pairs.one('width')}"
    note = f"{sizes}, Adam with rate {RATE}, no decay; (d): plain GD"
    figure, (by_pairs, by_step, across, align) = panels(*titles, *more, rows=2, height=5.2, note=note)
    for panel, some, x in ((by_pairs, pairs, "examples"), (by_step, steps, "step")):
        for (way, color), marker in zip(WAYS.items(), MARKERS, strict=False):
            line = some.of(way, Column.average, x)
            panel.plot([*line], line.y, color=color, marker=marker, label={"as it is": "nothing"}.get(way, way))
        if panel is by_step:
            line = steps.of("coherence", Column.average, "step")
            panel.plot([*line], line.y, color=PURPLE, linestyle="--", label="coherence of φ1 + φ2 − φ3")
        panel.set(ylim=(-0.03, 1.03), ylabel="accuracy on all pairs")
    look: Any = {"color": "black", "linestyle": ":", "linewidth": 0.9}
    by_pairs.axhline(random["waves"].average(), label="waves, random labels", **look)
    by_pairs.set(xscale="log", xlabel="training pairs")
    by_pairs.legend(loc="center", bbox_to_anchor=(0.62, 0.5), title="neurons replaced by")
    by_step.set_xscale("symlog", linthresh=3)
    by_step.set(xlabel="step", xlim=(0, None))
    by_step.legend(loc="upper left", fontsize=6)
    _squares(across, t.where(part="signs"))
    _align(align, t.where(part="flow"))
    return figure


def _squares(panel: Any, t: Table) -> None:
    values = np.array([np.mean(cell["answered"], axis=0) for cell in t.by("task").values()])
    panel.imshow(values, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        color = "white" if value > 0.5 else "black"
        panel.text(j, i, f"{value:.0%}", ha="center", va="center", fontsize=7, color=color)
    panel.set_xticks(range(len(SIGNS)), SIGNS)
    panel.set_yticks(range(len(SIGNS)), SIGNS)
    panel.set(xlabel="waves are asked for", ylabel="trained on")


def _align(panel: Any, t: Table) -> None:
    steps = t.first.step
    for (share, cell), color in zip(t.by("share").items(), (ORANGE, BLUE), strict=True):
        values, applies = np.mean(cell["measured"], axis=0), np.all(cell["applies"], axis=0).tolist()
        panel.plot(steps, values, color=color, marker="o", markevery=applies, label=f"{share:.0%} of the pairs")
    panel.plot(steps, np.mean(t["predicted"], axis=0), color="black", linestyle="--", label="early flow")
    panel.set(xlabel="step", ylabel="coherence of φ1 + φ2 − φ3", ylim=(0, 1.03))
    panel.legend(loc="upper left", fontsize=6)


@memorizer.claim(BEYOND)
def memorizer_waves(t: Table, ask: Ask) -> None:
    """A network that has only memorized answers every pair once its neurons are replaced by their best waves."""
    pairs, untrained, random = t.where(part="pairs"), t.where(part="steps", step=0), t.where(part=RANDOM)
    found = pairs.where(share=SHARE)
    varied = {kind: t.where(part=kind).by(setting) for kind, setting in VARIED.items()}
    others = {f"{kind} {value}": cell["waves"] for kind, cells in varied.items() for value, cell in cells.items()}
    poor = [name for name, waves in others.items() if UNSTRUCTURED not in name and waves.average() < 0.95]
    memorized = min(found["train_accuracy"]) >= 0.99 and max(found["test_accuracy"]) <= 0.05
    ask.that(f"at α = {SHARE} train accuracy is at least 99 % and test accuracy at most 5 %, in every seed", memorized)
    ask.that("waves of these networks answer at least 95 % of all pairs", min(found["waves"]) >= 0.95)
    without = max(untrained["waves"] + random["waves"])
    ask.that("waves of untrained weights and of random labels answer at most 5 %", without <= 0.05)
    ask.remark(
        f"waves answer 95 % on average at other widths, p, optimizers and functions too, {UNSTRUCTURED} aside", not poor
    )
    cells = pairs.by("share").values()
    ask.show({f"waves, trained on {cell.one('examples')} pairs": cell["waves"] for cell in cells}, percent)
    ask.show({"untrained": untrained["waves"], RANDOM: random["waves"]}, percent)
    for column, name in (("coherence", "coherence of φ1 + φ2 − φ3"), ("ipr", "IPR")):
        both = f"{number(untrained[column].average())}, {number(found[column].average())}"
        ask.show({f"{name}: untrained, 3 % of the pairs": both})
    ask.show(others, percent)


@memorizer.claim(BEYOND)
def memorizer_projection(t: Table, ask: Ask) -> None:
    """That is no evidence of knowledge: the projection supplies everything but a sign and an offset."""
    found = t.where(part="pairs", share=SHARE)
    own, shuffled = found["own waves"], found["waves, readouts shuffled"]
    signs = t.where(part="signs")
    right = signs.each(lambda r: r.answered[SIGNS.index(r.task)])
    wrong = [value for r in signs for text, value in zip(SIGNS, r.answered, strict=True) if text != r.task]
    ask.that(
        f"at α = {SHARE}, with each block replaced by its own best wave, at most 10 % of all pairs are answered",
        max(own) <= 0.1,
    )
    ask.that("with readouts shuffled among the neurons of a frequency at most 20 % are answered", max(shuffled) <= 0.2)
    ask.that("waves of ±n ± m + c answer at least 90 % of the trained function", min(right) >= 0.9)
    ask.that("asked for other signs or another offset, they answer at most 5 %", max(wrong) <= 0.05)
    ask.show({"each block its own wave": own, "readouts shuffled": shuffled}, percent)
    ask.show({"waves asked for the trained function": right}, percent, "network")
    ask.show({"waves asked for another sign or offset": wrong}, percent, "answer")


@memorizer.claim(BEYOND)
def memorizer_alignment(t: Table, ask: Ask) -> None:
    """The phases align because every right example pushes them coherently, as the early flow predicts."""
    followed = t.where(part="flow")
    names = ("predicted", "measured", "applies", "test_accuracy")
    predicted, measured, applies, accuracy = (np.array(followed[name]) for name in names)
    apart = np.abs(measured - predicted)
    early = np.where(applies, apart, 0).max(axis=1)
    reached, known = (float(np.where(applies, values, 0).max()) for values in (predicted, accuracy))
    noise, late = max(t.where(part=RANDOM)["coherence"]), apart.max()
    ask.possible(
        f"the early flow reaches a coherence of 0.2 while it applies (training loss at least {SMALL} of its start)",
        reached >= 0.2,
    )
    near = "coherence is within 0.1 of the early flow's while that applies, in every seed"
    ask.that(near, early.max() <= 0.1, f"{early.max():.2g} off at most")
    ask.that("test accuracy is at most 5 % while the early flow applies", known <= 0.05)
    ask.that("with random labels coherence stays below 0.15", noise < 0.15)
    ask.remark("coherence is as near to the early flow's later on", late <= 0.1, f"{late:.2g} off at most")
    for share in followed["share"].distinct():
        worst = early[[value == share for value in followed["share"]]].max()
        ask.show({f"largest distance from the flow, {percent(share, 0)} of the pairs": float(worst)})
    ask.show({"predicted coherence at the last of these snapshots": reached})
    ask.show({"best test accuracy until then": known}, percent)
    ask.show({"coherence with random labels": noise})
