r"""The task as a product in a finite group or monoid, and the functions on it that respect the product."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modgrok.shapes import Int
from modgrok.tasks.basis.representation import Representation, names, representations, waves


@dataclass(frozen=True, eq=False)
class Basis:
    r"""$T(n_1, …, n_S) = \mathrm{readout}[\mathrm{index}_1(n_1) ∘ … ∘ \mathrm{index}_S(n_S)]$.

    The product ∘ is the sum in the cyclic group Z_L unless a table of another is given. For products modulo a prime p
    that group is Z_{p-1}, reached by the discrete logarithm.
    """

    length: int
    """Order L of the group."""
    index: tuple[Int[np.ndarray, "p"], ...]
    """For each variable where its values sit in the group; −1 where they have no place (the logarithm of zero)."""
    readout: Int[np.ndarray, "L"]
    """The answer at every element of the group."""
    at_zero: int | None = None
    """The answer where some variable has no place; None where all have one."""
    product: Int[np.ndarray, "L L"] | None = None
    """x ∘ y at [x, y]; None: x + y modulo L."""

    @property
    def is_cyclic(self) -> bool:
        """Whether it is the sum in Z_L, whose functions are waves with frequencies."""
        return self.product is None

    @cached_property
    def representations(self) -> tuple[Representation, ...]:
        """The trivial one first; of Z_L by frequency."""
        return waves(self.length) if self.product is None else representations(self.product)

    @property
    def names(self) -> list[str]:
        """Of the representations."""
        return names([one.dimension for one in self.representations])
