"""Claims that the paper makes in passing, without a figure of their own."""

import math
from typing import Any

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.gromov2023.statements import DISGUISED, MIXED, SUMS
from modgrok.reproduce.nested import Numbers, Times, mean, median_time
from modgrok.text import number, percent, spread

LEARNT = 0.99
"""Test accuracy that counts as learnt."""


def _flat(cells: Any) -> list[Any]:
    """Everything in lists and dicts of lists."""
    if isinstance(cells, dict):
        return _flat(list(cells.values()))
    return [x for cell in cells for x in _flat(cell)] if isinstance(cells, list) else [cells]


def _least(accuracies: Any) -> float:
    """The smallest of all accuracies; 0 for runs that diverged."""
    return min(0.0 if value is None else value for value in _flat(accuracies))


def _steps(times: Times) -> float:
    """The median time, infinite where that is a run that did not get there."""
    return math.inf if (found := median_time(times)) is None else found


@claim("5 (outlook)", "test accuracy ≥ 99 % in every seed at every size", "three_variables")
def three_variables_trained(n: Numbers) -> Verdict:
    """Modular functions of many variables can be grokked as well."""
    memorized, grokked = _flat(n["memorized_at"]), _flat(n["grokked_at"])
    holds = _least(n["test_accuracy"]) >= LEARNT
    at_once = holds and any(m is None or g < 1.2 * m for m, g in zip(memorized, grokked, strict=True))
    measured = {
        f"grokking step at p = {p}, N = {width}": spread(times)
        for (p, width), times in zip(n["sizes"], n["grokked_at"], strict=True)
    }
    return decide(
        holds,
        "Sums of three variables are learnt from half of the table, with the activation x³.",
        "Sums of three variables are not learnt in every seed.",
        measured
        | {
            "test accuracy": spread(_flat(n["test_accuracy"]), percent, "run"),
            "memorization step": spread(memorized, over="run"),
        },
        "Not in every run there is a delay of a fifth or more between memorization and grokking." if at_once else "",
    )


@claim("2", "test accuracy ≥ 99 % in every seed for every composite p", "composite")
def composite_modulus(n: Numbers) -> Verdict:
    """The modulus does not have to be prime."""
    (prime, *composite) = n["test_accuracy"]
    holds = _least([n["test_accuracy"][p] for p in composite]) >= LEARNT
    times = {p: _steps(n["grokked_at"][p]) for p in n["grokked_at"]}
    slower = [p for p in composite if times[p] > 2 * times[prime]]
    return decide(
        holds,
        f"Addition is learnt modulo {', '.join(composite)}, none of them prime.",
        "Addition is not learnt modulo every composite number.",
        {f"grokking step at p = {p}": spread(n["grokked_at"][p]) for p in times},
        f"Modulo {', '.join(slower)} it takes more than twice as long as modulo {prime}." if holds and slower else "",
    )


@claim("2", "test accuracy ≥ 99 % in every seed for every function", "products")
def products_of_functions(n: Numbers) -> Verdict:
    """Functions g1(n)·g2(m) can be grokked too, not only nm."""
    worst = {text: _least(cell) for text, cell in n["test_accuracy"].items()}
    failed = [text for text, value in worst.items() if value < LEARNT]
    return decide(
        not failed,
        f"All {len(worst)} products are learnt: {', '.join(worst)}.",
        f"Not every product is learnt: {', '.join(failed)} are not.",
        {f"grokking step, {text}": spread(times) for text, times in n["grokked_at"].items()},
    )


@claim(
    "2, 3.2",
    "at every α each of them takes ≥ 1.5 × the steps of n + m (medians) or is not learnt within the steps; at the "
    "smallest α where n + m is learnt, none of them is",
    "mixed_functions",
)
def mixed_functions_harder(n: Numbers) -> Verdict:
    """Functions f(n, m) + g(n, m), a sum and a product mixed, need more epochs and more data than either."""
    times = {text: [_steps(cell) for cell in cells] for text, cells in n["grokked_at"].items()}
    learnt = [i for i, time in enumerate(times["n + m"]) if time < math.inf]
    slower = all(times[text][i] >= 1.5 * times["n + m"][i] for text in MIXED for i in learnt)
    more_data = bool(learnt) and all(times[text][learnt[0]] == math.inf for text in MIXED)
    plain = [times[text][i] / times["n + m"][i] for text in SUMS[1:] for i in learnt]
    disguised = [times[DISGUISED][i] / times["n + m"][i] for i in learnt]
    exception = bool(disguised) and max(disguised) < 1.5
    return decide(
        slower and more_data,
        "Sums of unlike functions take longer and more data than n + m, where they are learnt at all.",
        "Sums of unlike functions do not all take longer and more data than n + m.",
        {
            f"grokking step at α = {a}, {text}": spread(cell)
            for text, cells in n["grokked_at"].items()
            for a, cell in zip(n["fractions"], cells, strict=True)
        }
        | {
            "f1(n) + f2(m): steps / those of n + m": spread(plain, over="cell"),
            "steps at most": str(n["steps"]),
        },
        f"{DISGUISED} is none of them: it is the product (n + 1)(m + 1) − 1, and as easy as n + m."
        if exception
        else "",
        f"Sums f1(n) + f2(m) of other functions take up to {max(plain):.2g} times the steps of n + m as well."
        if plain and 1.2 < max(plain) < math.inf
        else "",
    )


@claim(
    "2",
    "n + m is learnt (≥ 99 %) at some width where random labels are not learnt by heart (train accuracy < 90 %) and at "
    "some width where they are (≥ 99 %), in every seed",
    "capacity",
)
def parameter_regimes(n: Numbers) -> Verdict:
    """The width tunes between under- and overparametrized networks, and both grok."""
    kept = [mean(cell) for cell in n["train_accuracy"]["random labels"]]
    learnt = [_least(cell) >= LEARNT for cell in n["test_accuracy"]["n + m"]]
    under = [N for N, share, ok in zip(n["widths"], kept, learnt, strict=True) if share < 0.9 and ok]
    over = [N for N, share, ok in zip(n["widths"], kept, learnt, strict=True) if share >= LEARNT and ok]
    below = [N for N, ok in zip(n["widths"], learnt, strict=True) if not ok]
    return decide(
        bool(under and over),
        f"With N = {', '.join(map(str, under))} a network cannot learn random labels by heart, with N = "
        f"{', '.join(map(str, over))} it can; n + m is grokked by both.",
        "There are no widths on both sides at which n + m is grokked.",
        {
            f"N = {N}: train accuracy on random labels, test accuracy on n + m": (
                f"{percent(share)}, {spread(cell, percent)}"
            )
            for N, share, cell in zip(n["widths"], kept, n["test_accuracy"]["n + m"], strict=True)
        },
        f"Not at every width: N = {', '.join(map(str, below))} does not learn n + m."
        if under and over and below
        else "",
    )


@claim("2", "test accuracy ≥ 99 % in every seed", "minibatches")
def minibatch_batch_norm(n: Numbers) -> Verdict:
    """SGD with minibatches and batch normalization groks."""
    return decide(
        _least(n["test_accuracy"]) >= LEARNT,
        f"SGD with minibatches of {n['batch_size']} pairs and batch normalization groks n + m.",
        "SGD with minibatches and batch normalization does not grok n + m in every seed.",
        {
            "memorization step": spread(n["memorized_at"]),
            "grokking step": spread(n["grokked_at"]),
            "test accuracy": spread(n["test_accuracy"], percent),
        },
    )


def _lacking(seeds: list[dict[str, Any]]) -> list[str]:
    """What of the general behavior some seed does not show."""
    shown = {
        "memorized before grokked": lambda s: (
            None not in (s["memorized_at"], s["grokked_at"]) and s["memorized_at"] < s["grokked_at"]
        ),
        "a maximum of the test loss": lambda s: (s["rise"] or 0) >= 0.02 and (s["test_accuracy_at_peak"] or 0) <= 0.5,
        "waves": lambda s: (s["explained"] or 0) >= 0.5,
    }
    return [what for what, shows in shown.items() if not all(map(shows, seeds))]


@claim(
    "4.1",
    "for every optimizer, loss and function and in every seed: memorized before grokked; the test loss rises by ≥ 2 % "
    "to a maximum at test accuracy ≤ 50 %; ≥ 50 % of the median neuron's power in one wave at the end; with a remark "
    "if at least three quarters of the rows of each kind are so",
    "general_behavior",
)
def general_behavior_everywhere(n: Numbers) -> Verdict:
    """The general behavior (memorization, a maximum of the test loss, then grokking by periodic features) is
    insensitive to optimizer, loss and function."""
    lacking = {kind: {name: _lacking(seeds) for name, seeds in rows.items()} for kind, rows in n["rows"].items()}
    holds = all(sum(not what for what in rows.values()) >= 0.75 * len(rows) for rows in lacking.values())
    others = [f"{name} lacks {', '.join(what)}" for rows in lacking.values() for name, what in rows.items() if what]
    total = sum(map(len, lacking.values()))
    found = f"{total - len(others)} of {total} rows show it all"
    return decide(
        holds,
        f"{found}.",
        f"{found}: {'; '.join(others)}.",
        {
            f"{name}: memorized, maximum of the test loss (rise), grokked, power in a wave": ", ".join(
                [
                    number(mean([s["memorized_at"] for s in seeds])),
                    f"{number(mean([s['peak_at'] for s in seeds]))} ({percent(mean([s['rise'] for s in seeds]), 0)})",
                    number(mean([s["grokked_at"] for s in seeds])),
                    percent(mean([s["explained"] for s in seeds]), 0),
                ]
            )
            for rows in n["rows"].values()
            for name, seeds in rows.items()
        },
        f"{'; '.join(others)}." if others else "",
    )


@claim(
    "4.1",
    "mean rate of decay of the training loss (its logarithm) from 10 % test accuracy to grokking ≥ 1.2 × the mean rate "
    "until the training pairs are known, in every seed",
    "over_training",
)
def train_loss_accelerates(n: Numbers) -> Verdict:
    """After a period of slow decrease the training loss falls slightly faster, and that is when grokking happens."""
    ratio = [s["during"] / s["before"] if s["during"] and s["before"] else None for s in n["train_loss"]]
    known = [value for value in ratio if value is not None]
    holds = len(known) == len(ratio) and min(known) >= 1.2
    return decide(
        holds,
        "The training loss falls faster while the network generalizes than before.",
        "The training loss does not fall faster while the network generalizes.",
        {
            "rate until memorized": spread([s["before"] for s in n["train_loss"]]),
            "rate during grokking": spread([s["during"] for s in n["train_loss"]]),
            "ratio": spread(ratio),
        },
        f"Not slightly: {mean(ratio):.2g} times faster." if holds and mean(ratio) > 2 else "",
    )


@claim("4.3 (Fig. 4)", "IPR at the end above that at grokking, in every seed of GD and AdamW", "over_training")
def ipr_training(n: Numbers) -> Verdict:
    """More training narrows the gap to the closed form."""
    seeds = _flat([[(s["at_grokking"], s["half_way"], s["end"]) for s in found] for found in n["ipr"].values()])
    holds = all(start is not None and end > start for start, _, end in seeds)
    turns = holds and any(half > end for _, half, end in seeds)
    return decide(
        holds,
        "The ratio goes on growing from grokking to the end of training.",
        "The ratio does not grow in every seed after grokking.",
        {
            f"IPR at grokking → half way → end, {name}": " → ".join(
                spread([s[place] for s in found]) for place in ("at_grokking", "half_way", "end")
            )
            for name, found in n["ipr"].items()
        },
        "In some seeds it has passed its maximum before the end." if turns else "",
    )


@claim(
    "3.1, 4.2 (Fig. 2, Fig. 3)",
    "for each optimizer at the narrowest width where all its networks answer ≥ 99 %: mean accuracy ≤ 95 % with phases "
    "dealt anew; and the loss of every network at least triples",
    "shuffled_phases",
)
def phases_dependent(n: Numbers) -> Verdict:
    """The phases found by training are not independent, which is why training needs less width than random phases."""
    narrowest, times, measured = {}, [], {}
    for name, cells in n["networks"].items():
        for i, (N, cell) in enumerate(zip(n["widths"], cells, strict=True)):
            dealt = [[s["accuracy"] for s in one["shuffled"]] for one in cell]
            good = min(one["trained"]["accuracy"] for one in cell) >= LEARNT
            if good and name not in narrowest:
                narrowest[name] = (i, mean(_flat(dealt)))
            if good:
                times += [mean([s["loss"] for s in one["shuffled"]]) / one["trained"]["loss"] for one in cell]
            trained = spread([one["trained"]["accuracy"] for one in cell], percent)
            measured[f"accuracy at N = {N}, {name} → dealt anew"] = (
                f"{trained} → {spread(_flat(dealt), percent, 'deal')}"
            )
    random = [mean([s["accuracy"] for s in cell]) for cell in n["random phases"]]
    measured |= {
        f"closed form with random phases, N = {N}": percent(value) for N, value in zip(n["widths"], random, strict=True)
    }
    holds = len(narrowest) == len(n["networks"]) and all(after <= 0.95 for _, after in narrowest.values())
    holds &= bool(times) and min(times) >= 3
    worse = [name for name, (i, after) in narrowest.items() if after < random[i]]
    return decide(
        holds,
        "Dealt anew among the neurons of a frequency, with every φ1 + φ2 − φ3 kept, the phases no longer cancel what "
        "they cancelled: accuracy falls and the loss multiplies.",
        "Phases dealt anew among the neurons of a frequency serve as well as those found by training."
        if any(after > 0.95 for _, after in narrowest.values())
        else "Phases dealt anew lose accuracy at the narrowest width; but not every network's loss triples, and wide "
        "networks answer as well as before.",
        measured | {"loss dealt anew / trained": spread(times, over="network")},
        f"After {' and '.join(worse)} they then serve less well than the closed form's random phases: amplitudes "
        "differ too."
        if holds and worse
        else "",
    )


@claim(
    "3.1",
    "⟨U(n)V(m)W(n+m)⟩ ≥ 0.3 and excess kurtosis of at least 0.2 in size for trained and closed-form weights; below "
    "0.02 and 0.1 in size for random ones; every seed",
    "correlated_weights",
)
def weights_correlated(n: Numbers) -> Verdict:
    """The weights are strongly correlated and far from Gaussian."""
    found = [*n["trained"], *n["closed form"]]
    holds = all(one["triple"] >= 0.3 and abs(one["kurtosis"]) >= 0.2 for one in found)
    holds &= all(abs(one["triple"]) < 0.02 and abs(one["kurtosis"]) < 0.1 for one in n["random"])
    return decide(
        holds,
        "Weights of one neuron have a third moment that no Gaussian weights have, and it is what answers n + m; their "
        "distribution is no Gaussian either: flatter for waves of one amplitude, with heavier tails where amplitudes "
        "differ.",
        "The weights are not both correlated and non-Gaussian.",
        {f"third moment, {name}": spread([one["triple"] for one in cells]) for name, cells in n.items()}
        | {f"excess kurtosis, {name}": spread([one["kurtosis"] for one in cells]) for name, cells in n.items()},
    )


@claim(
    "3.1",
    "with the frequency 0 the loss at the largest width is below half of 1/(p(p − 1)), and the whole curve within 30 % "
    "of theory; with a remark if without it the loss stays above 1/(p(p − 1))",
    "loss_floor",
)
def loss_to_zero(n: Numbers) -> Verdict:
    """The loss of the closed form can be made arbitrarily close to 0 by increasing the width."""
    means = {name: [mean(cell) for cell in cells] for name, cells in n["loss"].items()}
    near = all(
        abs(found / expected - 1) <= 0.3
        for name, cells in means.items()
        for found, expected in zip(cells, n["expected"][name], strict=True)
    )
    floor = n["floor"]
    holds = near and means["with"][-1] < 0.5 * floor
    return decide(
        holds,
        "With the frequency 0 the loss falls as 1/N.",
        "The loss does not go to 0 as the theory says, not even with the frequency 0.",
        {
            f"loss at N = {N}, without / with the frequency 0": f"{number(a)} / {number(b)}"
            for N, a, b in zip(n["widths"], means["without"], means["with"], strict=True)
        }
        | {"1/(p(p − 1))": number(floor)},
        "Without that neuron, as k = 1, 2, … in the paper's sums, it stops at 1/(p(p − 1))."
        if holds and min(means["without"]) > floor
        else "",
    )
