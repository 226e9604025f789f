"""What is claimed of alignment before knowledge (docs/findings/alignment.md)."""

from collections.abc import Sequence

import numpy as np

from modgrok.measures.laws import exponent
from modgrok.reproduce.findings.alignment import RANDOM, RENAMED, UNCHANGED, alignment, erased, forms, renamed, worth
from modgrok.reproduce.form import Ask, Row, Table
from modgrok.shapes import Float
from modgrok.text import percent

SIGMA = 5.0


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
    weaker = drawn["coherence"].average() <= 0.5 * right["coherence"].average()
    ask.that("at a random frequency of every neuron it is at most half: selection supplies the rest", weaker)
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
    found, curves = worth(t), forms(t)

    def distance(some: Table, widths: Sequence[float]) -> float:
        moduli = zip(some["modulus"], np.log(np.maximum(widths, 1)), strict=True)
        answered = [np.interp(log_width, np.log([*curves[p]]), curves[p].y) for p, log_width in moduli]
        return float(np.sqrt(np.mean(np.square(np.subtract(answered, some["waves"])))))

    scales, coherent = np.geomspace(0.25, 4, 161), found.each(lambda r: r.width * r.coherence**2)
    fits = [distance(found, [scale * width for width in coherent]) for scale in scales]
    rms, best = distance(found, found["effective_width"]), int(np.argmin(fits))
    ask.possible("accuracies range over at least 0.8", max(found["waves"]) - min(found["waves"]) >= 0.8)
    ask.that("the root mean square distance in accuracy is at most 0.08", rms <= 0.08, rms)
    ask.that("N times coherence², with a factor fitted, is farther off", fits[best] > rms, fits[best])
    ask.show({"networks": str(len(found)), "fitted factor": float(scales[best])})
    for frequency, cell in found.by("frequency").items():
        ask.show({f"distance, {frequency} frequency": distance(cell, cell["effective_width"])})
    ask.yes("What the waves of a memorizer answer is what the closed form of as many neurons answers.")


def _distance(r: Row) -> float:
    """The largest from the early flow where that applies."""
    return max((abs(m - f) for m, f, a in zip(r.measured, r.flow, r.applies, strict=True) if a), default=0.0)


@alignment.claim("alignment")
def one_clock(t: Table, ask: Ask) -> None:
    """Phases align by one clock, whatever the number of pairs, until memorization stops it, later for more pairs."""
    clocks = t.where(part="clock")
    apart = {n: max(cell.each(_distance)) for n, cell in clocks.by("pairs").items()}
    reached = max(f for r in clocks for f, a in zip(r.flow, r.applies, strict=True) if a)
    stops = {n: cell["memory_time"].median() for n, cell in clocks.by("pairs").items()}
    known = {n: time for n, time in stops.items() if time is not None}
    ask.possible("the early flow reaches a coherence of 0.25 where it applies", reached >= 0.25, reached)
    near = max(apart.values()) <= 0.1
    ask.that("coherence is within 0.1 of the early flow wherever at least 95 % of the loss is left", near)
    ask.that("no more than 5 % of the test set is answered until then", max(clocks["best_accuracy"]) <= 0.05)
    ask.possible("half of the loss is gone with three numbers of pairs", len(known) >= 3)
    slope = exponent([*known], [*known.values()])
    alike = 0.85 <= slope <= 1.15
    ask.that("the time to lose half of it grows as the number of pairs, exponent 0.85 to 1.15", alike, slope)
    for n, cell in clocks.by("pairs").items():
        ask.show({f"largest distance from the flow, {n} pairs": apart[n]})
        ask.show({f"coherence in the end, {n} pairs": cell.each(lambda r: r.measured[-1])})
    ask.yes("One clock for all numbers of pairs; memorization stops it after a time in proportion to that number.")


def ratios(t: Table, way: str, to: str, fractions: list[float]) -> Float[np.ndarray, "fraction seed"]:
    """Times to grok after one way of turning in units of those after another, network by network; a run that does not
    grok has taken all its steps."""
    cell = t.where(part="turned", fraction=fractions)
    times = {(r.way, r.fraction, r.seed): r.grokked_at or r.steps for r in cell}
    seeds = cell["seed"].distinct()
    return np.array([[times[way, a, seed] / times[to, a, seed] for seed in seeds] for a in fractions])


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
    ask.budget(t.where(part="turned"), "effect", seeds=5)
    return found


def compare(t: Table, ask: Ask, fractions: list[float], *pairs: tuple[str, str]) -> None:
    for a in fractions:
        for way, to in pairs:
            ask.show({f"time to grok, {way} / {to}, α = {a}": ratios(t, way, to, [a])[0].tolist()})


@alignment.claim("alignment")
def alignment_is_used(t: Table, ask: Ask) -> None:
    """Grokking uses the alignment: without it, all else alike, it comes later."""
    found = memorizers(t, ask)
    for way, factor in (("-strongest", 1.2), ("", 1.15)):
        longer = ratios(t, f"random{way}", f"kept{way}", found)
        kind = "the strongest frequency" if way else "all frequencies"
        ask.that(
            f"random gaps of {kind} take at least {factor} times as long as kept ones, in the median at every α",
            min(np.median(longer, axis=1)) >= factor,
        )
        ask.that(f"and longer in nine of ten networks ({kind})", np.mean(longer > 1) >= 0.9)
    compare(t, ask, found, ("random-strongest", "kept-strongest"), ("random-strongest", UNCHANGED), ("random", "kept"))
    ask.yes("Random gaps delay grokking; phases turned as far with their gaps kept do so less.")


@alignment.claim("alignment")
def perfection_is_not_needed(t: Table, ask: Ask) -> None:
    """Setting the gaps to zero gains next to nothing: the phases are aligned already."""
    found = memorizers(t, ask)
    change = np.median(ratios(t, "zero-strongest", UNCHANGED, found), axis=1) - 1
    alike = max(abs(change)) <= 0.15
    ask.that("zero gaps of the strongest frequency change the time by at most 15 %, in the median at every α", alike)
    compare(t, ask, found, ("zero-strongest", UNCHANGED), ("zero", UNCHANGED))
    ask.yes("Perfect phases at memorization gain next to nothing.")


@alignment.claim("alignment")
def memory_delays(t: Table, ask: Ask) -> None:
    """Memory delays grokking: phases turned with all gaps kept erase what was memorized, and grokking comes sooner."""
    found = memorizers(t, ask)
    shorter = ratios(t, "kept", UNCHANGED, found)
    ask.that(
        "after all phases are turned with their gaps kept it takes at most 0.75 of the time, in the median at every α",
        max(np.median(shorter, axis=1)) <= 0.75,
    )
    ask.that("and less in nine of ten networks", np.mean(shorter < 1) >= 0.9)
    compare(t, ask, found, ("kept", UNCHANGED), ("random", UNCHANGED))
    ask.yes("A network that forgets its training set and keeps its gaps groks sooner than one that remembers.")


def at_memorization(t: Table, kind: str) -> list[tuple[float, float]]:
    """Score and test accuracy at the first snapshot with 99 % of the training set, of every network that gets there."""
    found = []
    for row in t.where(part="kinds", kind=kind):
        there = [i for i, a in enumerate(row.train_accuracy) if a >= 0.99]
        found += [(row.score[i], row.test_accuracy[i]) for i in there[:1]]
    return found


def _ignorant_score(r: Row) -> float:
    return max((score for score, right in zip(r.score, r.test_accuracy, strict=True) if right <= 0.05), key=abs)


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
        label = f"after the fact: largest at any snapshot with at most 5 % of the test set, {kind}"
        ask.show({label: t.where(part="kinds", kind=kind).each(_ignorant_score)})


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


@renamed.claim("alignment")
def names_do_not_matter(t: Table, ask: Ask) -> None:
    """Arguments and answers may have any names: the rule stands out without a coordinate in which it is a sum."""
    judge_kinds(t, ask, (RENAMED,))
    raw = t.where(kind=RENAMED)["coherence"]
    ask.that("while waves of the raw names have a coherence of at most 0.15", max(raw) <= 0.15, raw)
    ask.yes("The rule stands out at memorization under names in which there are no waves.")


@erased.claim("alignment")
def forgetting_reveals(t: Table, ask: Ask) -> None:
    """A memorizer whose phases are turned with all gaps kept forgets its training set and answers unseen pairs at once,
    without training."""
    before, kept, random = (t.where(way=way) for way in (UNCHANGED, "kept", "random"))
    for (way, fraction), cell in t.where(way=[UNCHANGED, "kept", "random"]).by("way", "fraction").items():
        ask.show({f"training set, {way}, α = {fraction}": cell["train"]}, percent)
        ask.show({f"test set, {way}, α = {fraction}": cell["test"]}, percent)
    ignorant = min(before["train"]) >= 0.99 and max(before["test"]) <= 0.02
    ask.possible("all know 99 % of the training set and at most 2 % of the test set", ignorant)
    ask.budget(t, "effect", modulus=97, seeds=3)
    ask.that("with gaps kept at most 30 % of the training set is known, in every one", max(kept["train"]) <= 0.3)
    ask.that("and at least 5 % of the test set is answered, in every network", min(kept["test"]) >= 0.05)
    ask.that("with random gaps at most 3 % of it, in every network", max(random["test"]) <= 0.03)
    ask.yes("Once its memory is gone, a network that answered no unseen pair answers some at once.")
