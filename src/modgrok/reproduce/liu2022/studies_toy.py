"""Figs. 3 and 4: the toy trained on more and fewer pairs, beside what the theory says of the same training sets."""

from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import BLUE, GRAY, MARKERS, SERIES, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.liu2022.effective_theory import (
    Pairs,
    best_accuracy,
    degrees_of_freedom,
    draw_pairs,
    grokking_rate,
    predicted_accuracy,
)
from modgrok.reproduce.liu2022.profile import NUMBERS, PAIRS, Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.text import number

LINEAR = 0.95
"""RQI above which an embedding counts as linear."""
SHOWN = 45
"""Pairs of the runs whose curves are drawn."""


def trained_pairs(run: Run) -> Pairs:
    train, _ = run.experiment.split.divide(run.experiment.load_task())
    return [divmod(int(k), NUMBERS) for k in train]


def linear_at(run: Run) -> int | None:
    """The step at which the embedding is linear for the first time."""
    steps = run.history["step"][run.history["rqi"] > LINEAR]
    return int(steps[0]) if len(steps) else None


def curves(profile: Profile, runs: Tree) -> Numbers:
    """Accuracies and RQI on the way, and where the embeddings end."""
    chosen = runs[SHOWN]
    names = ("step", "train_accuracy", "test_accuracy", "rqi")
    return {
        "pairs": SHOWN,
        "runs": [{name: run.history[name] for name in names} for run in chosen],
        "linear_at": [linear_at(run) for run in chosen],
        "embeddings": [_standardized(run) for run in chosen],
    }


def _standardized(run: Run) -> np.ndarray:
    """The embedding with mean 0 and variance 1, rising."""
    values = np.asarray(run.network.parameters["embedding"])[:, 0]
    values = (values - values.mean()) / values.std()
    return values if values[-1] > values[0] else -values


def accuracy(profile: Profile, runs: Tree) -> Numbers:
    """Of every run: the accuracy on all pairs, that which its embedding implies, and that which its set allows."""
    return {"runs": [_accuracies(run, size) for size, some in runs.items() for run in some]}


def _accuracies(run: Run, size: int) -> dict[str, Any]:
    pairs, train, test = trained_pairs(run), results(run, "train_accuracy"), results(run, "test_accuracy")
    embedding = np.asarray(run.network.parameters["embedding"], np.float64)
    known = size * train + (PAIRS - size) * test
    return {
        "pairs": size,
        "accuracy": known / PAIRS,
        "test_accuracy": test,
        "implied": predicted_accuracy(embedding, pairs),
        "best": best_accuracy(pairs),
        "rqi": run.history["rqi"][-1],
    }


def critical(profile: Profile, runs: Tree) -> Numbers:
    """How often a training set forces the linear embedding, λ3, and when trained embeddings become linear."""
    rng = np.random.default_rng(4)
    theory = {}
    for size in (*range(3, 55, 3), 20, 25, 35, 40, 50, PAIRS):
        sets = [draw_pairs(size, rng) for _ in range(profile.sets)]
        theory[size] = {
            "linear": float(np.mean([degrees_of_freedom(pairs) == 2 for pairs in sets])),
            "rate": float(np.median([grokking_rate(pairs) for pairs in sets])),
        }
    times = {size: [linear_at(run) for run in some] for size, some in runs.items()}
    rates = {size: [grokking_rate(trained_pairs(run)) for run in some] for size, some in runs.items()}
    products = [
        time * rate
        for size in times
        for time, rate in zip(times[size], rates[size], strict=True)
        if time is not None and rate > 0
    ]
    return {
        "pairs": PAIRS,
        "sets": profile.sets,
        "theory": dict(sorted(theory.items())),
        "times": times,
        "rates": rates,
        "product": np.median(products) if products else None,
        "steps": profile.steps,
        "threshold": _crossing({size: one["linear"] for size, one in theory.items()}),
    }


def _crossing(shares: dict[int, float]) -> float | None:
    """The share of data at which half of the sets force the linear embedding, interpolated."""
    sizes = sorted(shares)
    for a, b in pairwise(sizes):
        if shares[a] < 0.5 <= shares[b]:
            return float((a + (0.5 - shares[a]) / (shares[b] - shares[a]) * (b - a)) / PAIRS)
    return None


def draw_curves(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7)
    left, right = panels[0]
    for i, (run, values) in enumerate(zip(n["runs"], n["embeddings"], strict=True)):
        look = {"alpha": 1 if i == 0 else 0.35, "linewidth": 1.3 if i == 0 else 0.8}
        for name, color, label in (
            ("train_accuracy", TRAIN, "training accuracy"),
            ("test_accuracy", TEST, "test accuracy"),
            ("rqi", "black", "RQI"),
        ):
            left.plot(run["step"], run[name], color=color, label=label if i == 0 else None, **look)
        linear = n["linear_at"][i] is not None
        right.plot(values, color=BLUE if linear else VERMILLION, marker="o", alpha=0.7, linewidth=0.9, markersize=2.5)
    left.set_xscale("symlog", linthresh=10)
    left.set(xlabel="step", ylabel="share", ylim=(-0.03, 1.03))
    left.legend(loc="upper left")
    right.plot([], [], color=BLUE, label="RQI > 0.95 on the way")
    right.plot([], [], color=VERMILLION, label="others")
    right.set(xlabel="number k", ylabel="embedding $E_k$, standardized", ylim=(-3.1, 2))
    right.set_xticks(range(NUMBERS))
    right.legend(loc="lower right")
    style.letter(panels[0], ("on the way (bold: seed 0)", "where the embeddings end"))
    style.note(figure, f"{n['pairs']} of {PAIRS} pairs; a line for each of {len(n['runs'])} seeds")
    return figure


def draw_accuracy(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=3.0, sharey=True)
    sizes = sorted({run["pairs"] for run in n["runs"]})
    for panel, key, label in zip(
        panels[0],
        ("implied", "best"),
        ("implied by the trained embedding", "implied by the training set alone"),
        strict=True,
    ):
        panel.plot([0, 1], [0, 1], color=GRAY, linewidth=0.7)
        for i, size in enumerate(sizes):
            here = [run for run in n["runs"] if run["pairs"] == size]
            x, y = [run[key] for run in here], [run["accuracy"] for run in here]
            panel.plot(x, y, MARKERS[i % 8], color=SERIES[i % 8], alpha=0.7, label=f"{size} pairs")
        panel.set(xlabel=label, xlim=(0.3, 1.02), ylim=(0.3, 1.02))
    panels[0, 0].set_ylabel("accuracy on all pairs")
    panels[0, 0].legend(loc="upper left", fontsize=6)
    style.letter(panels[0], ("representation decides", "an upper bound"))
    return figure


def draw_critical(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.8)
    left, right = panels[0]
    sizes = [int(size) for size in n["theory"]]
    share = np.array(sizes) / n["pairs"]
    left.plot(share, [one["linear"] for one in n["theory"].values()], color=SERIES[0], marker="o", markersize=2.5)
    style.mark(left, n["threshold"])
    left.set(xlabel="share of the pairs", ylabel="only linear embeddings fit", ylim=(-0.03, 1.03))
    for size, times in n["times"].items():
        reached = [time for time in times if time is not None]
        x = [int(size) / n["pairs"]]
        right.plot(x * len(reached), reached, "o", color=SERIES[0], fillstyle="none", markersize=3)
        missing = len(times) - len(reached)
        if missing:
            right.plot(x, [1.3 * n["steps"]], "v", color=SERIES[1], markersize=3)
            right.annotate(
                str(missing), (x[0], 1.3 * n["steps"]), (0, 4), textcoords="offset points", fontsize=6, ha="center"
            )
    if n["product"] is not None:
        known = [(int(size) / n["pairs"], one["rate"]) for size, one in n["theory"].items() if one["rate"] > 1e-3]
        curve = [n["product"] / rate for _, rate in known]
        right.plot([x for x, _ in known], curve, color=GRAY, label=f"{n['product']:.0f} / λ3")
        right.legend(loc="lower left")
    right.set_yscale("log")
    right.set(
        xlabel="share of the pairs", ylabel="steps until RQI > 0.95", ylim=(200, 2.2 * n["steps"]), xlim=(0, 1.03)
    )
    style.letter(panels[0], ("theory: a critical share of data", "training: time to a linear embedding"))
    right.yaxis.set_major_formatter(lambda value, _: number(value))
    right.yaxis.set_minor_formatter(lambda value, _: "")
    style.note(
        figure,
        f"(a) {n['sets']} random training sets a point; dotted: one half; (b) line: the theory's 1/λ3 with a fitted "
        "factor; triangles: how many runs never get there",
    )
    return figure


STUDIES = (
    Study(
        "figE",
        "An embedding becomes linear",
        "Ten numbers with one learnable coordinate each, trained on sums. The test accuracy rises when the coordinates "
        "line up: RQI is the share of parallelograms i + j = m + n that hold for the coordinates too. In one dimension "
        "two numbers that start in the wrong order cannot always pass each other; such runs stay short of 1.",
        curves,
        lambda profile: {size: some for size, some in profile.toys().items() if size == SHOWN},
        draw_curves,
    ),
    Study(
        "fig3",
        "Accuracy is what the representation implies",
        "Every mark is a network. A pair counts as implied where its sum follows from a trained pair by a "
        "parallelogram that the embedding realizes. Right: the same for the best embedding that the training set alone "
        "forces, known before anything is trained.",
        accuracy,
        lambda profile: profile.toys(),
        draw_accuracy,
    ),
    Study(
        "fig4",
        "Critical size of the training set",
        "Left: how many random training sets leave the linear embedding as the only one, from linear algebra. Right: "
        "the steps until trained embeddings are linear. The effective theory says that the time is inverse to λ3, the "
        "third eigenvalue, which falls to zero where other embeddings fit as well.",
        critical,
        lambda profile: profile.toys(),
        draw_critical,
    ),
)
