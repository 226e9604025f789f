"""Figs. 3 and 4: the toy trained on more and fewer pairs, beside what the theory says of the same training sets."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import parallelograms as theory
from modgrok.measures.parallelograms import NUMBERS, parallelograms, unordered_pairs
from modgrok.measures.times import first_reached
from modgrok.palette import BLUE, GRAY, MARKERS, SERIES, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.figures import seed_look
from modgrok.reproduce.form import Ask, Sizes, Table, curves, study
from modgrok.reproduce.liu2022.sizes import PAIRS, toys
from modgrok.text import count, number, percent

CRITICAL = (0.35, 0.47)
"""Where the critical share of the pairs is sought; the paper's is about 0.4."""
BETWEEN = "between {} and {}".format(*CRITICAL)
FACTOR = 3_000
"""Steps · λ3 in the paper: 3/η, at its rate η of the embedding."""
SHOWN = 45
"""Pairs of the runs whose curves are drawn."""
STORED = "half of the authors' stored runs from 0.73 on (of 3 seeds one at 0.45 to 0.64, two at 0.73, all from 0.82 on)"


def trained_pairs(run: Run) -> theory.Pairs:
    train, _ = run.experiment.split.divide(run.task)
    return [divmod(int(k), NUMBERS) for k in train]


def linear_at(run: Run) -> dict[str, int | None]:
    """The step at which the embedding counts as linear for the first time."""
    steps = run.history["step"][run.history["rqi"] > 0.95]
    return {"linear_at": int(steps[0]) if len(steps) else None}


def standardized(run: Run) -> dict[str, Any]:
    """The embedding with mean 0 and variance 1, rising."""
    values = np.asarray(run.network.parameters["embedding"])[:, 0]
    values = (values - values.mean()) / values.std()
    return {"embedding": values if values[-1] > values[0] else -values}


def accuracies(run: Run) -> dict[str, float]:
    """The accuracy on all pairs, that which the embedding implies, and that which the training set allows."""
    result: Any = run.result
    pairs = trained_pairs(run)
    known = len(pairs) * result["train_accuracy"] + (PAIRS - len(pairs)) * result["test_accuracy"]
    embedding = np.asarray(run.network.parameters["embedding"], np.float64)
    implied, best = theory.predicted_accuracy(embedding, pairs), theory.best_accuracy(pairs)
    return {"accuracy": known / PAIRS, "implied": implied, "best": best}


def random_sets(s: Sizes) -> Iterator[dict[str, Any]]:
    """How often random training sets force the linear embedding, and their λ3."""
    rng, sizes = np.random.default_rng(4), (*range(3, 55, 3), 20, 25, 35, 40, 50, PAIRS)
    drawn = {size: [theory.draw_pairs(size, rng) for _ in range(s.sets)] for size in sizes}
    for size, sets in sorted(drawn.items()):
        linear = np.mean([theory.degrees_of_freedom(pairs) == 2 for pairs in sets])
        rate = np.median([theory.grokking_rate(pairs) for pairs in sets])
        yield {"sets": s.sets, "examples": size, "linear": linear, "rate": rate}


linear = study(
    "figE",
    "An embedding becomes linear",
    "Ten numbers with one learnable coordinate each, trained on sums. The test accuracy rises when the coordinates "
    "line up: RQI is the share of parallelograms i + j = m + n that hold for the coordinates too. In one dimension "
    "two numbers that start in the wrong order cannot always pass each other; such runs stay short of 1.",
    runs=lambda s: toys(s.but(sizes=(SHOWN,))),
    keep=(curves("train_accuracy", "test_accuracy", "rqi"), linear_at, standardized),
)
representation = study(
    "fig3",
    "Accuracy is what the representation implies",
    "Every mark is a network. A pair counts as implied where its sum follows from a trained pair by a "
    "parallelogram that the embedding realizes. Right: the same for the best embedding that the training set alone "
    "forces, known before anything is trained.",
    runs=toys,
    keep=accuracies,
)
critical = study(
    "fig4",
    "Critical size of the training set",
    "Left: how many random training sets leave the linear embedding as the only one, from linear algebra. Right: "
    "the steps until trained embeddings are linear. The effective theory says that the time is inverse to λ3, the "
    "third eigenvalue, which falls to zero where other embeddings fit as well.",
    runs=toys,
    keep=(linear_at, lambda run: {"rate": theory.grokking_rate(trained_pairs(run))}),
    rows=random_sets,
)


def _trained(t: Table) -> Table:
    return t.where("steps > 0")


def _threshold(t: Table) -> float | None:
    """The share of data at which half of the sets force the linear embedding, interpolated."""
    drawn = t.where("sets > 0")
    examples = first_reached(np.array(drawn["examples"], int), np.array(drawn["linear"], float), 0.5, True)
    return None if examples is None else examples / PAIRS


def _critical(share: float | None) -> bool:
    return share is not None and CRITICAL[0] <= share <= CRITICAL[1]


def _timed(t: Table) -> Table:
    """The runs whose embeddings become linear, as their training sets force them to."""
    return t.where("linear_at >= 0", "rate > 0")


def _product(t: Table) -> float | None:
    """The median of time · λ3."""
    products = _timed(t).each(lambda r: r.linear_at * r.rate)
    return products.median() if products else None


@linear.figure("on the way (bold: seed 0)", "where the embeddings end", height=2.7)
def on_the_way(t: Table, left: Any, right: Any) -> str:
    for row in t:
        for values, color, label in (
            (row.train_accuracy, TRAIN, "training accuracy"),
            (row.test_accuracy, TEST, "test accuracy"),
            (row.rqi, "black", "RQI"),
        ):
            left.plot(row.step, values, color=color, **seed_look(row.seed, label, faint=0.35))
        color = VERMILLION if row.linear_at is None else BLUE
        right.plot(row.embedding, color=color, marker="o", alpha=0.7, linewidth=0.9, markersize=2.5)
    left.set_xscale("symlog", linthresh=10)
    left.set(xlabel="step", ylabel="share", ylim=(-0.03, 1.03))
    left.legend(loc="upper left")
    right.plot([], [], color=BLUE, label="RQI > 0.95 on the way")
    right.plot([], [], color=VERMILLION, label="others")
    right.set(xlabel="number k", ylabel="embedding $E_k$, standardized", ylim=(-3.1, 2))
    right.set_xticks(range(NUMBERS))
    right.legend(loc="lower right")
    return f"{SHOWN} of {PAIRS} pairs; a line for each of {len(t)} seeds"


@representation.figure("representation decides", "an upper bound", height=3.0, sharey=True)
def implied(t: Table, *shown: Any) -> None:
    words = {"implied": "implied by the trained embedding", "best": "implied by the training set alone"}
    for panel, (x, label) in zip(shown, words.items(), strict=True):
        panel.plot([0, 1], [0, 1], color=GRAY, linewidth=0.7)
        for i, (size, some) in enumerate(t.by("examples").items()):
            look = {"color": SERIES[i % 8], "alpha": 0.7, "label": f"{size} pairs"}
            panel.plot(some[x], some["accuracy"], MARKERS[i % 8], **look)
        panel.set(xlabel=label, xlim=(0.3, 1.02), ylim=(0.3, 1.02))
    shown[0].set_ylabel("accuracy on all pairs")
    shown[0].legend(loc="upper left", fontsize=6)


@critical.figure("theory: a critical share of data", "training: time to a linear embedding")
def critical_size(t: Table, left: Any, right: Any) -> str:
    drawn, steps, product = t.where("sets > 0"), _trained(t).one("steps"), _product(t)
    share = drawn.each(lambda r: r.examples / PAIRS)
    left.plot(share, drawn["linear"], color=SERIES[0], marker="o", markersize=2.5)
    style.mark(left, _threshold(t))
    left.set(xlabel="share of the pairs", ylabel="only linear embeddings fit", ylim=(-0.03, 1.03))
    for size, times in _trained(t).of("linear_at", list, "examples").items():
        x, reached = size / PAIRS, [time for time in times if time is not None]
        right.plot([x] * len(reached), reached, "o", color=SERIES[0], fillstyle="none", markersize=3)
        if missing := len(times) - len(reached):
            place = (x, 1.3 * steps)
            right.plot(*place, "v", color=SERIES[1], markersize=3)
            right.annotate(str(missing), place, (0, 4), textcoords="offset points", fontsize=6, ha="center")
    if product is not None:
        known = drawn.where("rate > 1e-3")
        x, y = known.each(lambda r: r.examples / PAIRS), known.each(lambda r: product / r.rate)
        right.plot(x, y, color=GRAY, label=f"{product:.0f} / λ3")
        right.legend(loc="lower left")
    right.set_yscale("log")
    right.set(xlabel="share of the pairs", ylabel="steps until RQI > 0.95", ylim=(200, 2.2 * steps), xlim=(0, 1.03))
    right.yaxis.set_major_formatter(lambda value, _: number(value))
    right.yaxis.set_minor_formatter(lambda value, _: "")
    return (
        f"(a) {drawn.one('sets')} random training sets a point; dotted: one half; (b) line: the theory's 1/λ3 "
        "with a fitted factor; triangles: how many runs never get there"
    )


@critical.claim("3.2 (Fig. 4a)")
def critical_share(t: Table, ask: Ask) -> None:
    """From about 40 % of the pairs on, a training set leaves the linear embedding as the only one that fits."""
    threshold, everything = _threshold(t), unordered_pairs(NUMBERS)
    ask.that(f"half of the random training sets do at a share of data {BETWEEN}", _critical(threshold))
    ask.yes(f"Half of the sets do at a share of {number(threshold)}.")
    some = t.where("sets > 0", examples=(18, 21, 24, 27, 30))
    ask.show({f"{row.examples} pairs ({row.examples / PAIRS:.2f})": row.linear for row in some}, percent)
    ask.show({"parallelograms of all pairs": str(len(parallelograms(everything)))})
    ask.show({"λ3 of all pairs (6/7 = 0.857)": number(theory.grokking_rate(everything), 4)})


@representation.claim("3.1 (Fig. 3)")
def accuracy_from_representation(t: Table, ask: Ask) -> None:
    """The accuracy of a network is what its embedding's parallelograms imply."""
    said, found = np.array(t["implied"]), np.array(t["accuracy"])
    distance = float(np.abs(said - found).mean())
    together = float(np.corrcoef(said, found)[0, 1]) if said.std() and found.std() else math.nan
    ask.that("accuracies are within 0.1 of what the embeddings imply, in the mean", distance < 0.1)
    ask.that("the correlation is above 0.8", together > 0.8)
    above = t.where(lambda r: r.accuracy > r.best + 0.05)
    ask.show({"mean distance": distance, "correlation": together, "networks": count(len(t))})
    ask.show({"above the best that the training set forces, by more than 0.05": count(len(above))})


@critical.claim("3.2 (Fig. 4b)")
def time_to_linear(t: Table, ask: Ask) -> None:
    """Embeddings become linear after about a thousand steps, and never from too few pairs."""
    cells = _trained(t).by("examples")
    times = {size: cell["linear_at"] for size, cell in cells.items()}
    many = times[45].known()
    ask.that("with 45 pairs most seeds get there", 2 * len(many) > len(times[45]))
    ask.that("the median of their times is 500 to 2 000 steps", many and 500 <= np.median(many) <= 2000)
    ask.that("with 20 pairs none does", times[20].none())
    ask.show({f"steps, {size} pairs": cell for size, cell in times.items()})


@critical.claim("3.2 (Fig. 4b)")
def transition_in_training(t: Table, ask: Ask) -> None:
    """Trained embeddings become linear from the critical share of about 40 % on."""
    shares = {n / PAIRS: 1 - c["linear_at"].count(None) / len(c) for n, c in _trained(t).by("examples").items()}
    low = max((share for share, some in shares.items() if some < 0.5), default=0.0)
    first = min((share for share in shares if share > low), default=None)
    ask.show({f"seeds at {share:.2f} of the pairs": some for share, some in shares.items()}, percent)
    ask.show({"share from which on half of the seeds do": first}, paper=f"0.4 from linear algebra; {STORED}")
    ask.that(f"the least share from which on half of the seeds or more have one is {BETWEEN}", _critical(first))


@critical.claim("3.2")
def time_from_theory(t: Table, ask: Ask) -> None:
    """The effective theory predicts how the time to a linear embedding depends on the training set: as 1/λ3."""
    timed, together = _timed(t), math.nan
    if len(timed) > 2:
        together = float(np.corrcoef(np.log(timed["linear_at"]), -np.log(timed["rate"]))[0, 1])
    ask.that("the steps of single runs correlate by more than 0.5 with 1/λ3 of their training sets", together > 0.5)
    product = _product(t)
    near = product is None or FACTOR / 2 <= product <= 2 * FACTOR
    ask.remark(f"steps · λ3 is half to twice the paper's {count(FACTOR)}", near)
    ask.show({"correlation of logarithms": together, "runs": count(len(timed))})
    ask.show({"steps · λ3 (the paper's 3/η would be 3 000)": product})
