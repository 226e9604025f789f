r"""Weights for products in any finite group, and modulo any number: matrix coefficients in place of waves.

A representation ρ turns products into matrix products, $ρ_{ik}(xy) = \sum_jρ_{ij}(x)ρ_{jk}(y)$, and squares do the
rest: $\sum_j(ρ_{ij}(x) + ρ_{jk}(y))^2 = π(x) + π(y) + 2ρ_{ik}(xy)$, where $π = \sum_jρ_{ij}^2 = \sum_jρ_{jk}^2$ is 1
wherever ρ is not zero: everywhere in a group. The functions $ρ_{ik}$ of all ρ are a basis, so some readout of them is
the one-hot answer, and one constant neuron (two for each π that is not constant, $(π(x) ± π(y))^2$) cancels the rest.

Random vectors do what random phases do (docs/theory.md): neurons $a^Tρ(x)b + b^Tρ(y)c$, read out with $a^Tρ(q)c$, add
up to $2χ(xyq^{-1})/d^3$ on average over unit vectors a, b, c.
"""

from collections.abc import Sequence

import numpy as np

from modgrok.closed_form.frequencies import Branches, inputs_at, onto_answers, preimages
from modgrok.closed_form.matrices import Layers, join
from modgrok.errors import ModgrokError
from modgrok.shapes import Float, Int
from modgrok.tasks.basis import Basis, Representation


def chosen_representations(basis: Basis, numbers: Sequence[int] | None) -> list[Representation]:
    """Representations by their numbers, the trivial one being 0. By default all that are needed on the elements that
    inputs reach: those that are not zero on most of these first, each only if it adds to the functions on them."""
    found = basis.representations
    if numbers is not None:
        if not numbers or any(not 1 <= k < len(found) for k in numbers):
            raise ModgrokError(
                f"The representations of this task besides the trivial one are 1 to {len(found) - 1}, not "
                f"{', '.join(map(str, numbers)) or 'none'}."
            )
        return [found[k] for k in dict.fromkeys(numbers)]
    reached = inputs_at(basis) > 0
    if reached.all():
        return list(found[1:])
    chosen, functions = [], np.full((int(reached.sum()), 1), reached.sum() ** -0.5)  # orthonormal
    for one in sorted(found[1:], key=lambda one: -int(one.support[reached].sum())):
        rest = one.coefficients[reached]
        for _ in range(2):  # twice, for rounding
            rest = rest - functions @ (functions.T @ rest)
        directions, sizes, _ = np.linalg.svd(rest, full_matrices=False)
        if sizes[0] > 1e-9:
            functions = np.concatenate([functions, directions[:, sizes > 1e-9]], axis=1)
            chosen.append(one)
    return chosen


def coefficient_width(basis: Basis, numbers: Sequence[int] | None = None) -> int:
    """Σ d³/t and a constant neuron; two for each indicator π that is not constant."""
    chosen = chosen_representations(basis, numbers)
    indicators = {one.support.tobytes() for one in chosen if not one.support.all()}
    return 1 + 2 * len(indicators) + sum(one.neurons for one in chosen if not one.is_principal)


def coefficient_layers(basis: Basis, numbers: Sequence[int] | None, branches: Branches) -> Layers:
    """The network of width `coefficient_width` whose output is the one-hot answer, or the best approximation to it by
    the representations chosen."""
    chosen, answers = chosen_representations(basis, numbers), len(basis.index[0])
    readout = _readout(basis, chosen, branches, answers)
    constant, layers = readout[0].copy(), []
    straight: dict[bytes, np.ndarray] = {}  # for each indicator, what π(x)π(y) is read out with
    excess: dict[bytes, np.ndarray] = {}  # and what neurons of its representations have added to π(x) + π(y)
    at = 1
    for one in chosen:
        rows = readout[at : at + one.coefficients.shape[1]]
        at += len(rows)
        key = one.support.tobytes()
        excess.setdefault(key, np.zeros(answers))
        if one.is_principal:
            straight[key] = rows[0]
        else:
            excess[key] -= rows.sum(axis=0) / 2
            layers.append(_products(basis, one, rows / 2))
    for key, amount in excess.items():
        support = np.frombuffer(key, dtype=bool)
        if support.all():
            constant += 2 * amount
        else:
            pi = np.stack([support[index].astype(np.float64) for index in basis.index])
            product = straight.get(key, np.zeros(answers))
            w_out = np.stack([amount / 2 + product / 4, amount / 2 - product / 4], axis=1)
            layers.append(Layers(np.stack([pi, pi * [[1], [-1]]]), w_out))
    return join(*layers, Layers(np.full((1, 2, answers), 0.5), constant[:, None]))


def _readout(basis: Basis, chosen: list[Representation], branches: Branches, answers: int) -> Float[np.ndarray, "f q"]:
    """Coefficients with which 1 and the chosen ρ_ik add up to the one-hot answers, in least squares."""
    reached = np.flatnonzero(inputs_at(basis) > 0)
    functions = np.concatenate([np.ones((basis.length, 1)), *(one.coefficients for one in chosen)], axis=1)[reached]
    target = np.eye(answers)[basis.readout[reached]] * preimages(basis, branches)[reached, None]
    return np.linalg.lstsq(functions, target, rcond=1e-12)[0]


def _products(basis: Basis, one: Representation, readout: Float[np.ndarray, "coefficient q"]) -> Layers:
    """For each independent ρ_ik the d neurons (ρ_ij(x) + ρ_jk(y))², all with its readout."""
    d = one.dimension
    left, right = one.matrices[basis.index[0]], one.matrices[basis.index[1]]  # (n, i, j) and (m, j, k)
    rows = d // one.type
    first = np.broadcast_to(left[:, :: one.type, None], (len(left), rows, d, d))  # (n, i, k, j)
    second = np.broadcast_to(right.transpose(0, 2, 1)[:, None], (len(right), rows, d, d))
    w_in = np.stack([side.reshape(len(side), -1).T for side in (first, second)], axis=1)
    return Layers(w_in, np.repeat(readout, d, axis=0).T)


def neurons_by_representation(basis: Basis, numbers: Sequence[int] | None, count: int) -> Int[np.ndarray, "rho"]:
    """How many of `width` neurons with random vectors each representation gets: in proportion to d³/t."""
    chosen = [0] * len(basis.representations)
    for k in numbers or range(1, len(chosen)):
        chosen[k] = basis.representations[k].neurons
    share = np.array(chosen) * count / sum(chosen)
    found = np.floor(share).astype(np.int64)
    found[np.argsort(found - share, kind="stable")[: count - found.sum()]] += 1
    return found


def vector_layers(
    basis: Basis,
    numbers: Sequence[int] | None,
    width: int,
    branches: Branches,
    rng: np.random.Generator,
    constant: bool = False,
) -> Layers:
    """Neurons with random unit vectors; the right answer's output averages to 1, with `constant` all others to 0."""
    counts, scale = _allotted(basis, numbers, width, constant)
    order, answers, parts = basis.length, len(basis.index[0]), []
    for one, count in zip(basis.representations, counts.tolist(), strict=True):
        if not count:
            continue
        d, t = one.dimension, one.type
        a, b, c = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in rng.standard_normal((3, count, d)))
        size = np.cbrt(scale * d**4 / (2 * t * order * count))
        blocks = [size * np.einsum("ni,xij,nj->nx", u, one.matrices, v) for u, v in ((a, b), (b, c), (a, c))]
        w_in = np.stack([blocks[0][:, basis.index[0]], blocks[1][:, basis.index[1]]], axis=1)
        parts.append(Layers(w_in, onto_answers(basis, blocks[2].T, branches)))
    if constant:
        values = onto_answers(basis, np.full((order, 1), 1 / order), branches)
        parts.append(Layers(np.full((1, 2, answers), 0.5), values))
    return join(*parts)


def expected_vector_loss(
    basis: Basis, width: int, numbers: Sequence[int] | None = None, constant: bool = False
) -> float:
    r"""Mean squared error of `vector_layers` over all inputs and answers, averaged over the vectors: exact, where every
    element is one value of each variable and one answer.

    $\frac1{|G|}\big[\mathrm{bias}^2 + \sum_ρN_ρA_ρ^2|G|(\frac6{d^2(d+2)} + \frac6{d^3} - \frac{4t}{d^6})\big]$ with
    $A_ρ = d^4/(2t|G|N_ρ)$ (docs/theory.md): for Z_p with all frequencies equally often, $4(p-1)^2/(p^2N)$.
    """
    order = basis.length
    if any(len(np.unique(part)) < order for part in (*basis.index, basis.readout)):
        raise ModgrokError("The loss of random vectors is known where every element is one value and one answer.")
    counts, scale = _allotted(basis, numbers, width, constant)
    bias, variance = 0.0 if constant else 1 / order, 0.0
    for one, count in zip(basis.representations[1:], counts[1:].tolist(), strict=True):
        d, t = one.dimension, one.type
        bias += (scale - 1 if count else 1) ** 2 * d**2 / (t * order)
        if count:
            size = scale * d**4 / (2 * t * order * count)
            variance += count * size**2 * order * (6 / (d**2 * (d + 2)) + 6 / d**3 - 4 * t / d**6)
    return (bias + variance) / order


def _allotted(
    basis: Basis, numbers: Sequence[int] | None, width: int, constant: bool
) -> tuple[Int[np.ndarray, "rho"], float]:
    """Neurons of each representation, and the factor that makes the right answer's mean 1."""
    chosen_representations(basis, numbers)
    if width < 1 + constant:
        raise ModgrokError(f"width must be at least {1 + constant} for this task, not {width}.")
    counts = neurons_by_representation(basis, numbers, width - constant)
    whole = sum(one.dimension**2 / one.type for one, count in zip(basis.representations, counts, strict=True) if count)
    return counts, (basis.length - constant) / whole
