"""Answers to questions that the paper leaves open: memorizers, sharpness, the tangent kernel, powers and roots."""

from typing import Any

import numpy as np

from modgrok.reproduce.claim import BEYOND, Verdict, claim, decide, undecided
from modgrok.reproduce.gromov2023.memorizer import RANDOM, SHARE, SIGNS
from modgrok.reproduce.gromov2023.powers import NAMES
from modgrok.reproduce.nested import Numbers, mean
from modgrok.text import number, percent, spread

UNSTRUCTURED = "n^2 + m^2 + n*m"


def _accuracy(cells: list[dict[str, Any]], way: str = "waves") -> list[float]:
    return [one["accuracy"][way] for one in cells]


def _at_share(n: Numbers) -> list[dict[str, Any]]:
    return n["by_pairs"][n["shares"].index(SHARE)]


@claim(
    BEYOND,
    "networks that know 3 % of the table: train accuracy ≥ 99 %, test accuracy ≤ 5 %, and replaced by their waves they "
    "answer ≥ 95 % of all pairs; with untrained weights and with random labels ≤ 5 %; every seed",
    "memorizer",
)
def memorizer_waves(n: Numbers) -> Verdict:
    """A network that has only memorized answers every pair once its neurons are replaced by their best waves."""
    found = _at_share(n)
    holds = min(one["train_accuracy"] for one in found) >= 0.99 and max(one["test_accuracy"] for one in found) <= 0.05
    holds &= min(_accuracy(found)) >= 0.95
    holds &= max(_accuracy(n["untrained"])) <= 0.05 and max(_accuracy(n[RANDOM])) <= 0.05
    others = {f"{kind} {name}": cells for kind, rows in n["by"].items() for name, cells in rows.items()}
    poor = [name for name, cells in others.items() if UNSTRUCTURED not in name and mean(_accuracy(cells)) < 0.95]
    return decide(
        holds,
        "At 3 % of the pairs a network answers no other pair, and its waves answer all; untrained weights and random "
        "labels have no such waves.",
        "The waves of a network that has memorized 3 % of the pairs do not answer the others.",
        {
            f"waves, trained on {pairs} pairs": spread(_accuracy(cells), percent)
            for pairs, cells in zip(n["pairs"], n["by_pairs"], strict=True)
        }
        | {
            "untrained": spread(_accuracy(n["untrained"]), percent),
            RANDOM: spread(_accuracy(n[RANDOM]), percent),
            "coherence of φ1 + φ2 − φ3: untrained, 3 % of the pairs": (
                f"{number(mean([one['coherence'] for one in n['untrained']]))}, "
                f"{number(mean([one['coherence'] for one in found]))}"
            ),
            "IPR: untrained, 3 % of the pairs": (
                f"{number(mean([one['ipr'] for one in n['untrained']]))}, {number(mean([one['ipr'] for one in found]))}"
            ),
        }
        | {name: spread(_accuracy(cells), percent) for name, cells in others.items()},
        f"Fewer than 95 % with {', '.join(poor)}." if holds and poor else "",
    )


@claim(
    BEYOND,
    "the same networks, every block replaced by its own best wave: ≤ 10 % of all pairs; readouts shuffled among the "
    "neurons of a frequency: ≤ 20 %; waves of ±n ± m + c answer the trained function (≥ 90 %) and none of the others "
    "(≤ 5 %); every seed",
    "memorizer",
)
def memorizer_projection(n: Numbers) -> Verdict:
    """That is no evidence of knowledge: the projection supplies everything but a sign and an offset."""
    found = _at_share(n)
    right = [value for text in SIGNS for value in n["signs"][text][text]]
    wrong = [value for text in SIGNS for other in SIGNS if other != text for value in n["signs"][text][other]]
    own, shuffled = _accuracy(found, "own waves"), _accuracy(found, "waves, readouts shuffled")
    holds = max(own) <= 0.1 and max(shuffled) <= 0.2 and min(right) >= 0.9 and max(wrong) <= 0.05
    return decide(
        holds,
        "Without the assumption that the blocks of a neuron share a frequency nothing is left; what the weights supply "
        "is one sign and one offset.",
        "The waves answer without the projection's assumptions too, or more than a sign and an offset is known.",
        {
            "each block its own wave": spread(own, percent),
            "readouts shuffled": spread(shuffled, percent),
            "waves asked for the trained function": spread(right, percent, "network"),
            "waves asked for another sign or offset": spread(wrong, percent, "answer"),
        },
    )


@claim(
    BEYOND,
    "gradient descent on 3 % and on half of the pairs: at every snapshot with a training loss ≥ 90 % of its start, "
    "which the early flow presupposes, coherence is within 0.1 of the flow's, at test accuracy ≤ 5 %; random labels "
    "stay below 0.15; every seed",
    "memorizer",
)
def memorizer_alignment(n: Numbers) -> Verdict:
    """The phases align because every right example pushes them coherently, as the early flow predicts."""
    flow = n["flow"]
    predicted, applies = np.array(flow["predicted"]), np.array(flow["applies"])
    apart = np.abs(np.array(flow["measured"]) - predicted)
    early = np.where(applies, apart, 0).max(axis=(1, 2))
    accuracy = float(np.where(applies, flow["test_accuracy"], 0).max())
    noise = max(one["coherence"] for one in n[RANDOM])
    reached = float(np.where(applies, predicted, 0).max())
    if reached < 0.2:
        return undecided("The phases do not align within the profile's steps.")
    holds = float(early.max()) <= 0.1 and accuracy <= 0.05 and noise < 0.15
    late = float(apart.max())
    return decide(
        holds,
        "The coherence of the phases rises as the flow of the first stage predicts from the initial weights alone, "
        "whether 3 % or half of the pairs are seen, before any test pair is answered.",
        "The coherence of the phases does not follow the early flow.",
        {
            f"largest distance from the flow, {percent(share, 0)} of the pairs": number(float(value))
            for share, value in zip(flow["shares"], early, strict=True)
        }
        | {
            "predicted coherence at the last of these snapshots": number(reached),
            "best test accuracy until then": percent(accuracy),
            "coherence with random labels": number(noise),
        },
        f"Once the pairs are memorized they part, by up to {late:.2g}." if holds and late > 0.1 else "",
    )


def _stable(n: Numbers) -> list[tuple[float, dict[str, Any]]]:
    runs = zip(n["rates"], n["runs"], strict=True)
    return [(rate, run) for rate, run in runs if run["status"] == "finished" and run["grokked_at"] is not None]


@claim(
    BEYOND,
    "at every rate that groks, sharpness at the first snapshot from grokking on ≥ 10 × that at the start",
    "sharpness",
)
def sharpness_rises(n: Numbers) -> Verdict:
    """The loss becomes sharper as the network memorizes and groks."""
    runs = _stable(n)
    if not runs:
        return undecided("No network groks.")
    growth, memorizing = [], []
    for _, run in runs:
        at = [next(i for i, s in enumerate(run["step"]) if s >= run[name]) for name in ("memorized_at", "grokked_at")]
        growth.append(run["sharpness"][at[1]] / run["sharpness"][0])
        memorizing.append(np.log(run["sharpness"][at[0]] / run["sharpness"][0]) / np.log(growth[-1]))
    return decide(
        min(growth) >= 10,
        f"The largest eigenvalue of the Hessian grows about {mean(growth):.2g} times by the time of grokking.",
        "The largest eigenvalue of the Hessian does not grow tenfold by the time of grokking.",
        {
            "sharpness at grokking / at the start": spread(growth, over="rate"),
            "share of that growth (in the logarithm) until memorization": spread(memorizing, percent, "rate"),
        },
    )


@claim(
    BEYOND,
    "at the largest rate that groks the last sharpness is within 10 % of 2/rate; at no rate it is above 1.1 × 2/rate",
    "sharpness",
)
def edge_of_stability(n: Numbers) -> Verdict:
    """Large rates end at the edge of stability, where sharpness is 2/rate; small ones stay below it."""
    runs = _stable(n)
    if not runs:
        return undecided("No network groks.")
    ends = {rate: run["over_limit"][-1] for rate, run in runs}
    largest = max(ends)
    holds = abs(ends[largest] - 1) <= 0.1 and max(ends.values()) <= 1.1
    below = [rate for rate, end in ends.items() if end < 0.9]
    broken = [rate for rate in n["rates"] if rate not in ends]
    return decide(
        holds,
        "At the largest rate that groks, sharpness rises to 2/rate and stays there.",
        "Sharpness does not end at 2/rate at the largest rate that groks.",
        {f"last sharpness / (2/rate), rate {number(rate)} natural units": number(end) for rate, end in ends.items()}
        | ({"rates that do not grok": ", ".join(map(number, broken))} if broken else {}),
        f"At {', '.join(map(number, below))} it stays below: grokking does not need the edge."
        if holds and below
        else "",
    )


@claim(
    BEYOND,
    "by the end the kernel between test pairs has moved by ≥ its own initial norm, and its alignment with the answers "
    "has grown by ≥ 0.05",
    "tangent_kernel",
)
def kernel_drifts(n: Numbers) -> Verdict:
    """The tangent kernel does not stay what it is at initialization: features are learnt."""
    runs = n["runs"]
    if any(run["grokked_at"] is None for run in runs):
        return undecided("The network does not grok.")
    gained = [run["like_target"][-1] - run["like_target"][0] for run in runs]
    drift = [run["drift"][-1] for run in runs]
    return decide(
        min(drift) >= 1 and min(gained) >= 0.05,
        "The kernel grows and turns toward the answers.",
        "The kernel stays near what it is at initialization, or does not turn toward the answers.",
        {
            "distance from the initial kernel / its norm": spread(drift),
            "alignment with the initial kernel": spread([run["like_start"][-1] for run in runs]),
            "alignment with the answers, start → end": spread([run["like_target"][0] for run in runs])
            + " → "
            + spread([run["like_target"][-1] for run in runs]),
        },
    )


@claim(
    BEYOND,
    "regression with the kernel frozen at a step answers ≤ 5 % of the test pairs at the start and ≥ 95 % at the end, "
    "and passes 50 % within one snapshot of the network",
    "tangent_kernel",
)
def kernel_learns(n: Numbers) -> Verdict:
    """The kernel frozen on the way generalizes as soon as the network does, and not before."""
    runs = n["runs"]
    if any(run["grokked_at"] is None for run in runs):
        return undecided("The network does not grok.")

    def passes(values: list[float]) -> int:
        return next((i for i, value in enumerate(values) if value >= 0.5), len(values) + 9)

    apart = [passes(run["regression_accuracy"]) - passes(run["test_accuracy"]) for run in runs]
    first, last = ([run["regression_accuracy"][i] for run in runs] for i in (0, -1))
    holds = max(first) <= 0.05 and min(last) >= 0.95 and max(map(abs, apart)) <= 1
    return decide(
        holds,
        "Regression with the kernel of the memorizing network fails on test pairs; with that of the grokked network it "
        "answers them. What is learnt at grokking is the kernel.",
        "The frozen kernel does not begin to generalize when the network does.",
        {
            "test accuracy of regression with the kernel, start": spread(first, percent),
            "end": spread(last, percent),
            "snapshots between the kernel's 50 % and the network's": spread(apart),
        },
    )


@claim(BEYOND, "best test accuracy ≥ 99 % in every seed and at every p", "powers")
def roots_and_logarithms(n: Numbers) -> Verdict:
    """The square root of a sum and the logarithm of a product are learnt, as other functions of them are."""
    cells = {name: n["functions"][name] for name in ("root(n+m)", "log(n*m)")}
    best = {name: [value for cell in found for value in cell["best_test_accuracy"]] for name, found in cells.items()}
    return decide(
        min(map(min, best.values())) >= 0.99,
        "Both are learnt, from four fifths of the inputs for which they exist.",
        "Not both are learnt.",
        {f"best test accuracy, {NAMES[name]}": spread(values, percent, "run") for name, values in best.items()}
        | {"p": ", ".join(map(str, n["moduli"]))},
    )


@claim(
    BEYOND,
    "n^m, the m-th root of n and the logarithm of m to base n: best test accuracy, mean over seeds, at most 10 points "
    "above the commonest answer's share at every p; known structures: ≥ 99 %",
    "powers",
)
def structure_predicts(n: Numbers) -> Verdict:
    """What has a structure F(f1(n) + f2(m)) or F(g1(n)·g2(m)) modulo p is learnt; powers, roots and logarithms that
    have none are not."""
    hard = ("n^m", "n^(1/m)", "log_n(m)")
    found = {
        (name, p): (mean(cell["best_test_accuracy"]), cell["commonest"], cell["structure"])
        for name, cells in n["functions"].items()
        for p, cell in zip(n["moduli"], cells, strict=True)
    }
    learnt = {key for key, (value, commonest, _) in found.items() if key[0] in hard and value > commonest + 0.1}
    missed = [key for key, (value, _, kind) in found.items() if kind not in ("none", "unknown") and value < 0.99]
    fully = [f"{NAMES[name]} modulo {p}" for name, p in sorted(learnt) if found[name, p][0] >= 0.99]
    said = [f"{NAMES[name]} modulo {p} ({percent(found[name, p][0], 0)})" for name, p in sorted(learnt)]
    return decide(
        not learnt and not missed,
        "Tables without such a structure are learnt by heart and not generalized.",
        f"Tables in which no such structure is found are learnt in part or whole: {', '.join(said)}. n^m is F(log n · "
        "m), a product modulo p − 1, where the search does not look."
        if learnt
        else "Not every table with a known structure is learnt.",
        {
            f"{NAMES[name]} modulo {p} ({kind.replace('_', ' ')}): best test accuracy, commonest answer": (
                f"{percent(value)}, {percent(commonest)}"
            )
            for (name, p), (value, commonest, kind) in found.items()
        }
        | ({"learnt wholly": ", ".join(fully)} if fully else {}),
    )
