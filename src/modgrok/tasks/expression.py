"""A parsed modular function: its steps, what they cost, and the table of answers."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Bool, Int
from modgrok.tasks import arithmetic
from modgrok.tasks.task import HOLE, table_shape

MOST_OPERATIONS = 1_000_000_000
"""On single numbers of 32 bits, two to three seconds of them."""
STEP = 2_000
"""Operations that the call of a step counts as."""
BLOCK = 2**17
"""Table entries that are computed at a time; powers modulo at most this many are looked up."""


class ExpressionError(ModgrokError):
    """A mistake in an expression, with the column (from 1) where it is."""

    def __init__(self, text: str, column: int, problem: str) -> None:
        self.column = column
        start = max(0, column - 60)
        line = "".join(c if c.isprintable() else " " for c in text[start : column + 40])
        super().__init__(f"Column {column}: {problem}\n    {line}\n    {' ' * (column - 1 - start)}^")


class Step(NamedTuple):
    """One step of a stack machine; operands come before their operation."""

    operation: str
    """`integer`, `variable`, `negate`, `power`, `odd` (the first operand where a variable is), or one of `+ - * /`."""
    column: int
    value: int = 0
    """The integer, the variable's axis, or the exponent."""


class _Values(NamedTuple):
    """Numbers modulo p at some inputs, with the axes of the table where they vary, and where they do not exist."""

    numbers: Int[np.ndarray, "..."]
    holes: Bool[np.ndarray, "..."]


@dataclass(frozen=True)
class Expression:
    """A parsed modular function of S variables; its modulus is still open."""

    text: str
    variables: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def arity(self) -> int:
        return len(self.variables)

    def operations(self, modulus: int) -> int:
        """Operations on 32-bit numbers that the table needs, estimated from the variables below every step."""
        stack: list[frozenset[int]] = []
        total = modulus**self.arity
        blocks = -(-total // BLOCK)
        for step in self.steps:
            match step.operation:
                case "integer":
                    stack.append(frozenset())
                    continue
                case "variable":
                    stack.append(frozenset([step.value]))
                    continue
                case "negate" | "power":
                    axes = stack.pop()
                case _:
                    axes = stack.pop() | stack.pop()
            if step.operation == "odd":
                axes |= {step.value}
            stack.append(axes)
            entries = modulus ** len(axes)
            total += blocks * (STEP + min(entries, BLOCK))
            if step.operation == "/" or step.operation == "power":
                inverts = step.operation == "/" or step.value < 0
                bits = modulus.bit_length() * inverts + min(abs(step.value).bit_length(), modulus.bit_length() + 1)
                total += 5 * blocks * STEP + (modulus if modulus <= BLOCK else entries) * 2 * bits
        return total if _number_type(modulus) == np.int32 else 4 * total

    def table(self, modulus: int) -> Int[np.ndarray, "*inputs"]:
        """The answers at all p^S inputs, `HOLE` where a divisor is not invertible; an error where it never is."""
        shape = table_shape(modulus, self.arity)
        p = shape[0]
        if (operations := self.operations(p)) > MOST_OPERATIONS:
            raise ModgrokError(
                f"The table of this expression modulo {p} needs about {operations / 1e6:,.0f} million operations, and "
                f"{MOST_OPERATIONS / 1e6:,.0f} million are the most; take a smaller modulus or fewer terms."
            )
        table = np.empty(shape, dtype=np.int64)
        evaluation = _Evaluation(self, p)
        for block in _blocks(shape):
            values = evaluation.at(block)
            table[block] = np.where(values.holes, HOLE, values.numbers)
        if table.max() == HOLE:
            divides = (s.column for s in self.steps if s.operation == "/" or (s.operation == "power" and s.value < 0))
            problem = f"this divisor, or a later one, has no inverse modulo {p} at any input."
            raise ExpressionError(self.text, next(divides), problem)
        return table


def _blocks(shape: tuple[int, ...]) -> Iterator[tuple[slice, ...]]:
    """Parts of a table of at most `BLOCK` entries: single values of the first axes, a range of the next, the rest."""
    whole = next(s for s in range(len(shape) + 1) if math.prod(shape[s:]) <= BLOCK)
    if whole == 0:
        yield (slice(None),) * len(shape)
        return
    step = max(1, BLOCK // math.prod(shape[whole:]))
    rest = (slice(None),) * (len(shape) - whole)
    for first in product(*(range(size) for size in shape[: whole - 1])):
        for start in range(0, shape[whole - 1], step):
            yield (*(slice(i, i + 1) for i in first), slice(start, start + step), *rest)


def _number_type(modulus: int) -> type:
    """The smaller integer type, if it holds products of two numbers modulo p: it is four times as fast."""
    return np.int32 if modulus**2 < 2**31 else np.int64


class _Evaluation:
    """The stack machine, with what is looked up of powers and inverses modulo p."""

    def __init__(self, expression: Expression, modulus: int) -> None:
        self.steps = expression.steps
        self.modulus = modulus
        self.powers: dict[int, np.ndarray] = {}

    def at(self, block: tuple[slice, ...]) -> _Values:
        p, dtype = self.modulus, _number_type(self.modulus)
        axes = range(len(block))
        variables: list[np.ndarray] = [
            np.arange(*part.indices(p), dtype=dtype).reshape([-1 if s == axis else 1 for s in axes])
            for axis, part in enumerate(block)
        ]
        everywhere = np.zeros((1,) * len(block), dtype=bool)
        stack: list[_Values] = []
        for step in self.steps:
            match step.operation:
                case "integer":
                    stack.append(_Values(np.full((1,) * len(block), step.value % p, dtype=dtype), everywhere))
                case "variable":
                    stack.append(_Values(variables[step.value], everywhere))
                case "negate":
                    numbers, holes = stack.pop()
                    stack.append(_Values(-numbers % p, holes))
                case "power":
                    base = stack.pop() if step.value >= 0 else self._inverse(stack.pop())
                    stack.append(_Values(self._power(base.numbers, abs(step.value)), base.holes))
                case "odd":
                    odd, even, where = stack.pop(-2), stack.pop(), variables[step.value] % 2 == 1
                    stack.append(_Values(*(np.where(where, one, other) for one, other in zip(odd, even, strict=True))))
                case operation:
                    right = stack.pop() if operation != "/" else self._inverse(stack.pop())
                    left = stack.pop()
                    numbers = ARITHMETIC[operation](left.numbers, right.numbers) % p
                    stack.append(_Values(numbers, left.holes | right.holes))
        return stack.pop()

    def _power(self, base: np.ndarray, exponent: int) -> np.ndarray:
        exponent = arithmetic.reduced_exponent(exponent, self.modulus)
        if base.size <= 1 or self.modulus > BLOCK:
            return arithmetic.power(base, exponent, self.modulus)
        if exponent not in self.powers:
            self.powers[exponent] = arithmetic.power(np.arange(self.modulus, dtype=base.dtype), exponent, self.modulus)
        return self.powers[exponent][base]

    def _inverse(self, divisor: _Values) -> _Values:
        """$x^{φ(p) - 1}$, a hole where x is not invertible."""
        numbers = self._power(divisor.numbers, arithmetic.totient(self.modulus) - 1)
        return _Values(numbers, divisor.holes | (numbers * divisor.numbers % self.modulus != 1))


ARITHMETIC: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, inverse_of_b: a * inverse_of_b,
}
