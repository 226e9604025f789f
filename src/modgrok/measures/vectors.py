r"""Neurons on a group: which representation each has, whether its blocks are of rank one, whether they share vectors.

In the closed form a neuron of the representation ρ reads $a^Tρ(g)b + b^Tρ(h)c$ and writes $a^Tρ(q)c$. A block u of a
trained one is held against it through $M = \sum_gu(g)ρ(g)$, which for $u(g) = a^Tρ(g)b$ is $ab^*$ up to a factor,
with \* the conjugate over the field that commutes with ρ. There M has rank one; as a real matrix each of its singular
values comes t times (t = 1, 2, 4: real, complex, quaternionic). Its singular vectors are a and b up to a common factor
of the field, which cancels between blocks: $\langle b, b'\rangle\langle c, c'\rangle\langle a', a\rangle$ does not
depend on the choice and is 1 in the closed form, as $e^{i(φ_1 + φ_2 - φ_3)}$ is for waves.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.measures.cleaning import CleaningRow
from modgrok.measures.spectrum import DEAD
from modgrok.measures.triples import dead_neurons, with_blocks
from modgrok.networks import Network, as_numpy, grid, score_table
from modgrok.networks.activation import activation
from modgrok.networks.scoring import blocks as input_blocks
from modgrok.networks.two_layer import hidden
from modgrok.shapes import Float, Int, Integer
from modgrok.tasks.basis import Basis, Representation
from modgrok.tasks.basis.group import inverses

CLEAR = 0.5
"""Share of a neuron's power in one representation above which it counts as one of it."""
RANK_ONE, OWN_RANK_ONE, SHARED, UNSHARED = (
    "rank one",
    "rank one, each block its own representation",
    "rank one, vectors shared",
    "rank one, vectors of other neurons",
)
VECTOR_CAUTIONS = {
    RANK_ONE: "supposes that the blocks of a neuron share a representation",
    OWN_RANK_ONE: "supposes only that every block is a matrix coefficient of rank one",
    SHARED: "supplies the answer itself: every readout is made of the vectors of its inputs",
    UNSHARED: "is the control: the second block comes from another neuron of the same representation",
}
"""Names of rows of the table of vectors, and what each can and cannot show."""


class NeuronVectors(NamedTuple):
    """Every neuron against the closed form; one without a representation (dead, constant) has number 0, else NaN."""

    representation: Integer[np.ndarray, "N"]
    """Number of the one with most power in the two input blocks, the trivial one left out."""
    share: Float[np.ndarray, "N"]
    """Share of the power of all three blocks that is in it."""
    rank_one: Float[np.ndarray, "N 3"]
    """Share of each block's part in it that has rank one over its field."""
    agreement: Float[np.ndarray, "N 3"]
    """|⟨a, a′⟩|, |⟨b, b′⟩|, |⟨c, c′⟩|: 1 where two blocks share a vector."""
    gap: Float[np.ndarray, "N"]
    """Angle between ⟨b, b′⟩⟨c, c′⟩⟨a′, a⟩ and 1, 0 to π: a sign for real representations, |φ1 + φ2 − φ3| for waves."""

    @property
    def clear(self) -> Any:
        """Which neurons have more than `CLEAR` of their power in one representation."""
        return np.nan_to_num(self.share) > CLEAR


def neuron_vectors(network: Network, basis: Basis) -> NeuronVectors:
    """The representation and the vectors of every neuron of a two-layer network on a group."""
    blocks, power, chosen = _dominant(network, basis)
    total, alive = np.square(blocks).sum(axis=(1, 2)), chosen > 0
    own = np.take_along_axis(power, chosen[:, None, None], axis=2)[..., 0]
    share = np.divide(own.sum(axis=1), total, out=np.full(len(total), np.nan), where=alive)
    rank_one, agreement = np.full((2, len(total), 3), np.nan)
    gap = np.full(len(total), np.nan)
    for _, one, (neurons,) in _members(chosen, basis):
        u, values, v = _decomposed(blocks[neurons], one)
        squares = np.square(values)
        rank_one[neurons] = squares[..., : one.type].sum(axis=-1) / squares.sum(axis=-1)
        pairs = (u[:, 0], u[:, 2]), (v[:, 0], u[:, 1]), (v[:, 1], v[:, 2])
        overlaps = [np.linalg.norm(x.swapaxes(1, 2) @ y, axis=(1, 2)) / one.type**0.5 for x, y in pairs]
        agreement[neurons] = np.stack(overlaps, axis=1)
        turned = [x @ y.swapaxes(-1, -2) for x, y in zip(np.moveaxis(u, 1, 0), np.moveaxis(v, 1, 0), strict=True)]
        whole = np.einsum("nij,njk,nik->n", *turned) / one.type
        size = agreement[neurons].prod(axis=1)
        gap[neurons] = np.arccos(np.clip(whole / np.where(size > 0, size, 1), -1, 1))
    return NeuronVectors(chosen, share, rank_one, agreement, gap)


def representation_counts(
    vectors: NeuronVectors, basis: Basis
) -> tuple[Int[np.ndarray, "rho"], Float[np.ndarray, "rho"]]:
    """Clear neurons of each representation, and how many in proportion to d³/t; the trivial one has none."""
    counts = np.bincount(vectors.representation[vectors.clear], minlength=len(basis.representations))
    odds = np.array([0 if k == 0 else one.neurons for k, one in enumerate(basis.representations)])
    return counts, counts.sum() * odds / odds.sum()


def ablate_representation(network: Network, basis: Basis, number: int, alone: bool = False) -> Network:
    """Without the neurons whose strongest representation has this number, or with them alone."""
    if not 1 <= number < len(basis.representations):
        raise ModgrokError(f"Representations have the numbers 1 to {len(basis.representations) - 1}, not {number}.")
    kept = (_dominant(network, basis)[2] == number) == alone
    return with_blocks(network, np.concatenate([network.w_in, network.w_out.T[:, None]], axis=1) * kept[:, None, None])


def representation_accuracies(
    network: Network, table: Integer[np.ndarray, "n m"], vectors: NeuronVectors
) -> tuple[dict[int, float], dict[int, float]]:
    """Accuracy over the whole table without the neurons of each representation that has any, and with them alone;
    every neuron counts to its strongest, clear or not."""
    network, answers = as_numpy(network), np.asarray(table).reshape(-1)
    numbers = np.unique(vectors.representation)
    right = np.zeros((2, len(numbers)))
    for part in input_blocks(network, answers.size):
        units = activation(network.activation)(hidden(network, grid(table.shape, part.start, part.stop)))
        own = np.stack([units[:, of] @ network.w_out[:, of].T for of in vectors.representation == numbers[:, None]])
        for i, outputs in enumerate((own.sum(axis=0) - own, own)):
            right[i] += (outputs.argmax(axis=2) == answers[part]).sum(axis=1)
    shares = right / answers.size
    without, alone = (dict(zip(numbers.tolist(), row.tolist(), strict=True)) for row in shares)
    return without, alone


def middle_share(network: Network, basis: Basis, vectors: NeuronVectors) -> Float[np.ndarray, "rho"]:
    """Largest part of the middle vectors b of each representation's clear neurons along one direction over its field: 1
    where all have the same, t/d where none is preferred, NaN where there are no neurons or d = t."""
    blocks, found = group_blocks(network, basis), np.full(len(basis.representations), np.nan)
    for k, one, (neurons,) in _members(np.where(vectors.clear, vectors.representation, 0), basis):
        if one.dimension > one.type:
            b = _decomposed(blocks[neurons], one)[2][:, 0]
            found[k] = np.linalg.eigvalsh(np.mean(b @ b.swapaxes(1, 2), axis=0))[-1]
    return found


def vector_table(network: Network, table: Integer[np.ndarray, "n m"], basis: Basis) -> list[CleaningRow]:
    """Loss and accuracy on the whole table after each operation: nothing, one representation for each neuron, rank one
    in it, every block its own, shared vectors, vectors of other neurons. `VECTOR_CAUTIONS` says what they show."""
    network = as_numpy(network, np.float64)
    blocks, power, chosen = _dominant(network, basis)
    each = np.broadcast_to(chosen[:, None], power.shape[:2])
    own = np.where(each > 0, power[..., 1:].argmax(axis=2) + 1, 0)
    cleaned = {
        "as it is": network,
        "one representation each": _with_functions(network, basis, _projected(blocks, basis, each, None)),
        RANK_ONE: _with_functions(network, basis, _projected(blocks, basis, each, 1)),
        OWN_RANK_ONE: _with_functions(network, basis, _projected(blocks, basis, own, 1)),
        SHARED: shared_vectors(network, basis),
        UNSHARED: shared_vectors(network, basis, shuffle=0),
    }
    return [CleaningRow.of(name, score_table(net, table)) for name, net in cleaned.items()]


def shared_vectors(network: Network, basis: Basis, shuffle: int | None = None) -> Network:
    r"""Every neuron of rank one in its representation, with the readout $a^Tρ(q)c$ of its input blocks' own vectors at
    the same size: what φ3 = φ1 + φ2 is for waves. With `shuffle`, a seed, the readout stays, and the second block
    is that of another neuron of the same representation."""
    blocks, _, chosen = _dominant(network, basis)
    result = _projected(blocks, basis, np.broadcast_to(chosen[:, None], blocks.shape[:2]), 1)
    for k, one, (neurons,) in _members(chosen, basis):
        if shuffle is not None:
            result[neurons, 1] = result[np.random.default_rng((shuffle, k)).permutation(neurons), 1]
            continue
        u, values, v = _decomposed(blocks[neurons], one)
        turned = u[:, 0] @ v[:, 0].swapaxes(1, 2) @ u[:, 1] @ v[:, 1].swapaxes(1, 2)
        size = values[:, 2, : one.type].mean(axis=1) / np.linalg.norm(turned, axis=(1, 2)).clip(1e-300)
        result[neurons, 2] = _functions(turned * (size * one.type**0.5)[:, None, None], one)
    return _with_functions(network, basis, result)


def rescale_representations(network: Network, basis: Basis, factors: Sequence[float]) -> Network:
    """The network with the part of every block in each representation multiplied by its factor."""
    blocks = group_blocks(network, basis)
    parts = (
        factor * _functions(np.einsum("nbx,xij->nbij", blocks, one.matrices, optimize=True), one)
        for factor, one in zip(factors, basis.representations, strict=True)
    )
    return _with_functions(network, basis, sum(parts, np.zeros_like(blocks)))


def group_blocks(network: Network, basis: Basis) -> Float[np.ndarray, "N 3 L"]:
    """Both input blocks and the readout as functions on the group. Values that share an element are averaged, an
    answer of several elements is dealt to them."""
    network = as_numpy(network, np.float64)
    if len(basis.index) != 2 or any((index < 0).any() for index in basis.index):
        raise ModgrokError("Vectors need neurons on a product of two elements of a group.")
    shared = np.bincount(basis.readout, minlength=network.signature.outputs)
    readout = (network.w_out.T / shared.clip(1))[:, basis.readout]
    return np.concatenate([on_elements(network.w_in, basis), readout[:, None]], axis=1)


def on_elements(w_in: Float[np.ndarray, "N S p"], basis: Basis) -> Float[np.ndarray, "N S L"]:
    """Input weights as functions on the group; values that share an element are averaged."""
    found = []
    for s, index in enumerate(basis.index):
        count = np.bincount(index, minlength=basis.length)
        found.append(w_in[:, s] @ (index[:, None] == np.arange(basis.length)) / count.clip(1))
    return np.stack(found, axis=1)


def _with_functions(network: Network, basis: Basis, functions: Float[np.ndarray, "N 3 L"]) -> Network:
    """The network with these functions on the group as its weights."""
    network = as_numpy(network, np.float64)
    readout = np.zeros_like(network.w_out)
    np.add.at(readout, basis.readout, functions[:, 2].T)
    blocks = [functions[:, s][:, index] for s, index in enumerate(basis.index)]
    return with_blocks(network, np.stack([*blocks, readout.T], axis=1))


def representation_power(blocks: Float[np.ndarray, "N B L"], basis: Basis) -> Float[np.ndarray, "N B rho"]:
    """Power of every block in every representation."""
    if not all(one.support.all() for one in basis.representations):
        raise ModgrokError("Vectors need a group, but this product is only a monoid's.")
    parts = [one.dimension * np.square(blocks @ one.coefficients).sum(axis=2) for one in basis.representations]
    return np.stack(parts, axis=2) / basis.length


def _dominant(network: Network, basis: Basis) -> tuple[np.ndarray, np.ndarray, Integer[np.ndarray, "N"]]:
    """All blocks, their power in every representation (N, 3, rho), and the strongest of each neuron's inputs; 0 for
    dead neurons and constants."""
    blocks = group_blocks(network, basis)
    power = representation_power(blocks, basis)
    inputs = power[:, :2].sum(axis=1)
    inputs[:, 0] = 0
    alive = ~dead_neurons(blocks) & (inputs.max(axis=1) > 1e-24 * np.square(blocks).sum(axis=(1, 2)))
    return blocks, power, np.where(alive, inputs.argmax(axis=1), 0)


def _members(
    chosen: Integer[np.ndarray, "*n"], basis: Basis
) -> Iterator[tuple[int, Representation, tuple[np.ndarray, ...]]]:
    """Number, representation and members of every representation but the trivial one that has any."""
    for k, one in enumerate(basis.representations):
        if k and len((members := np.nonzero(chosen == k))[0]):
            yield k, one, members


def _decomposed(blocks: Float[np.ndarray, "n 3 L"], one: Representation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Singular values of every M, and the t first left and right singular vectors as columns."""
    matrices = np.einsum("nbx,xij->nbij", blocks, one.matrices, optimize=True)
    u, values, v = np.linalg.svd(matrices)
    return u[..., : one.type], values, v[..., : one.type, :].swapaxes(-1, -2)


def _functions(matrices: Float[np.ndarray, "*n d d"], one: Representation) -> Float[np.ndarray, "*n L"]:
    """The function on the group whose M this is."""
    scale = one.dimension / (one.type * len(one.matrices))
    return scale * np.einsum("...ij,xij->...x", matrices, one.matrices, optimize=True)


def _projected(
    blocks: Float[np.ndarray, "N 3 L"], basis: Basis, chosen: Integer[np.ndarray, "N 3"], rank: int | None
) -> Float[np.ndarray, "N 3 L"]:
    """Every block's part in its chosen representation, of a rank over its field; blocks without one stay."""
    result = blocks.copy()
    for _, one, (neurons, block) in _members(chosen, basis):
        matrices = np.einsum("nx,xij->nij", blocks[neurons, block], one.matrices, optimize=True)
        if rank is not None:
            u, values, v = np.linalg.svd(matrices)
            kept = rank * one.type
            matrices = (u[..., :kept] * values[:, None, :kept]) @ v[:, :kept]
        result[neurons, block] = _functions(matrices, one)
    return result


class GroupData(NamedTuple):
    """A group as arrays whose shapes depend on its order alone, for measures that are traced."""

    functions: Float[Any, "L L"]
    """An orthonormal basis of matrix coefficients, one in each column."""
    representation: Integer[Any, "L"]
    """The representation of each of them."""
    dimension: Float[Any, "L"]
    """Of representation number 0, 1, …; 0 beyond the last."""
    divided: Integer[Any, "L L"]
    """x⁻¹ y at [x, y]."""
    index: Integer[Any, "2 L"]
    """The value of each variable at every element."""
    readout: Integer[Any, "L"]
    """The answer at every element."""


def group_data(basis: Basis | None) -> GroupData:
    """The arrays of a task's group; an error where values and elements are not one to one."""
    order = 0 if basis is None else basis.length
    if (
        basis is None
        or len(basis.index) != 2
        or any(not np.array_equal(np.sort(part), np.arange(order)) for part in (*basis.index, basis.readout))
    ):
        raise ModgrokError("This measure needs the product of a group, with one value for each element.")
    found = basis.representations
    functions = np.concatenate([one.coefficients * (one.dimension / order) ** 0.5 for one in found], axis=1)
    number = np.repeat(np.arange(len(found)), [one.dimension**2 // one.type for one in found])
    dimension = np.zeros(order)
    dimension[: len(found)] = [one.dimension for one in found]
    product = basis.product if basis.product is not None else np.add.outer(np.arange(order), np.arange(order)) % order
    index = np.stack([np.argsort(part) for part in basis.index])
    return GroupData(functions, number, dimension, product[inverses(product)], index, basis.readout)


def vector_measures(w_in: Any, w_out: Any, group: GroupData) -> tuple[Any, Any, Any]:
    r"""Means over the neurons that are not dead, traced or not: the share of power in the strongest representation, how
    near its blocks are to rank one, and how far they share vectors.

    With u, v, w the blocks' parts in ρ: $\frac d{|G|}\|u*\tilde u\|^2/\|u\|^4$, the inverse participation ratio of the
    singular values over ρ's field, 1 for rank one; and $\sqrt{d/|G|}\,\langle u*v, w\rangle/\|u\|\|v\|\|w\|$, 1 in the
    closed form and 0 on average for random vectors. Here $(u*v)(x) = \sum_gu(g)v(g^{-1}x)$, $\tilde u(x) = u(x^{-1})$.
    """
    xp = namespace(w_in)
    blocks = xp.stack([w_in[:, 0][:, group.index[0]], w_in[:, 1][:, group.index[1]], w_out.T[:, group.readout]], axis=1)
    order = blocks.shape[2]
    functions = xp.asarray(group.functions).astype(blocks.dtype)
    parts = blocks @ functions
    belongs = (group.representation[:, None] == np.arange(order)[None, :]).astype(blocks.dtype)
    power = (parts**2) @ belongs  # (N, 3, rho)
    inputs = power[:, :2].sum(axis=1) * (np.arange(order) > 0).astype(blocks.dtype)[None, :]
    chosen = inputs.argmax(axis=1)
    own = (group.representation[None, :] == chosen[:, None]).astype(blocks.dtype)
    total = (parts**2).sum(axis=(1, 2))
    projected = (parts * own[:, None, :]) @ functions.T
    alive = total > DEAD * total.max()
    found = xp.where(alive[:, None], (projected**2).sum(axis=2), xp.ones_like(projected[:, :, 0]))
    unit = projected / xp.sqrt(xp.where(found > 0, found, xp.ones_like(found)))[:, :, None]
    share = found.sum(axis=1) / xp.where(alive, total, xp.ones_like(total))
    scale = xp.asarray(group.dimension).astype(blocks.dtype)[chosen] / order
    ranks = []
    for b in range(3):
        turned = unit[:, b][:, group.divided]  # (N, g, x): at g⁻¹x
        ranks.append((xp.einsum("nx,ngx->ng", unit[:, b], turned) ** 2).sum(axis=1))
        if b == 1:
            both = xp.einsum("ng,ngx->nx", unit[:, 0], turned)
    shared = xp.sqrt(scale) * (both * unit[:, 2]).sum(axis=1)
    weight = alive.astype(blocks.dtype) / alive.sum().astype(blocks.dtype)
    return (share * weight).sum(), (scale * sum(ranks) / 3 * weight).sum(), (shared * weight).sum()
