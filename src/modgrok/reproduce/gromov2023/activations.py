"""The closed form's weights under other activations (appendix B; Fig. A1) and other monomials (section 2), and training
with other activations.

An even power of cos A + cos B has a wave in A + B, as the square has. An odd one has none, unless a constant is added
to the weights of the first layer: (c + cos A + cos B)^d has one for every d ≥ 2.
"""

import math
from itertools import product
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.interference import expected_accuracy, width_needed
from modgrok.networks import Network, outputs, score_table
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.form import Ask, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.widths import Rows, at_width, draw_by_width, width_for
from modgrok.tasks import Task, task
from modgrok.text import count, number, percent, spread

ACTIVATIONS = {
    "x²": ("quadratic", False),
    "x⁴": ("x^4", False),
    "|x|": ("abs", False),
    "ReLU": ("relu", False),
    "GELU": ("gelu", False),
    "GELU, x/√D": ("gelu", True),
    "SiLU": ("silu", False),
    "tanh": ("tanh", False),
}
"""By label: the activation, and whether the preactivations carry the prefactor 1/√D of `eq_h1`. The paper's appendix
writes φ without it (`eq_f_relu`); homogeneous functions do not care, GELU is almost linear with it."""
SMALL_GELU = "GELU, x/√D"
PREDICTED = ("|x|", "ReLU", "GELU", SMALL_GELU)
"""Activations whose curves are compared with the theory's."""
FACTOR = 1.5
"""Widths are as the theory says within this factor."""
ODD = ("tanh",)
"""Odd functions make no wave in n + m: nothing grows with the width."""
ODD_LIMIT = 1024
"""Width beyond which odd functions are not tried."""
ACTIVATION_FRACTION = 0.7
FUNCTIONS = ("n^2 + m^2", "n^3 + 2*m", "(n + m)^5", "(n^2 + 3*m)^5")
"""Cases of Claim II and of the Corollary; the fifth power is invertible modulo 97."""
OTHERS = ("x⁴", "|x|", "ReLU")
WIDE = 1024
"""More than each of them needs for n + m."""


def unit_waves(addition: Task, width: int, activation: str, scaled: bool, seed: int) -> Network:
    """The paper's weights as printed (`eq_sol1`): cosines of amplitude 1, with the prefactor 1/√D or without."""
    network = solve(
        addition, "waves", width, activation=activation, parametrization="standard", seed=seed, dtype=np.float32
    )
    amplitude = np.float32((2 / width) ** (1 / 3))
    prefactor = np.float32((2 * addition.modulus) ** -0.5 if scaled else 1)
    return network.replace(w_in=network.w_in * (prefactor / amplitude), w_out=network.w_out / amplitude)


def activation_rows(s: Sizes) -> Rows:
    """Accuracies of several draws over all pairs, up to the first width where all draws are always right."""
    addition = task("n + m", s.modulus)
    for label, (activation, scaled) in ACTIVATIONS.items():
        scale = (2 * addition.modulus) ** -0.5 if scaled else 1.0
        needed = width_needed(activation, addition.modulus, 0.99, scale)
        for width in s.activation_widths:
            networks = (unit_waves(addition, width, activation, scaled, seed) for seed in range(s.closed_seeds))
            found = [score_table(network, addition.table).accuracy for network in networks]
            yield at_width(label, addition, width) | {
                "accuracy": found,
                "mean": float(np.mean(found)),
                "predicted": expected_accuracy(activation, addition.modulus, width, scale),
                "predicted_width": needed,
            }
            if min(found) == 1 or (activation in ODD and width >= ODD_LIMIT):
                break


def functions_and_activations(s: Sizes) -> Rows:
    """Cases of Claim II and of the Corollary, several draws of each."""
    for text, label, seed in product(FUNCTIONS, OTHERS, range(s.closed_seeds)):
        learned = task(text, s.modulus)
        network = unit_waves(learned, WIDE, *ACTIVATIONS[label], seed)
        accuracy = score_table(network, learned.table).accuracy
        yield at_width(label, learned, WIDE) | {"seed": seed, "accuracy": accuracy}


other_weights = study(
    "figA1",
    "The same weights, other activations",
    "Accuracy of the closed form's weights, derived for the square, when another function is applied to the hidden "
    "layer. Even parts do the work: every activation with one gets there at some width. GELU is as good as ReLU on "
    "waves of amplitude one, and late where they carry the prefactor 1/√D of the paper's network, since it is almost "
    "linear there. Odd functions (tanh) produce no wave in n + m, stay at chance and are not tried beyond N = 1024; "
    "all others end at 100 %, or at the profile's limit. The dashed lines are no fits: they follow from the moments of "
    "the activation on random phases, which for |x| and ReLU prove that the weights work, and for GELU that the width "
    "needed grows as D (docs/theory.md).",
    rows=activation_rows,
    also=lambda s, t: {"limit": s.activation_widths[-1]},
)
trained_activations = study(
    "activations",
    "Training with other activations",
    "n + m under AdamW with the square, ReLU and GELU.",
    runs=lambda s: runs(
        s.adaptive.adamw(s.sweep_modulus, s.sweep_width, ACTIVATION_FRACTION),
        until=0,
        activation=["quadratic", "relu", "gelu"],
        seed=range(s.sweep_seeds),
    ),
    keep=("grokked_at", "test_accuracy"),
)


other_functions = study(
    "other_functions",
    "Other functions, other activations",
    "Accuracy of the closed forms of Claim II and of the Corollary with other activations than the square.",
    rows=functions_and_activations,
)


@other_functions.claim("appendix B")
def activations_and_functions(t: Table, ask: Ask) -> None:
    """The weights of Claim II and of the Corollary work with other activations, too."""
    least = min(t["accuracy"])
    ask.that(f"at N = {WIDE} accuracy is at least 99 % for all functions, activations, draws", least >= 0.99)
    for (text, name), cell in t.by("task", "series").items():
        ask.show({f"{text}, {name}": cell["accuracy"]}, percent, "draw")
    ask.show({"p, N": f"{t.one('modulus')}, {t.one('width')}"})


@other_weights.figure(width=5.6, height=3.2)
def accuracy_of_activations(t: Table, panel: Any) -> str:
    colors = dict(zip(ACTIVATIONS, SERIES, strict=True))
    draw_by_width(panel, t, lambda c: (c.first.mean, min(c.first.accuracy), max(c.first.accuracy)), colors, "-")
    for series, cell in t.by("series").items():
        panel.plot(cell["width"], cell["predicted"], color=colors[series], linestyle="--", linewidth=0.9)
    panel.plot([], [], color=GRAY, linestyle="--", linewidth=0.9, label="theory")
    panel.set_ylabel("accuracy on all pairs")
    panel.set_title("the closed form's weights: only the width they need depends on the activation")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    drawn = f"mean and range of {len(t.first.accuracy)} draws, N ≤ {count(t.one('limit'))}"
    theory = "theory, the outputs as independent Gaussians with their exact moments"
    return f"n + m mod {t.one('modulus')}, weights written down; {drawn}; dashed: {theory}"


@other_weights.claim("3.1, appendix B (Fig. A1)")
def other_activations(t: Table, ask: Ask) -> None:
    """The same weights work for other activations, ReLU among them, at larger widths; GELU only at very large width."""
    cells = t.by("series")
    needed = {series: width_for(cell["width"], cell["mean"], 0.99) for series, cell in cells.items()}
    theory = {series: cell.first.predicted_width for series, cell in cells.items()}
    off = {series: max(cells[series].each(lambda r: abs(r.mean - r.predicted))) for series in PREDICTED}
    known = [series for series in cells if theory[series]]
    far = {series for series in known if not 1 / FACTOR <= needed[series] / theory[series] <= FACTOR}
    square = needed["x²"]
    wider, late = 1.5 * square <= needed["ReLU"] < math.inf, needed[SMALL_GELU] >= 10 * square
    ask.that("ReLU reaches a mean accuracy of 99 % at 1.5 times the square's width or more", wider)
    ask.that("GELU with the prefactor 1/√D reaches 99 % at 10 times the square's width or more, or never", late)
    ask.that(
        f"|x|, ReLU and GELU in both forms reach 99 % within a factor of {FACTOR} of the theory's width, if at all",
        all(math.isinf(needed[series]) for series in far.intersection(PREDICTED)),
    )
    ask.that("with these, accuracy is within 15 points of the theory at every width", max(off.values()) <= 0.15)
    ask.remark("GELU without the prefactor takes 10 times the square's width, too", needed["GELU"] >= 10 * square)
    ask.remark(f"all others are within a factor of {FACTOR} of the theory's width as well", far.issubset(PREDICTED))
    for series in (SMALL_GELU, *ODD):
        ask.remark(f"{series} reaches 99 % at some width tried", needed[series] < math.inf)
    for series, cell in cells.items():
        said = f"99 % at N = {number(needed[series])} (theory {number(theory[series])})"
        ask.show({series: f"{said}; {percent(cell.rows[-1].mean)} at N = {cell.rows[-1].width}"})
    ask.show({f"largest distance from the theory, {series}": value for series, value in off.items()}, percent)


@trained_activations.claim("2")
def activations(t: Table, ask: Ask) -> None:
    """Training is only mildly sensitive to the activation."""
    cells = t.by("activation")
    groks = min(t["test_accuracy"]) >= 0.99 and t["grokked_at"].whole()
    medians = [float(np.median(cell["grokked_at"])) for cell in cells.values() if groks]
    factor = max(medians) / min(medians) if groks else math.inf
    ask.that("every seed groks with the square, ReLU and GELU and ends at 99 % or more", groks)
    ask.that("at equal rates the slowest takes at most 5 times the median steps of the fastest", factor <= 5)
    ask.remark("the slowest takes at most twice the median steps of the fastest", factor <= 2)
    ask.show({f"grokking step, {name}": cell["grokked_at"] for name, cell in cells.items()})
    ask.show({f"test accuracy, {name}": cell["test_accuracy"] for name, cell in cells.items()}, percent)
    ask.show({"p, α": f"{t.one('modulus')}, {number(t.one('fraction'))}"})


DEGREES = range(2, 7)
WIDTH = 2048
RIGHT, CHANCE = 0.99, 5
"""Least accuracy of a closed form, and the largest, in units of 1/p, of weights that have no wave in n + m."""
NEAR = 0.05
"""How near the right output is to its predicted height, relatively."""


def wave_of_sum(degree: int, constant: float) -> float:
    """The coefficient of cos(A + B) in (c + cos A + cos B)^d; a grid of more than 2d angles makes it exact."""
    A, B = np.meshgrid(*[2 * np.pi * np.arange(16) / 16] * 2)
    return float(2 * np.mean((constant + np.cos(A) + np.cos(B)) ** degree * np.cos(A + B)))


def powers(s: Sizes) -> Rows:
    """The closed form's waves, with and without a constant, several draws for each power."""
    addition = task("n + m", s.modulus)
    inputs, right = np.indices((s.modulus, s.modulus)).reshape(2, -1).T, addition.table.ravel()
    kinds = [(degree, constant) for degree in DEGREES for constant in ((0.0, 1.0) if degree % 2 else (0.0,))]
    for (degree, constant), seed in product(kinds, range(s.closed_seeds)):
        waves = unit_waves(addition, WIDTH, f"x^{degree}", False, seed)
        network = waves.replace(w_in=waves.w_in + np.float32(constant / 2))
        found: dict[str, Any] = {"degree": degree, "constant": constant, "seed": seed}
        found["height"] = np.asarray(outputs(network, inputs))[np.arange(len(right)), right].mean() / WIDTH
        found["predicted"] = wave_of_sum(degree, constant) / 2
        found["accuracy"] = score_table(network, addition.table).accuracy
        yield at_width(f"x^{degree}", addition, WIDTH) | found


monomials = study(
    "monomials",
    "Closed forms for other monomials",
    "Accuracy of the waves of Claim I under the activations x² to x⁶, for odd powers with a constant and without.",
    rows=powers,
)


@monomials.claim("2")
def other_monomials(t: Table, ask: Ask) -> None:
    """The closed form can be generalized to other monomials than the square."""
    waves = t.where(lambda r: bool(r.constant) == bool(r.degree % 2))
    odd = t.where(lambda r: r.degree % 2 and not r.constant)["accuracy"]
    ask.that(
        f"for x² to x⁶, N = {WIDTH}, waves for even powers and waves with a constant for odd ones answer at least "
        f"{percent(RIGHT, 0)} of all pairs in every draw",
        min(waves["accuracy"]) >= RIGHT,
    )
    ask.that(
        f"the right output of such waves is within {percent(NEAR, 0)} of half of the wave's coefficient in n + m",
        max(waves.each(lambda r: abs(r.height / r.predicted - 1))) <= NEAR,
    )
    ask.that(
        f"odd powers of waves without a constant answer at most {CHANCE}/p of all pairs",
        max(odd) <= CHANCE / t.one("modulus"),
        spread(odd, percent, "draw"),
    )
    for degree, cell in waves.by("degree").items():
        height = f"{spread(cell['height'])}, predicted {number(cell.one('predicted'))}"
        ask.show({f"x^{degree}: accuracy; right output": f"{spread(cell['accuracy'], percent)}; {height}"})
