"""What is known about how a table decomposes, and the basis in which it is simple."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from modgrok.card import card
from modgrok.shapes import Int
from modgrok.tasks.arithmetic import discrete_logarithm, is_prime, logarithms, powers, roots
from modgrok.tasks.basis import Basis
from modgrok.tasks.basis.residues import residues
from modgrok.tasks.polynomial import spell
from modgrok.tasks.structure.separable import outer_product, outer_sum

Kind = Literal[
    "sum",
    "function_of_sum",
    "product",
    "function_of_product",
    "power",
    "root",
    "logarithm",
    "group",
    "function_of_group",
    "none",
    "unknown",
]
OPERATIONS = {"power": powers, "root": roots, "logarithm": logarithms}
"""Tables modulo a prime of $n^m$, of the least r with $r^m = n$, of the least x with $n^x = m$."""
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
    """f1, f2, … (or g1, g2, …) as tables over Z_p; the two operands of an operation; empty for `none` and `unknown`."""
    outer: Int[np.ndarray, "L"] | None = None
    """F as a table: the identity unless the kind is a function of something; values of F that never occur are 0."""
    product: Int[np.ndarray, "L L"] | None = None
    """The Cayley table of the group in which the parts are multiplied, for the kinds that name one."""
    group: str = ""
    """Its name, or what else is known of it."""
    swapped: bool = False
    """Whether the second variable is the first operand of a power, a root or a logarithm, as m is in m^n."""

    def __repr__(self) -> str:
        where = f"in {self.group}" if self.group else f"mod {self.modulus}"
        return f"Structure({self.kind.replace('_', ' ')} {where}: {self.reason})"

    def _repr_html_(self) -> str:
        """For notebooks: the verdict, and the functions as polynomials where short ones exist."""
        where = f"in {self.group}" if self.group else f"mod {self.modulus}"
        spelled = {name: text or "no short polynomial" for name, text in self.spelled.items()}
        return card(f"{self.kind.replace('_', ' ')} {where}", {"why": self.reason} | spelled)

    @property
    def spelled(self) -> dict[str, str | None]:
        """The witnesses f1(n), f2(m), … and F(x) as polynomials; None where no short one exists."""
        from modgrok.tasks.task import variable_names

        if self.product is not None:
            return {}
        letter = "g" if self.is_product or self.kind in OPERATIONS else "f"
        names = variable_names(len(self.parts))
        found = {
            f"{letter}{s + 1}({name})": spell(part, name)
            for s, (name, part) in enumerate(zip(names, self.parts, strict=True))
        }
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
        """The answers that the witnesses give; −1 where a root or a logarithm does not exist."""
        if self.outer is None:
            raise AssertionError(f"A {self.kind} needs its outer function.")
        if self.kind in OPERATIONS:
            found = OPERATIONS[self.kind](self.modulus)
            return (found.T if self.swapped else found)[self.parts[0][:, None], self.parts[1]]
        if self.product is not None:
            return self.outer[self.product[self.parts[0][:, None], self.parts[1]]]
        combine = outer_product if self.is_product else outer_sum
        return self.outer[combine(self.parts, self.modulus)]

    @cached_property
    def coordinate(self) -> Basis | None:
        """The basis of a task that is a sum in a cyclic group; None where there is none."""
        if not self.known or self.outer is None or self.product is not None or self.kind in OPERATIONS:
            return None
        p = self.modulus
        if not self.is_product:
            return Basis(p, self.parts, self.outer)
        if not is_prime(p):
            return None
        logarithm, power = discrete_logarithm(self.modulus)
        return Basis(p - 1, tuple(logarithm[g] for g in self.parts), self.outer[power], int(self.outer[0]))

    @cached_property
    def basis(self) -> Basis | None:
        """The functions in which the task is simple: waves, or representations of a group or of the monoid of products
        or quotients modulo a number. None where there is no structure, or where there are too many of them."""
        if self.coordinate is not None or not self.known or self.outer is None or len(self.parts) != 2:
            return self.coordinate
        if self.product is not None:
            found = Basis(len(self.product), self.parts, self.outer, product=self.product)
        elif self.modulus > MOST_ELEMENTS:
            return None
        elif self.kind == "power":
            found = self._powers()
        elif self.kind in OPERATIONS:
            found = self._quotients()
        else:
            monoid = residues(self.modulus)
            index = monoid.first[self.parts[0]], monoid.second[self.parts[1]]
            found = Basis(len(monoid.value), index, self.outer[monoid.value], product=monoid.product)
        return found if found.length <= MOST_ELEMENTS else None

    def _powers(self) -> Basis:
        r"""$b^e$ modulo a prime p as a product of pairs, $(\log b, 0)(e, [e>0]) = (e\log b, 0)$ modulo p − 1 and 2, and
        $(0, 1)(e, [e>0]) = (0, [e>0])$ for b = 0; the pair (x, ε) has the number 2x + ε."""
        monoid, (logarithm, power) = residues(self.modulus - 1), discrete_logarithm(self.modulus)
        base, exponent = self._swap(self.parts)
        zero = 2 * monoid.first[0] + 1
        second = 2 * monoid.second[exponent % len(power)] + (exponent > 0)
        x, flag = np.divmod(np.arange(2 * len(monoid.value)), 2)
        readout = power[monoid.value[x]]
        readout[zero] = 0
        index = np.where(base > 0, 2 * monoid.first[logarithm[base]], zero), second
        return Basis(
            len(x), self._swap(index), readout, product=2 * monoid.product[x[:, None], x] + flag[:, None] * flag
        )

    def _quotients(self) -> Basis:
        r"""The m-th root of n has the logarithm $\log n/m$ modulo p − 1, and the logarithm of m to base n is
        $\log m/\log n$; one more element, which absorbs all others, is for the number 0, and for m = 0 in a root."""
        monoid, (logarithm, power) = residues(self.modulus - 1, quotients=True), discrete_logarithm(self.modulus)
        first, second = self._swap(self.parts)
        zero = len(monoid.value)
        product = np.full((zero + 1, zero + 1), zero)
        product[:zero, :zero] = monoid.product
        if self.kind == "root":
            index = (
                np.where(first > 0, monoid.first[logarithm[first]], zero),
                np.where(second > 0, monoid.second[second % len(power)], zero),
            )
            smallest = {size: power.reshape(-1, size).min(axis=0) for size in set(monoid.modulus.tolist())}
            values = [smallest[size][x] for x, size in zip(monoid.value, monoid.modulus.tolist(), strict=True)]
            readout = np.array([*values, 0])
        else:
            index = (
                monoid.second[np.where(first > 0, logarithm[first], 0)],
                np.where(second > 0, monoid.first[logarithm[second]], zero),
            )
            readout = np.append(monoid.value, 1)  # 0^1 = 0
        return Basis(zero + 1, self._swap(index), readout, product=product)

    def _swap(self, pair: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """From the order of the variables to that of the operands, and back."""
        return pair[::-1] if self.swapped else pair
