r"""How neurons are dealt to representations, against the width.

Where the neurons of ρ have rank one and shared, isotropic vectors, the products of their blocks' norms have to add up
to $\sqrt{|G|}\,d^{5/2}/2t$ (times DN) for the network to be exact, whatever their number (docs/theory.md). Neurons of
equal norms are therefore dealt in proportion to $d^{5/2}/t$; the exact network's own count is d³/t.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.vectors import NeuronVectors, group_blocks, neuron_vectors, representation_counts
from modgrok.networks import Network
from modgrok.palette import GRAY
from modgrok.reproduce.figures import named_lines, seeds
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.groups.sizes import basis_of, wider
from modgrok.shapes import Float
from modgrok.tasks.basis import Basis
from modgrok.text import number

EQUAL_NORMS, CUBES = 2.5, 3.0


def dealt(network: Network, basis: Basis, vectors: NeuronVectors) -> dict[str, Any]:
    """Clear neurons of each representation but the trivial one, and the sum of the products of their blocks' norms."""
    products = np.linalg.norm(group_blocks(network, basis), axis=2).prod(axis=1)
    of = vectors.representation[vectors.clear]
    sums = np.bincount(of, products[vectors.clear], minlength=len(basis.representations))
    return {
        "clear": vectors.clear.mean(),
        "counts": representation_counts(vectors, basis)[0][1:],
        "norms": sums[1:],
        "dimensions": [one.dimension for one in basis.representations[1:]],
        "types": [one.type for one in basis.representations[1:]],
    }


def dealt_at_the_end(run: Run) -> dict[str, Any]:
    basis = basis_of(run.experiment.task.partition("group:")[2])
    return dealt(run.network, basis, neuron_vectors(run.network, basis))


def proportions(dimensions: Sequence[int], types: Sequence[int], e: Any) -> Float[np.ndarray, "*e rho"]:
    """Shares in proportion to $d^e/t$, for one exponent or several."""
    weights = np.array(dimensions, float) ** np.asarray(e)[..., None] / np.array(types, float)
    return weights / weights.sum(axis=-1, keepdims=True)


def exponent(found: np.ndarray, dimensions: Sequence[int], types: Sequence[int]) -> float:
    """The e for which shares in proportion to $d^e/t$ are likeliest to give these numbers."""
    tried = np.linspace(0, 6, 1201)
    return float(tried[np.argmax(np.log(proportions(dimensions, types, tried)) @ found)])


dealing = study(
    "dealing",
    "How neurons are dealt to representations",
    "The exponent e for which shares in proportion to dᵉ/t fit the clear neurons of each representation (left), "
    "and the sums over them of the products of their blocks' norms (right), against the width in units of the exact "
    "network's; counts and sums of all seeds together.",
    runs=lambda s: wider(s, s.dealt, s.dealt_widths, steps=s.dealt_steps),
    keep=("grokked_at", dealt_at_the_end),
)


def exponents(t: Table, column: str) -> dict[str, dict[float, float]]:
    """By group and width, of networks whose neurons are clear and that have grokked."""

    def fitted(cell: Table) -> float:
        return exponent(np.sum(np.array(cell[column], float), axis=0), cell.first.dimensions, cell.first.types)

    clear = t.where("clear >= 0.9", "grokked_at > 0").by("group").items()
    return {group: {share: fitted(cell) for share, cell in some.by("share").items()} for group, some in clear}


@dealing.figure("neurons", "norms", height=2.7, sharey=True)
def exponents_against_width(t: Table, *shown: Any) -> str:
    for panel, column in zip(shown, ("counts", "norms"), strict=True):
        found = exponents(t, column)
        named_lines(panel, {group: found.get(group, {}) for group in t["group"].distinct()})
        for level in (EQUAL_NORMS, CUBES):
            panel.axhline(level, color=GRAY, linewidth=0.7, linestyle=":")
        panel.set(xscale="log", xlabel="width / exact width")
        panel.set_xticks(shares := t["share"].distinct(), [f"{share:g}" for share in shares])
        panel.minorticks_off()
    shown[0].set(ylabel="exponent of d")
    shown[0].legend(fontsize=6)
    return f"{seeds(t)}; dotted: 5/2 (equal norms) and 3 (the exact network)"


def show_exponents(ask: Ask, found: dict[str, dict[float, float]]) -> None:
    for group, line in found.items():
        ask.show({f"exponent by width, {group}": ", ".join(f"{share:g}: {number(e)}" for share, e in line.items())})


@dealing.claim("how neurons are dealt")
def norms_as_derived(t: Table, ask: Ask) -> None:
    """The products of the norms of a representation's neurons add up in proportion to d^(5/2), at every width."""
    found = exponents(t, "norms")
    ask.possible("networks on two groups have clear neurons", len(found) >= 2)
    near = all(abs(e - EQUAL_NORMS) <= 0.15 for line in found.values() for e in line.values())
    ask.that("the exponent is within 0.15 of 5/2 for every group and width", near)
    show_exponents(ask, found)


@dealing.claim("how neurons are dealt")
def equal_norms_when_wide(t: Table, ask: Ask) -> None:
    """With neurons to spare their norms are equal, so that they are dealt as d^(5/2); near the exact width as d³."""
    found, widest = exponents(t, "counts"), max(t["share"])
    wide, narrow = ([line[share] for line in found.values() if share in line] for share in (widest, 1.0))
    ask.possible("networks on two groups have clear neurons at the largest width", len(wide) >= 2)
    equal, cubes = (all(abs(e - level) <= 0.2 for e in some) for some, level in ((wide, EQUAL_NORMS), (narrow, CUBES)))
    ask.that(f"at {widest:g} times the exact width the exponent is within 0.2 of 5/2 in every group", equal)
    ask.remark("at the exact width it is within 0.2 of 3 in every group", narrow and cubes)
    show_exponents(ask, found)
