"""What is known about how a table decomposes, and the basis in which it is simple."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from modgrok.card import card
from modgrok.shapes import Int
from modgrok.tasks.basis import Basis
from modgrok.tasks.polynomial import spell

Kind = Literal["sum", "function_of_sum", "product", "function_of_product", "none", "unknown"]


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """A verdict, verified on the whole table, with its witnesses."""

    kind: Kind
    modulus: int
    reason: str
    """One sentence: why this verdict."""
    parts: tuple[Int[np.ndarray, "p"], ...] = ()
    """f1, f2, … (or g1, g2, …) as tables over Z_p; empty for `none` and `unknown`."""
    outer: Int[np.ndarray, "p"] | None = None
    """F as a table over Z_p: the identity for `sum` and `product`; values of F that never occur are 0."""

    def __repr__(self) -> str:
        return f"Structure({self.kind.replace('_', ' ')} mod {self.modulus}: {self.reason})"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the functions as polynomials where short ones exist."""
        letter = "g" if self.is_product else "f"
        found = {f"{letter}{s + 1}(n{s + 1})": spell(part, f"n{s + 1}") for s, part in enumerate(self.parts)}
        if self.outer is not None and self.kind.startswith("function_of"):
            found["F(x)"] = spell(self.outer, "x")
        spelt = {name: text or "no short polynomial" for name, text in found.items()}
        return card(f"{self.kind.replace('_', ' ')} mod {self.modulus}", {"why": self.reason} | spelt)

    @property
    def known(self) -> bool:
        return self.kind not in ("none", "unknown")

    @property
    def is_product(self) -> bool:
        return self.kind in ("product", "function_of_product")

    @cached_property
    def coordinate(self) -> Basis | None:
        """The task's own coordinate; None where there is none (no structure, or a product modulo a composite p)."""
        from modgrok.tasks.arithmetic import discrete_logarithm, is_prime, primitive_root

        if not self.known or self.outer is None:
            return None
        p = self.modulus
        if not self.is_product:
            return Basis(p, self.parts, self.outer)
        if not is_prime(p):
            return None
        root = primitive_root(p)
        logarithm = discrete_logarithm(p, root)
        powers = np.argsort(logarithm[1:]) + 1  # exponent -> root^exponent
        return Basis(p - 1, tuple(logarithm[g] for g in self.parts), self.outer[powers], int(self.outer[0]))
