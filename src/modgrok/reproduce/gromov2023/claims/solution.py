"""Claims about the weights written down (section 3, appendices A and B)."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.study import Numbers, mean
from modgrok.text import number, percent, spread

SMALL_GELU = "GELU, x/√D"
"""GELU on preactivations with the prefactor of `eq_h1`."""


def _width_of(series: dict[str, Any], level: float) -> int | float:
    reached = [w for w, a in zip(series["widths"], series["mean_accuracy"], strict=True) if a >= level]
    return reached[0] if reached else math.inf


@claim("3.1, Claim I", "accuracy 100 % for every draw, mean right output within 10 % of the prediction", "closed_forms")
def claim_one(n: Numbers) -> Verdict:
    """Cosines of every frequency with random phases and φ1 + φ2 = φ3 compute n + m; the output is a δ-function of
    height 1/(2D)."""
    accuracy = n["addition"]["accuracy"]
    return decide(
        min(accuracy) == 1 and 0.9 < mean(n["peak"]) < 1.1,
        f"The closed form with random phases, N = {n['width']}, answers {percent(min(accuracy))} of all pairs "
        "at least; the right output "
        f"averages {mean(n['peak']):.3f} in units of the predicted 1/(2D).",
        "",
        {
            "accuracy": spread(accuracy, percent),
            "loss": spread(n["addition"]["loss"]),
            "exact form": f"{percent(n['exact']['accuracy'])} at N = {n['exact']['width']}, loss "
            f"{number(n['exact']['loss'])}",
        },
    )


@claim(
    "3.1, 4.2 (Fig. 3b)",
    "mean loss falls with every step in width, mean accuracy never drops by more than 2 points and ends at ≥ 99.9 %",
    "fig3",
)
def width(n: Numbers) -> Verdict:
    """Accuracy of the closed form rises with width, and its loss falls."""
    series = n["by_width"]["random phases"]
    accuracy, loss = ([float(np.median(cell)) for cell in series[name]] for name in ("accuracy", "loss"))
    widths = series["widths"]
    falling = all(b <= a for a, b in pairwise(loss))
    rising = all(b >= a - 0.02 for a, b in pairwise(accuracy))
    return decide(
        falling and rising and accuracy[-1] >= 0.999,
        f"Accuracy rises from {percent(accuracy[0])} at N = {widths[0]} to {percent(accuracy[-1])} at N = "
        f"{widths[-1]}; the loss falls "
        f"from {number(loss[0])} to {number(loss[-1])}.",
        "",
        {f"N = {width}": spread(cell, percent) for width, cell in zip(widths, series["accuracy"], strict=True)},
    )


@claim(
    "4.2 (Fig. 3b)",
    "mean test accuracy at the largest width ≥ 99 % and above that at the smallest, for GD and AdamW",
    "fig3",
)
def trained_width(n: Numbers) -> Verdict:
    """Accuracy of trained networks rises with width too."""
    measured = {}
    holds = True
    for name in ("GD", "AdamW"):
        series = n["by_width"][name]
        holds &= series["mean_accuracy"][-1] >= 0.99 and series["mean_accuracy"][0] < series["mean_accuracy"][-1]
        for width, cell in zip(series["widths"], series["accuracy"], strict=True):
            measured[f"{name}, N = {width}"] = spread(cell, percent)
    return decide(
        holds,
        "The widest trained networks are right, the narrowest are not.",
        "Test accuracy of trained networks does not grow to 99 % with the width.",
        measured,
    )


@claim("4.2 (Fig. 3b)", "GD or AdamW reaches 99 % mean accuracy at a smaller width than random phases", "fig3")
def trained_faster(n: Numbers) -> Verdict:
    """Trained networks are right at a smaller width than random phases, since training tunes phases."""
    widths = {name: _width_of(series, 0.99) for name, series in n["by_width"].items()}
    phases = widths["random phases"]
    better = {name: widths[name] < phases for name in ("GD", "AdamW")}
    return decide(
        any(better.values()),
        "Trained networks need fewer neurons than random phases for 99 %.",
        "Trained networks do not reach 99 % at a smaller width than random phases.",
        {
            f"width for 99 %: {name}": "more than tried" if math.isinf(width) else number(width)
            for name, width in widths.items()
        },
        not all(better.values()) and f"Here only {'GD' if better['GD'] else 'AdamW'} does, within the profile's steps.",
        f"Chosen phases do better than both: {widths['exact form']} neurons.",
    )


@claim(
    "3.1, appendix B (Fig. A1)",
    "ReLU and GELU reach 100 %, at larger widths than the square; GELU of x/√D rises with the width",
    "figA1",
)
def other_activations(n: Numbers) -> Verdict:
    """The same weights work for other activations, ReLU among them, at larger widths; GELU only at very large width."""
    found = n["activations"]
    perfect = {name: series["perfect_at"] or math.inf for name, series in found.items()}
    late = found[SMALL_GELU]
    holds = perfect["x²"] < perfect["ReLU"] < math.inf and perfect["x²"] < perfect["GELU"] < math.inf
    holds &= late["mean"][-1] > late["mean"][0]
    return decide(
        holds,
        "The same weights work for ReLU and GELU, at larger widths than for the square.",
        "The weights do not carry over to ReLU and GELU at larger widths.",
        {name: f"{percent(series['mean'][-1])} at N = {series['widths'][-1]}" for name, series in found.items()},
        math.isinf(perfect[SMALL_GELU])
        and f"{SMALL_GELU}: {percent(late['mean'][-1])} at N = {late['widths'][-1]}, the widest tried.",
        math.isinf(perfect["tanh"]) and "An odd activation (tanh) stays at chance: it makes no wave in n + m.",
    )


@claim(
    "3.2, Claim II",
    "closed form ≥ 99.9 % for every sum; AdamW ≥ 99 % on n² + m², with ≥ 50 % of the median neuron's "
    "power in one such wave",
    "closed_forms",
    "figA3",
)
def claim_two(n: Numbers, trained: Numbers) -> Verdict:
    """Sums f1(n) + f2(m) are solved by the same waves in f1(n) and f2(m), and optimizers find these weights."""
    worst = min(min(scores["accuracy"]) for scores in n["sums"].values())
    learnt = [seed["test_accuracy"] for seed in trained["seeds"]]
    explained = [seed["explained"] for seed in trained["seeds"]]
    holds = worst >= 0.999 and min(learnt) >= 0.99 and min(explained) >= 0.5
    return decide(
        holds,
        "Replacing n by f1(n) and m by f2(m) solves every sum tried, and AdamW finds such waves for n² + m².",
        "A sum of two functions is not solved, or not found by AdamW.",
        {text: spread(scores["accuracy"], percent) for text, scores in n["sums"].items()}
        | {
            "AdamW on n² + m², test accuracy": spread(learnt, percent),
            "share of a neuron's power in one wave of n² and m² (median)": spread(explained, percent),
        },
    )


@claim("3.2, Corollary", "accuracy ≥ 99.9 % for every invertible power", "closed_forms")
def corollary(n: Numbers) -> Verdict:
    """F(f1(n) + f2(m)) with invertible F is solved by reading out F⁻¹(q)."""
    found = {d: power for d, power in n["powers"].items() if power["branches"] == 1}
    worst = min((min(power["one"]["accuracy"]) for power in found.values()), default=0.0)
    return decide(
        worst >= 0.999,
        f"Reading out F⁻¹(q) answers at least {percent(worst)} of all pairs for invertible powers of n + m.",
        "",
        {f"(n+m)^{d}": spread(power["one"]["accuracy"], percent) for d, power in found.items()},
    )


@claim(
    "3.2, Corollary; appendix C",
    "for every power of n + m that is not invertible, from s − 3 to s + 2(1 − s)/a + 3 points: s = a/p is the "
    "share of sums that are read out, a = 1 + (p−1)/b, and the other sums guess among a answers",
    "closed_forms",
)
def branches(n: Numbers) -> Verdict:
    """If F⁻¹ has b branches, the closed form's accuracy is about 1/b."""
    found = {d: power for d, power in n["powers"].items() if power["branches"] > 1}
    fits = [
        power["read_out"] - 0.03 <= mean(power["one"]["accuracy"]) <= power["read_out"] + 2 * power["guessed"] + 0.03
        for power in found.values()
    ]
    holds = bool(fits) and all(fits)
    complete = min((min(power["all"]["accuracy"]) for power in found.values()), default=0.0)
    return decide(
        holds,
        "With b branches and one of them read out, about 1/b of the answers are right.",
        "The accuracy of a single branch is not about 1/b.",
        {
            f"(n+m)^{d}, b = {power['branches']}": f"one branch {spread(power['one']['accuracy'], percent)}, "
            f"all branches {spread(power['all']['accuracy'], percent)}"
            for d, power in found.items()
        },
        "The loss of accuracy is avoidable: summing the readout over all branches answers at least "
        f"{percent(complete)}."
        if complete >= 0.95
        else "",
    )


@claim("appendix A", "accuracy ≥ 99.9 % for every draw", "closed_forms")
def complex_network(n: Numbers) -> Verdict:
    """A network of complex exponentials solves modular addition in the same way."""
    accuracy = n["complex"]["accuracy"]
    return decide(
        min(accuracy) >= 0.999,
        f"Complex exponentials with φ1 + φ2 = φ3 answer at least {percent(min(accuracy))} of all pairs.",
        "",
        {"accuracy": spread(accuracy, percent), "loss": spread(n["complex"]["loss"])},
    )


@claim("5.2", "n1 + n2 + n3: accuracy ≥ 99 % for every draw", "closed_forms")
def many_variables(n: Numbers) -> Verdict:
    """Functions of more variables have closed forms too, in some cases."""
    accuracy = n["three_variables"]["accuracy"]
    return decide(
        min(accuracy) >= 0.99,
        f"Waves with a cubic activation compute a sum of three variables in at least {percent(min(accuracy))} "
        "of all cases.",
        "",
        {"accuracy": spread(accuracy, percent)},
    )
