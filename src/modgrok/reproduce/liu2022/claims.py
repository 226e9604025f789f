"""What the paper says, and the thresholds by which it is judged."""

import math
from typing import Any

import numpy as np

from modgrok.measures.parallelograms import parallelograms, unordered_pairs
from modgrok.plot.phase_diagram import PHASES
from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.liu2022.effective_theory import grokking_rate
from modgrok.reproduce.nested import Numbers
from modgrok.text import NONE, count, number, percent, spread

KNOWN = {18: 0.06, 21: 0.27, 24: 0.72, 27: 0.90, 30: 0.97}
"""Share of 100 random sets of so many pairs that force the linear embedding, computed once before."""


@claim("3.2 (Fig. 4a)", "half of the random training sets do at a share of data between 0.35 and 0.47", "fig4")
def critical_share(n: Numbers) -> Verdict:
    """From about 40 % of the pairs on, a training set leaves the linear embedding as the only one that fits."""
    theory = {int(size): one["linear"] for size, one in n["theory"].items()}
    everything = unordered_pairs(10)
    measured = {f"{size} pairs ({size / n['pairs']:.2f})": percent(theory[size]) for size in KNOWN}
    exact = {"parallelograms of all pairs": str(len(parallelograms(everything)))}
    exact |= {"λ3 of all pairs (6/7 = 0.857)": number(grokking_rate(everything), 4)}
    return decide(
        n["threshold"] is not None and 0.35 <= n["threshold"] <= 0.47,
        f"Half of the sets do at a share of {number(n['threshold'])}.",
        "The threshold is elsewhere.",
        measured | exact,
    )


@claim(
    "3.1 (Fig. 3)", "mean distance of accuracy from what the embedding implies below 0.1, correlation above 0.8", "fig3"
)
def accuracy_from_representation(n: Numbers) -> Verdict:
    """The accuracy of a network is what its embedding's parallelograms imply."""
    said, found = (np.array([run[name] for run in n["runs"]]) for name in ("implied", "accuracy"))
    distance = float(np.abs(said - found).mean())
    together = float(np.corrcoef(said, found)[0, 1]) if said.std() and found.std() else math.nan
    return decide(
        distance < 0.1 and together > 0.8,
        "Accuracies lie near the diagonal.",
        "Accuracies are not those that the embeddings imply.",
        {
            "mean distance": number(distance),
            "correlation": number(together),
            "networks": count(len(said)),
            "above the best that the training set forces, by more than 0.05": count(
                sum(run["accuracy"] > run["best"] + 0.05 for run in n["runs"])
            ),
        },
    )


@claim("3.2 (Fig. 4b)", "at 45 pairs most seeds get there, in 500 to 2 000 steps; with 20 pairs none does", "fig4")
def time_to_linear(n: Numbers) -> Verdict:
    """Embeddings become linear after about a thousand steps, and never from too few pairs."""
    times = {int(size): cell for size, cell in n["times"].items()}
    reached = [time for time in times[45] if time is not None]
    few = [time for time in times[20] if time is not None]
    near = bool(reached) and 500 <= float(np.median(reached)) <= 2000
    most = 2 * len(reached) > len(times[45])
    return decide(
        near and most and not few,
        "The times are those of the paper.",
        f"With 45 pairs {len(reached)} of {len(times[45])} seeds get there within {count(n['steps'])} steps, "
        f"{'at about the right time' if near else 'at another time'}; with 20 pairs {len(few)}.",
        {f"steps, {size} pairs": spread(cell) for size, cell in times.items()},
    )


@claim("3.2", "correlation of the steps of single runs with 1/λ3 of their training set above 0.5", "fig4")
def time_from_theory(n: Numbers) -> Verdict:
    """The effective theory predicts how the time to a linear embedding depends on the training set: as 1/λ3."""
    pairs = [
        (time, 1 / rate)
        for size in n["times"]
        for time, rate in zip(n["times"][size], n["rates"][size], strict=True)
        if time is not None and rate > 0
    ]
    together = math.nan
    if len(pairs) > 2:
        together = float(np.corrcoef(*np.log(np.array(pairs)).T)[0, 1])
    return decide(
        together > 0.5,
        "Times grow with 1/λ3.",
        "Adam hardly follows the theory's flow here.",
        {
            "correlation of logarithms": number(together),
            "runs": count(len(pairs)),
            "steps · λ3 (the paper's 3/η would be 3 000)": NONE if n["product"] is None else number(n["product"]),
        },
    )


def _ratio(found: dict[str, Any], name: str) -> float:
    """Mean logarithm of decoder rate over embedding rate where a phase is."""
    values = [
        math.log10(x / y)
        for y, row in zip(found["y_values"], found["phases"], strict=True)
        for x, cell in zip(found["x_values"], row, strict=True)
        if cell == name
    ]
    return float(np.mean(values)) if values else math.nan


def _counts(found: dict[str, Any]) -> dict[str, str]:
    return {f"{name}, of {found['runs']} runs": count(found["counts"][name]) for name in PHASES}


@claim(
    "4 (Fig. 6a)",
    "comprehension, grokking and memorization all occur; where memorization is, the decoder is faster relative to the "
    "embedding than where comprehension is",
    "fig6",
)
def phases_of_rates(n: Numbers) -> Verdict:
    """A fast embedding comprehends, a fast decoder memorizes, and grokking lies between."""
    found = n["a"]
    ratios = {name: _ratio(found, name) for name in PHASES}
    missing = [name for name in ("comprehension", "grokking", "memorization") if not found["counts"][name]]
    ordered = ratios["memorization"] > ratios["comprehension"]
    return decide(
        not missing and ordered,
        "The phases lie as in the paper.",
        f"Missing: {', '.join(missing)}." if missing else "The phases lie otherwise.",
        _counts(found)
        | {f"mean log10(decoder rate / embedding rate), {name}": number(value) for name, value in ratios.items()}
        | {"run-steps of diagrams (a) and (b), trained as batches": count(found["run_steps"] + n["b"]["run_steps"])},
    )


@claim("4 (Fig. 6b)", "confusion occurs, at larger decays on average than every other phase", "fig6")
def phases_of_decay(n: Numbers) -> Verdict:
    """Too much weight decay of the decoder confuses."""
    found = n["b"]
    decays: dict[str, list[float]] = {name: [] for name in PHASES}
    for decay, row in zip(found["y_values"], found["phases"], strict=True):
        for cell in row:
            decays[cell].append(decay)
    means = {name: float(np.mean(values)) if values else math.nan for name, values in decays.items()}
    others = [value for name, value in means.items() if name != "confusion" and not math.isnan(value)]
    return decide(
        bool(decays["confusion"]) and bool(others) and all(means["confusion"] > value for value in others),
        "Confusion is where the decay is large.",
        "Confusion is absent or elsewhere.",
        _counts(found) | {f"mean decay, {name}": number(value) for name, value in means.items()},
    )


@claim("4 (Fig. 6c)", "comprehension or grokking, memorization and confusion occur", "fig6c")
def phases_with_cross_entropy(n: Numbers) -> Verdict:
    """With cross-entropy the phases are the same."""
    counts = n["c"]["counts"]
    return decide(
        counts["comprehension"] + counts["grokking"] > 0 and counts["memorization"] > 0 and counts["confusion"] > 0,
        "All of them occur.",
        "Some are missing.",
        _counts(n["c"]),
    )


@claim(
    "4 (Fig. 6d)",
    "memorization, and comprehension or grokking, occur, the latter at larger decays on average; remark where "
    "confusion does not occur",
    "fig6d",
)
def phases_of_permutations(n: Numbers) -> Verdict:
    """For products of permutations weight decay turns memorization into generalization, and too much confuses."""
    found, counts = n["d"], n["d"]["counts"]
    places = [(decay, cell) for decay, row in zip(found["y_values"], found["phases"], strict=True) for cell in row]
    learnt = [decay for decay, cell in places if cell in ("comprehension", "grokking")]
    memorized = [decay for decay, cell in places if cell == "memorization"]
    return decide(
        bool(learnt) and bool(memorized) and float(np.mean(learnt)) > float(np.mean(memorized)),
        "Decay brings generalization.",
        "Phases are missing or lie otherwise.",
        _counts(found)
        | {
            "mean decay, comprehension or grokking": number(float(np.mean(learnt)) if learnt else math.nan),
            "mean decay, memorization": number(float(np.mean(memorized)) if memorized else math.nan),
        },
        not counts["confusion"] and "Confusion does not occur.",
    )


@claim("4 (Fig. 1)", "the radius varies by less than 20 % of its mean, and by less than half as much as before", "figP")
def circle(n: Numbers) -> Verdict:
    """A transformer that adds modulo 53 has its embeddings on a circle."""
    before, after = n["roundness"]
    return decide(
        after < 0.2 and after < before / 2,
        "The first two components form a circle.",
        "The first two components form no clean circle: several frequencies share the space.",
        {
            "variation of the radius, start": number(before),
            "variation of the radius, end": number(after),
            "effective dimension, start and end": f"{number(n['effective_dimension'][0])}, "
            f"{number(n['effective_dimension'][-1])}",
            "test accuracy": percent(n["test_accuracy"]),
        },
    )
