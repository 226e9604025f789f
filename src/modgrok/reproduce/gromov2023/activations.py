"""The closed form's weights under other activations (appendix B; Fig. A1), and training with them."""

import math
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.interference import expected_accuracy, width_needed
from modgrok.networks import Network, score_table
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.form import Ask, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.dynamics import fault_together
from modgrok.reproduce.gromov2023.widths import Rows, at_width, draw_by_width, width_for
from modgrok.tasks import Task, task
from modgrok.text import count, number, percent

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
    for text in FUNCTIONS:
        learned = task(text, s.modulus)
        for label in OTHERS:
            activation, scaled = ACTIVATIONS[label]
            for seed in range(s.closed_seeds):
                accuracy = score_table(unit_waves(learned, WIDE, activation, scaled, seed), learned.table).accuracy
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


@other_functions.claim("appendix B", f"accuracy ≥ 99 % for every function, activation and draw at N = {WIDE}")
def activations_and_functions(t: Table, ask: Ask) -> None:
    """The weights of Claim II and of the Corollary work with other activations, too."""
    cells = t.by("task", "series").items()
    poor = [f"{text} with {name}" for (text, name), cell in cells if min(cell["accuracy"]) < 0.99]
    ask.yes(f"Sums of functions and their powers are answered with {', '.join(t['series'].distinct())}.")
    ask.fault(f"Not {', '.join(poor)}.", poor)
    for (text, name), cell in cells:
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


@other_weights.claim(
    "3.1, appendix B (Fig. A1)",
    "mean width for 99 %: ReLU's is finite and ≥ 1.5 × the square's; GELU's with the prefactor 1/√D is ≥ 10 × the "
    "square's, or not reached; |x|, ReLU and GELU in both forms are within a factor 1.5 of the theory where they are "
    "reached, and their accuracies within 15 points of it at every width",
)
def other_activations(t: Table, ask: Ask) -> None:
    """The same weights work for other activations, ReLU among them, at larger widths; GELU only at very large width."""
    cells = t.by("series")
    needed = {series: width_for(cell["width"], cell["mean"], 0.99) for series, cell in cells.items()}
    off = {series: max(cells[series].each(lambda r: abs(r.mean - r.predicted))) for series in PREDICTED}
    theory = {series: cell.first.predicted_width for series, cell in cells.items()}
    factors = [needed[series] / theory[series] for series in PREDICTED if not math.isinf(needed[series])]
    square, widest = needed["x²"], cells[SMALL_GELU].rows[-1]
    ask.yes("The same weights work for ReLU and GELU, at the larger widths that the theory predicts.")
    fault_together(
        ask,
        {
            "ReLU does not get there at a larger width than the square": not 1.5 * square <= needed["ReLU"] < math.inf,
            "GELU gets there early": needed[SMALL_GELU] < 10 * square,
            "the curves are not those of the theory": max(off.values()) > 0.15
            or not all(1 / 1.5 <= factor <= 1.5 for factor in factors),
        },
    )
    late = math.isinf(needed[SMALL_GELU])
    ask.note(f"{SMALL_GELU}: {percent(widest.mean)} at N = {widest.width}, the widest tried.", late)
    ask.note(
        "GELU is late only where the waves carry the network's prefactor 1/√D; on waves of amplitude one it needs "
        f"{number(needed['GELU'] / square, 2)} times the width of the square.",
        needed["GELU"] < 10 * square,
    )
    odd = [
        f"{series} {number(needed[series])} (theory {number(theory[series])})"
        for series in cells
        if series not in PREDICTED and theory[series] and not 1 / 1.5 <= needed[series] / theory[series] <= 1.5
    ]
    ask.note(f"Not where theory says, by the widths tried: {', '.join(odd)}.", odd)
    ask.note("An odd activation (tanh) stays at chance: it makes no wave in n + m.", math.isinf(needed["tanh"]))
    for series, cell in cells.items():
        said = f"99 % at N = {number(needed[series])} (theory {number(theory[series])})"
        ask.show({series: f"{said}; {percent(cell.rows[-1].mean)} at N = {cell.rows[-1].width}"})
    ask.show({f"largest distance from the theory, {series}": value for series, value in off.items()}, percent)


@trained_activations.claim(
    "2",
    "test accuracy ≥ 99 % in every seed for the square, ReLU and GELU, and median grokking steps within a factor of 5 "
    "of each other; a remark beyond a factor of 2",
)
def activations(t: Table, ask: Ask) -> None:
    """Training is only mildly sensitive to the activation."""
    cells = t.by("activation")
    groks = min(t["test_accuracy"]) >= 0.99 and t["grokked_at"].whole()
    medians = {name: float(np.median(cell["grokked_at"])) for name, cell in cells.items() if groks}
    slowest, fastest = (choose(medians, key=medians.__getitem__, default="") for choose in (max, min))
    factor = medians[slowest] / medians[fastest] if groks else math.inf
    late = f"{slowest} takes {factor:.1f} times as long as {fastest}, all at the same rate."
    ask.yes("ReLU and GELU networks grok too, and not much later.")
    ask.fault("Not every activation groks within the profile's steps.", not groks)
    ask.fault(late, groks and factor > 5)
    ask.note(late, factor > 2)
    ask.show({f"grokking step, {name}": cell["grokked_at"] for name, cell in cells.items()})
    ask.show({f"test accuracy, {name}": cell["test_accuracy"] for name, cell in cells.items()}, percent)
    ask.show({"p, α": f"{t.one('modulus')}, {number(t.one('fraction'))}"})
