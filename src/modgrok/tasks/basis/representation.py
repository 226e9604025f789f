r"""Real irreducible representations, from a table of products alone.

A real irreducible representation ρ of a group G is orthogonal after a change of basis. The matrices that commute with
it form a field, the real numbers, the complex numbers or the quaternions, of real dimension t (its *type*), and the
matrix coefficients $\sqrt{d/|G|}\,ρ_{ik}$ of $d/t$ rows i, over all ρ, are an orthonormal basis of the functions on G:
$\sum_ρ d^2/t = |G|$. For Z_L these are the waves of Fourier, for bits those of Walsh.

They are found in the functions on G themselves. A symmetric operator $f(x) \mapsto \sum_h w(h) f(xh)$ with random
$w(h) = w(h^{-1})$ commutes with all $f(x) \mapsto f(g^{-1}x)$, and its eigenspaces are irreducible: on the part of ρ it
is a random Hermitian matrix over ρ's field, whose eigenvalues differ.

Products of numbers are no group, but where every element lies in a group inside the monoid (residues modulo a
squarefree M, a group with a zero) the same holds: for each idempotent e and each representation ρ of the group around
it, $x \mapsto ρ(xe)$, zero where xe lies outside, respects products, and all of these together are a basis.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Bool, Float, Int
from modgrok.tasks.basis.group import Cayley, classes, generators, identity, inverses

FIELDS = {1: "real", 2: "complex", 4: "quaternionic"}
TRIES = 20
PRECISION = 1e-12
"""Largest error of ρ(g)ρ(h) = ρ(gh) that is accepted at once; below the smallest, the best of `TRIES` is taken."""
ROUGH = 1e-8


@dataclass(frozen=True, eq=False, repr=False)
class Representation:
    """A real irreducible representation, orthogonal where it is not zero."""

    matrices: Float[np.ndarray, "x d d"]
    """ρ(x) of every element; zero where the element has no image (never in a group). In blocks of `type` columns, so
    that rows 0, t, 2t, … have independent coefficients."""
    type: int
    """Real dimension t of the field that commutes with it: 1 real, 2 complex, 4 quaternionic."""

    def __repr__(self) -> str:
        return f"Representation(dimension={self.dimension}, {FIELDS[self.type]})"

    @property
    def dimension(self) -> int:
        """d, over the real numbers."""
        return self.matrices.shape[1]

    @property
    def neurons(self) -> int:
        """d³/t: how many neurons the exact network needs for it, the trivial one excepted."""
        return self.dimension**3 // self.type

    @cached_property
    def character(self) -> Float[np.ndarray, "x"]:
        """The trace of every ρ(x)."""
        return np.trace(self.matrices, axis1=1, axis2=2)

    @cached_property
    def support(self) -> Bool[np.ndarray, "x"]:
        """Elements with an image; all of a group."""
        return np.square(self.matrices[:, 0]).sum(axis=1) > 0.5

    @property
    def is_principal(self) -> bool:
        """Whether it is 1 wherever it is not 0; the trivial one is 1 everywhere."""
        return self.dimension == 1 and np.array_equal(self.matrices[:, 0, 0] > 0.5, self.support)

    @property
    def is_trivial(self) -> bool:
        return self.is_principal and bool(self.support.all())

    @property
    def is_faithful(self) -> bool:
        """Whether different elements have different matrices."""
        flat = np.round(self.matrices.reshape(len(self.matrices), -1), 6) + 0.0
        return len(np.unique(flat, axis=0)) == len(flat)

    @property
    def coefficients(self) -> Float[np.ndarray, "x coefficient"]:
        """The d²/t independent functions ρ_ik, with i = 0, t, 2t, …"""
        return self.matrices[:, :: self.type].reshape(len(self.matrices), -1)


def names(dimensions: list[int]) -> list[str]:
    """4 and 4′ for the first and the second representation of dimension 4."""
    return [f"{d}{'′' * dimensions[:k].count(d)}" for k, d in enumerate(dimensions)]


def representations(table: Int[np.ndarray, "x x"]) -> tuple[Representation, ...]:
    """All of a group, or of a monoid of groups: the trivial one first, then by dimension and character.

    An error where some element lies in no group: its products are then no sum of matrix products.
    """
    elements = np.arange(len(table))
    found = []
    for e in np.flatnonzero(np.diagonal(table) == elements).tolist():
        moved = table[e]  # x e
        powers, inside = moved, np.zeros(len(table), dtype=bool)
        for _ in elements:
            powers = table[powers, moved]
            inside |= powers == e
        members = np.flatnonzero(inside & (moved == elements))
        if not np.array_equal(table[e], table[:, e]):
            break
        number = np.zeros(len(table), dtype=np.int64)
        number[members] = np.arange(len(members))
        for one in _of_group(number[table[np.ix_(members, members)]]):
            lifted = one.matrices[number[moved]] * inside[:, None, None]
            found.append(Representation(lifted, one.type))
    if sum(one.dimension**2 // one.type for one in found) != len(table):
        raise ModgrokError(
            "Every element must lie in a group inside the monoid, as residues modulo a squarefree number do."
        )
    return tuple(sorted(found, key=lambda one: (not one.is_trivial, *_order(one))))


def waves(length: int) -> tuple[Representation, ...]:
    """Those of Z_L: the trivial one, then the frequencies 1 … ⌊L/2⌋ as rotations; ±1 for L/2."""
    found = [Representation(np.ones((length, 1, 1)), 1)]
    for k in range(1, length // 2 + 1):
        angle = 2 * np.pi / length * (k * np.arange(length) % length)
        if 2 * k == length:
            found.append(Representation(np.cos(angle)[:, None, None], 1))
        else:
            c, s = np.cos(angle), np.sin(angle)
            found.append(Representation(np.moveaxis(np.array([[c, -s], [s, c]]), 2, 0), 2))
    return tuple(found)


def _order(one: Representation) -> tuple[float, ...]:
    return (float(one.dimension**2 // one.type), *(-np.round(one.character / one.dimension, 6)).tolist())


def _of_group(table: Cayley) -> list[Representation]:
    """Representations of a group, from the best of a few random operators."""
    best, least, generating = None, ROUGH, list(generators(table))
    for seed in range(TRIES):
        found = _split(table, np.random.default_rng(seed))
        if found is None:
            continue
        error = max(homomorphism_error(one, table, generating) for one in found)
        if error < least:
            best, least = found, error
        if least < PRECISION:
            break
    if best is None:
        raise ModgrokError(f"The representations of this group of order {len(table)} could not be told apart.")
    return best


def homomorphism_error(one: Representation, table: Cayley, generating: Iterable[int]) -> float:
    """The largest entry of ρ(g)ρ(h) − ρ(gh) over generators g and all h, and of ρ(h)ρ(h)ᵀ − 1."""
    rho = one.matrices
    wrong = [abs(rho[g] @ rho - rho[table[g]]).max() for g in generating]
    return float(max([abs(rho @ rho.swapaxes(1, 2) - np.eye(one.dimension)).max(), *wrong]))


def _split(table: Cayley, rng: np.random.Generator) -> list[Representation] | None:
    """One representation of each kind; None where two eigenvalues could not be told apart."""
    order, inverse = len(table), inverses(table)
    weights = rng.standard_normal(order)
    operator = np.zeros((order, order))
    operator[np.arange(order)[:, None], table] = weights + weights[inverse]
    values, vectors = np.linalg.eigh(operator)
    cuts = np.flatnonzero(np.diff(values) > 1e-9 * np.abs(values).max()) + 1
    back, kinds = table[inverse], np.unique(classes(table))  # g⁻¹ x at [g, x]
    found: dict[tuple[float, ...], Representation] = {}
    for space in np.split(vectors, cuts, axis=1):
        traces = np.einsum("xi,gxi->g", space, space[back[kinds]])
        character = tuple(np.round(traces, 4).tolist())
        if character not in found:
            one = _adapted(space.T @ space[back], space[[identity(table), *range(order)]])
            if one is None:
                return None
            found[character] = one
    complete = sum(one.dimension**2 // one.type for one in found.values()) == order
    return list(found.values()) if complete else None


def _adapted(rho: Float[np.ndarray, "x d d"], starts: Float[np.ndarray, "start d"]) -> Representation | None:
    """An irreducible representation in a basis v, iv, (jv, kv), w, iw, … over its field; None where it is reducible.

    Each v is the first of the starts, less its part along those before, that is not too short.
    """
    order, d = rho.shape[:2]
    type_ = round(float(np.square(np.trace(rho, axis1=1, axis2=2)).sum()) / order)
    if type_ not in FIELDS or d % type_:
        return None
    units, rng = [np.eye(d)], np.random.default_rng(0)
    for _ in range({1: 0, 2: 1, 4: 2}[type_]):
        x = rng.standard_normal((d, d))
        unit = np.mean(rho @ (x - x.T) @ rho.swapaxes(1, 2), axis=0)
        for known in units:
            unit = unit - (known * unit).sum() / d * known
        units.append(unit / np.sqrt(np.square(unit).sum() / d))
    if type_ == 4:
        units.append(units[1] @ units[2])
    chosen = np.zeros((d, 0))
    for start in starts:
        v = start - chosen @ (chosen.T @ start)
        if np.square(v).sum() > 0.1 * np.square(start).sum():
            v = v - chosen @ (chosen.T @ v)
            chosen = np.column_stack([chosen, *(unit @ v / np.linalg.norm(v) for unit in units)])
        if chosen.shape[1] == d:
            return Representation(chosen.T @ rho @ chosen, type_)
    return None
