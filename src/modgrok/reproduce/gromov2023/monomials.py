"""Section 2: the closed form for other monomials than the square.

An even power of cos A + cos B has a wave in A + B, as the square has. An odd one has none, unless a constant is added
to the weights of the first layer: (c + cos A + cos B)^d has one for every d ≥ 2.
"""

from typing import Any

import numpy as np

from modgrok.networks import outputs, score_table
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.reproduce.gromov2023.activations import unit_waves
from modgrok.reproduce.gromov2023.widths import Rows, at_width
from modgrok.tasks import task
from modgrok.text import number, percent, spread

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
    for degree in DEGREES:
        for constant in (0.0, 1.0) if degree % 2 else (0.0,):
            for seed in range(s.closed_seeds):
                waves = unit_waves(addition, WIDTH, f"x^{degree}", False, seed)
                network = waves.replace(w_in=waves.w_in + np.float32(constant / 2))
                found: dict[str, Any] = {"degree": degree, "constant": constant, "seed": seed}
                height = np.asarray(outputs(network, inputs))[np.arange(len(right)), right].mean() / WIDTH
                found |= {"height": height, "predicted": wave_of_sum(degree, constant) / 2}
                accuracy = score_table(network, addition.table).accuracy
                yield at_width(f"x^{degree}", addition, WIDTH) | found | {"accuracy": accuracy}


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
