r"""Neurons that see only how many arguments are zero, for products: the logarithm of zero has no place in Z_{p−1}.

With $z$ the number of arguments without a place, the neuron $h_j = z - j$ has the activation $(z - j)^S$. For
$j = 0, …, S$ these are $S + 1$ independent polynomials of degree S in z, so some combination of them takes any given
values at $z = 0, …, S$. Where every value has its place, z is always 0 and one constant neuron, $h = 1$, is enough.
"""

import numpy as np
from jaxtyping import Float

from modgrok.closed_form.frequencies import placed
from modgrok.closed_form.layers import Layers
from modgrok.tasks.structure.verdict import Coordinate


def has_zeros(coordinate: Coordinate) -> bool:
    """Whether some value of some variable has no place in the group."""
    return any((index < 0).any() for index in coordinate.index)


def neurons_for_zeros(coordinate: Coordinate) -> int:
    """How many neurons `by_zeros` writes."""
    return len(coordinate.index) + 1 if has_zeros(coordinate) else 1


def by_zeros(coordinate: Coordinate, values: Float[np.ndarray, "zeros p"]) -> Layers:
    """Neurons whose output is `values[z]` for every input with z arguments that have no place."""
    arity, modulus = len(coordinate.index), len(coordinate.index[0])
    if not has_zeros(coordinate):
        return Layers(np.full((1, arity, modulus), 1 / arity), values[:1].T)
    counts = np.arange(arity + 1)
    w_in = (1 - placed(coordinate)) - counts[:, None, None] / arity
    activations = (counts[:, None] - counts[None, :]).astype(np.float64) ** arity  # (z, j)
    return Layers(w_in, np.linalg.solve(activations, values).T)


def answer_at_zero(coordinate: Coordinate, modulus: int) -> Float[np.ndarray, "zeros p"]:
    """One-hot of the answer at zero wherever some argument has no place, and nothing elsewhere."""
    values = np.zeros((len(coordinate.index) + 1, modulus))
    if coordinate.at_zero is not None:
        values[1:, coordinate.at_zero] = 1
    return values
