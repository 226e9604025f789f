"""Fig. A1: the closed form's weights under other activations, against width."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.interference import expected_accuracy, width_needed
from modgrok.networks import Network, score_table
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.fig3 import draw_by_width
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, mean
from modgrok.tasks import Task, task
from modgrok.text import count

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
ODD = ("tanh",)
"""Odd functions make no wave in n + m: nothing grows with the width."""
ODD_LIMIT = 1024
"""Width beyond which odd functions are not tried."""


def unit_waves(addition: Task, width: int, activation: str, scaled: bool, seed: int) -> Network:
    """The paper's weights as printed (`eq_sol1`): cosines of amplitude 1, with the prefactor 1/√D or without."""
    network = solve(
        addition, "waves", width, activation=activation, parametrization="standard", seed=seed, dtype=np.float32
    )
    amplitude = np.float32((2 / width) ** (1 / 3))
    prefactor = np.float32((2 * addition.modulus) ** -0.5 if scaled else 1)
    return network.replace(w_in=network.w_in * (prefactor / amplitude), w_out=network.w_out / amplitude)


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Accuracy over all pairs for every width and draw, up to the first width where all draws are always right."""
    addition = task("n + m", profile.modulus)
    return {
        "modulus": profile.modulus,
        "seeds": profile.closed_seeds,
        "limit": profile.activation_widths[-1],
        "activations": {label: _accuracies(addition, *chosen, profile) for label, chosen in ACTIVATIONS.items()},
    }


def _accuracies(addition: Task, activation: str, scaled: bool, profile: Profile) -> dict[str, Any]:
    widths: list[int] = []
    cells: list[list[float]] = []
    perfect = None
    for width in profile.activation_widths:
        networks = (unit_waves(addition, width, activation, scaled, seed) for seed in range(profile.closed_seeds))
        cells.append([score_table(network, addition.table).accuracy for network in networks])
        widths.append(width)
        if min(cells[-1]) == 1:
            perfect = width
            break
        if activation in ODD and width >= ODD_LIMIT:
            break
    scale = (2 * addition.modulus) ** -0.5 if scaled else 1.0
    return {
        "widths": widths,
        "predicted": [expected_accuracy(activation, addition.modulus, width, scale) for width in widths],
        "predicted_width": width_needed(activation, addition.modulus, 0.99, scale),
        "accuracy": cells,
        "mean": [mean(cell) for cell in cells],
        "least": [min(cell) for cell in cells],
        "most": [max(cell) for cell in cells],
        "perfect_at": perfect,
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, 5.6, 3.2)
    panel = panels[0, 0]
    draw_by_width(panel, n["activations"], ("mean", "least", "most"))
    for color, series in zip(SERIES, n["activations"].values(), strict=False):
        panel.plot(series["widths"], series["predicted"], color=color, linestyle="--", linewidth=0.9)
    panel.plot([], [], color=GRAY, linestyle="--", linewidth=0.9, label="theory")
    panel.set_ylabel("accuracy on all pairs")
    panel.set_title("the closed form's weights: only the width they need depends on the activation")
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    style.note(
        figure,
        f"n + m mod {n['modulus']}, weights written down; mean and range of {n['seeds']} draws, N ≤ "
        f"{count(n['limit'])}; dashed: theory, the outputs as independent Gaussians with their exact moments",
    )
    return figure


STUDY = Study(
    "figA1",
    "The same weights, other activations",
    "Accuracy of the closed form's weights, derived for the square, when another function is applied to the hidden "
    "layer. Even parts do the work: every activation with one gets there at some width. GELU is as good as ReLU on "
    "waves of amplitude one, and late where they carry the prefactor 1/√D of the paper's network, since it is almost "
    "linear there. Odd functions (tanh) produce no wave in n + m, stay at chance and are not tried beyond N = 1024; "
    "all others end at 100 %, or at the profile's limit. The dashed lines are no fits: they follow from the moments of "
    "the activation on random phases, which for |x| and ReLU prove that the weights work, and for GELU that the width "
    "needed grows as D (docs/theory.md).",
    numbers,
    draw=draw,
)
