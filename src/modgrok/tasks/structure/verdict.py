"""What is known about how a table decomposes, and the basis in which it is simple."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from modgrok.card import card
from modgrok.shapes import Int
from modgrok.tasks.arithmetic import discrete_logarithm, is_prime, is_squarefree, powers, primitive_root
from modgrok.tasks.basis import Basis
from modgrok.tasks.polynomial import spell
from modgrok.tasks.structure.separable import outer_product, outer_sum

Kind = Literal[
    "sum", "function_of_sum", "product", "function_of_product", "power", "group", "function_of_group", "none", "unknown"
]
MOST_ELEMENTS = 1000
"""Of a monoid whose representations are sought."""


@dataclass(frozen=True, eq=False, repr=False)
class Structure:
    """A verdict, verified on the whole table, with its witnesses."""

    kind: Kind
    modulus: int
    reason: str
    """One sentence: why this verdict."""
    parts: tuple[Int[np.ndarray, "p"], ...] = ()
    """f1, f2, … (or g1, g2, …) as tables over Z_p; base and exponent of a power; empty for `none` and `unknown`."""
    outer: Int[np.ndarray, "L"] | None = None
    """F as a table: the identity for `sum`, `product` and `power`; values of F that never occur are 0."""
    product: Int[np.ndarray, "L L"] | None = None
    """The Cayley table of the group in which the parts are multiplied, for the kinds that name one."""
    group: str = ""
    """Its name, or what else is known of it."""

    def __repr__(self) -> str:
        where = f"in {self.group}" if self.group else f"mod {self.modulus}"
        return f"Structure({self.kind.replace('_', ' ')} {where}: {self.reason})"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the functions as polynomials where short ones exist."""
        where = f"in {self.group}" if self.group else f"mod {self.modulus}"
        spelt = {name: text or "no short polynomial" for name, text in self.spelt.items()}
        return card(f"{self.kind.replace('_', ' ')} {where}", {"why": self.reason} | spelt)

    @property
    def spelt(self) -> dict[str, str | None]:
        """The witnesses f1(n1), f2(n2), … and F(x) as polynomials; None where there is no short one."""
        if self.product is not None:
            return {}
        letter = "g" if self.is_product or self.kind == "power" else "f"
        found = {f"{letter}{s + 1}(n{s + 1})": spell(part, f"n{s + 1}") for s, part in enumerate(self.parts)}
        if self.outer is not None and self.kind.startswith("function_of"):
            found["F(x)"] = spell(self.outer, "x")
        return found

    @property
    def known(self) -> bool:
        return self.kind not in ("none", "unknown")

    @property
    def is_product(self) -> bool:
        return self.kind in ("product", "function_of_product")

    @property
    def table(self) -> Int[np.ndarray, "*inputs"]:
        """The answers that the witnesses give."""
        if self.outer is None:
            raise AssertionError(f"A {self.kind} needs its outer function.")
        if self.kind == "power":
            return self.outer[powers(self.modulus)[self.parts[0][:, None], self.parts[1]]]
        if self.product is not None:
            return self.outer[self.product[self.parts[0][:, None], self.parts[1]]]
        combine = outer_product if self.is_product else outer_sum
        return self.outer[combine(self.parts, self.modulus)]

    @cached_property
    def coordinate(self) -> Basis | None:
        """The basis of a task that is a sum in a cyclic group; None where there is none."""
        if not self.known or self.outer is None or self.product is not None or self.kind == "power":
            return None
        p = self.modulus
        if not self.is_product:
            return Basis(p, self.parts, self.outer)
        if not is_prime(p):
            return None
        logarithm = discrete_logarithm(p, primitive_root(p))
        antilogarithm = np.argsort(logarithm[1:]) + 1  # exponent -> root^exponent
        index = tuple(logarithm[g] for g in self.parts)
        return Basis(p - 1, index, self.outer[antilogarithm], int(self.outer[0]))

    @cached_property
    def basis(self) -> Basis | None:
        """The functions in which the task is simple: waves, or representations of a group or of products modulo a
        squarefree number. None where there is no structure, or no such basis is known."""
        if self.coordinate is not None or not self.known or self.outer is None or len(self.parts) != 2:
            return self.coordinate
        if self.product is not None:
            order = len(self.product)
            return Basis(order, self.parts, self.outer, product=self.product) if order <= MOST_ELEMENTS else None
        modulus = self.modulus - (self.kind == "power")
        if not is_squarefree(modulus) or 2 * modulus > MOST_ELEMENTS:
            return None
        residues = np.arange(modulus)
        table = residues[:, None] * residues % modulus
        return self._powers(table) if self.kind == "power" else Basis(modulus, self.parts, self.outer, product=table)

    def _powers(self, table: Int[np.ndarray, "M M"]) -> Basis:
        r"""$b^e$ modulo a prime p as a product of pairs, $(\log b, 0)(e, [e>0]) = (e\log b, 0)$ modulo p − 1 and 2, and
        $(0, 1)(e, [e>0]) = (0, [e>0])$ for b = 0; the pair (x, ε) has the number 2x + ε."""
        logarithm = discrete_logarithm(self.modulus, primitive_root(self.modulus))
        base, exponent = self.parts
        index = np.where(base > 0, 2 * logarithm[base], 1), 2 * (exponent % len(table)) + (exponent > 0)
        x, flag = np.divmod(np.arange(2 * len(table)), 2)
        readout = np.append(0, np.argsort(logarithm[1:]) + 1)[1:][x]
        readout[1] = 0
        assert self.outer is not None
        return Basis(len(x), index, self.outer[readout], product=2 * table[x[:, None], x] + flag[:, None] * flag)
