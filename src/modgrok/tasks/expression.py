r"""Modular functions as text: a grammar, a parser that points at mistakes, and the table of answers.

    function := sum ("if" variable ("odd" | "even") "else" sum)?
    sum      := product (("+" | "-") product)*
    product  := signed (("*" | "/") signed)*
    signed   := "-"* power
    power    := atom (("^" | "**") signed | superscript)?
    atom     := integer | variable | "(" sum ")"

So powers bind tightest and to the right: `-n^2` is −(n²), `n^2^3` is n⁸. An exponent is a whole number, written
without variables and computed exactly; a negative one means the inverse. `/` multiplies by the inverse modulo p;
inputs where the divisor has none are holes. Everything else is taken modulo p, with 0^0 = 1. The typographic
− · ⋅ × ÷ ² ³ … are read as what they mean.

The variables are `n` and `m`, always two of them (`n^2` is a function of two variables that ignores the second), or
`n1`, `n2`, …, as many as the highest index says.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from modgrok.errors import ModgrokError
from modgrok.tasks import arithmetic
from modgrok.tasks.task import HOLE, MOST_VARIABLES, table_shape

MOST_CHARACTERS = 10_000
MOST_DIGITS = 1_000
MOST_NESTING = 50
EXPONENT_BITS = 4_096
MOST_OPERATIONS = 1_000_000_000
"""On single numbers of 32 bits, two to three seconds of them."""
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
    """`integer`, `variable`, `negate`, `power`, `odd` (the first operand where a variable is odd, else the second), or
    one of `+ - * /`."""
    column: int
    value: int = 0
    """The integer, the variable's axis, or the exponent."""


class _Values(NamedTuple):
    """Numbers modulo p at some inputs, with the axes of the table where they vary, and where they do not exist."""

    numbers: Int[np.ndarray, "..."]
    holes: Bool[np.ndarray, "..."] | None = None


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
            total += entries
            if step.operation == "/" or step.operation == "power":
                inverts = step.operation == "/" or step.value < 0
                bits = modulus.bit_length() * inverts + min(abs(step.value).bit_length(), modulus.bit_length() + 1)
                total += (modulus if modulus <= BLOCK else entries) * 2 * bits
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
            table[block] = values.numbers
            if values.holes is not None:
                table[block][np.broadcast_to(values.holes, table[block].shape)] = HOLE
        if table.max() == HOLE:
            raise self._nowhere(p)
        return table

    def _nowhere(self, modulus: int) -> ExpressionError:
        column = next(s.column for s in self.steps if s.operation == "/" or (s.operation == "power" and s.value < 0))
        problem = f"this divisor, or a later one, has no inverse modulo {modulus} at any input."
        return ExpressionError(self.text, column, problem)


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
        variables = [
            np.arange(*part.indices(p), dtype=dtype).reshape([-1 if s == axis else 1 for s in axes])
            for axis, part in enumerate(block)
        ]
        stack: list[_Values] = []
        for step in self.steps:
            match step.operation:
                case "integer":
                    stack.append(_Values(np.full((1,) * len(block), step.value % p, dtype=dtype)))
                case "variable":
                    stack.append(_Values(variables[step.value]))
                case "negate":
                    numbers, holes = stack.pop()
                    stack.append(_Values(-numbers % p, holes))
                case "power":
                    base = stack.pop() if step.value >= 0 else self._inverse(stack.pop())
                    stack.append(_Values(self._power(base.numbers, abs(step.value)), base.holes))
                case "odd":
                    odd, even = stack.pop(-2), stack.pop()
                    stack.append(_chosen(variables[step.value] % 2 == 1, odd, even))
                case operation:
                    right = stack.pop() if operation != "/" else self._inverse(stack.pop())
                    left = stack.pop()
                    stack.append(
                        _Values(
                            _ARITHMETIC[operation](left.numbers, right.numbers) % p, _either(left.holes, right.holes)
                        )
                    )
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
        wrong = numbers * divisor.numbers % self.modulus != 1
        return _Values(numbers, _either(divisor.holes, wrong) if wrong.any() else divisor.holes)


def _either(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return other if one is None else one if other is None else one | other


def _chosen(where: np.ndarray, one: _Values, other: _Values) -> _Values:
    numbers = np.where(where, one.numbers, other.numbers)
    if one.holes is None and other.holes is None:
        return _Values(numbers)
    none = np.zeros((1,) * where.ndim, dtype=bool)
    holes = np.where(where, none if one.holes is None else one.holes, none if other.holes is None else other.holes)
    return _Values(numbers, holes)


_ARITHMETIC: dict[str, Callable] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, inverse_of_b: a * inverse_of_b,
}


def parse(text: str) -> Expression:
    """The expression that a text spells; an `ExpressionError` where it spells none."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(text, MOST_CHARACTERS + 1, f"an expression has at most {MOST_CHARACTERS:,} characters.")
    return _Parser(text).expression()


class _Token(NamedTuple):
    kind: str
    """`integer`, `name`, `end`, or the operator or parenthesis itself."""
    text: str
    column: int

    def __str__(self) -> str:
        return "the end" if self.kind == "end" else f"'{self.text}'"


_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TOKEN = re.compile(
    rf"(?P<integer>[0-9]+)|(?P<superscript>⁻?[{_SUPERSCRIPTS}]+)"
    rf"|(?P<name>[^\W\d{_SUPERSCRIPTS}][^\W{_SUPERSCRIPTS}]*)|(?P<operator>\*\*|[-+*/^()−·⋅×÷])"
)
_MEANS = {"**": "^", "−": "-", "·": "*", "⋅": "*", "×": "*", "÷": "/"}
_PIECEWISE = re.compile(
    r"(?P<one>.*?)if\s*(?P<variable>n[0-9]*|m)\s*(?P<parity>odd|even)\s*else(?P<other>.*)", re.DOTALL
)


def _tokens(text: str, start: int, end: int) -> list[_Token]:
    tokens, position = [], start
    while position < end:
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position, end)
        if match is None:
            allowed = "integers, variables, + - * / ^ ** and parentheses"
            raise ExpressionError(text, position + 1, f"{text[position]!r} is not one of {allowed}.")
        kind = match.group() if match.lastgroup == "operator" else str(match.lastgroup)
        tokens.append(_Token(_MEANS.get(kind, kind), match.group(), position + 1))
        position = match.end()
    return [*tokens, _Token("end", "", len(text[:end].rstrip()) + 1)]


class _Parser:
    """Recursive descent: one method for each rule of the grammar, which appends its steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[_Token] = []
        self.position = 0
        self.depth = 0
        self.steps: list[Step] = []
        self.highest_index = 0
        self.has_letters = False

    def expression(self) -> Expression:
        match = _PIECEWISE.fullmatch(self.text)
        if match is None:
            self.part(0, len(self.text))
        else:
            for branch in ("one", "other") if match["parity"] == "odd" else ("other", "one"):
                self.part(*match.span(branch))
            variable = _Token("name", match["variable"], match.start("variable") + 1)
            self.steps.append(Step("odd", variable.column, self._axis(variable)))
        names = tuple(f"n{s + 1}" for s in range(self.highest_index)) or ("n", "m")
        return Expression(self.text, names, tuple(self.steps))

    def part(self, start: int, end: int) -> None:
        """A sum that is all of the text from `start` to `end`."""
        self.tokens, self.position = _tokens(self.text, start, end), 0
        self.sum()
        self._expect_no_operand()
        if self.next.kind == ")":
            self._fail(self.next, "this parenthesis was never opened.")

    def sum(self) -> None:
        self.product()
        while self.next.kind in ("+", "-"):
            operator = self._take()
            self.product()
            self.steps.append(Step(operator.kind, operator.column))

    def product(self) -> None:
        self.signed()
        while self.next.kind in ("*", "/"):
            operator = self._take()
            self.signed()
            self.steps.append(Step(operator.kind, operator.column))

    def signed(self) -> None:
        self.depth += 1
        if self.depth > MOST_NESTING:
            self._fail(self.next, f"parentheses and powers nest at most {MOST_NESTING} deep.")
        signs = []
        while self.next.kind == "-":
            signs.append(self._take())
        self.power()
        self.steps += [Step("negate", sign.column) for sign in reversed(signs)]
        self.depth -= 1

    def power(self) -> None:
        self.atom()
        if self.next.kind == "superscript":
            token = self._take()
            self._check_digits(token)
            exponent = int(token.text.translate(str.maketrans(f"⁻{_SUPERSCRIPTS}", "-0123456789")))
            self.steps.append(Step("power", token.column, exponent))
            if self.next.kind in ("^", "superscript"):
                self._fail(self.next, "a power of a power needs parentheses after a superscript.")
        elif self.next.kind == "^":
            operator, first = self._take(), len(self.steps)
            self.signed()
            exponent = _whole_number(self.text, operator, self.steps[first:])
            self.steps[first:] = [Step("power", operator.column, exponent)]

    def atom(self) -> None:
        token = self._take()
        if token.kind == "integer":
            self._check_digits(token)
            self.steps.append(Step("integer", token.column, int(token.text)))
        elif token.kind == "name":
            self.steps.append(Step("variable", token.column, self._axis(token)))
        elif token.kind == "(":
            self.sum()
            self._expect_no_operand()
            if self._take().kind != ")":
                self._fail(token, "this parenthesis is never closed.")
        else:
            self._fail(token, f"a number, a variable or '(' must stand here, not {token}.")

    @property
    def next(self) -> _Token:
        return self.tokens[self.position]

    def _take(self) -> _Token:
        token = self.next
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def _axis(self, token: _Token) -> int:
        name = token.text
        if name not in ("n", "m") and not re.fullmatch("n[1-9][0-9]*", name):
            product = re.fullmatch("[nm]{2,9}", name)
            hint = f"write {'*'.join(name)} for a product" if product else "the variables are n and m, or n1, n2, …"
            self._fail(token, f"there is no variable {name!r}; {hint}.")
        if name in ("n", "m"):
            self.has_letters = True
        elif len(name) > 3 or int(name[1:]) > MOST_VARIABLES:
            self._fail(token, f"there are at most {MOST_VARIABLES} variables.")
        else:
            self.highest_index = max(self.highest_index, int(name[1:]))
        if self.has_letters and self.highest_index:
            self._fail(token, "the variables are either n and m or n1, n2, …, not both in one expression.")
        return "nm".index(name) if self.has_letters else int(name[1:]) - 1

    def _check_digits(self, token: _Token) -> None:
        if len(token.text) > MOST_DIGITS:
            self._fail(token, f"an integer has at most {MOST_DIGITS:,} digits.")

    def _expect_no_operand(self) -> None:
        if self.next.kind in ("integer", "name", "("):
            self._fail(self.next, f"an operator must stand before {self.next}; write * for a product.")

    def _fail(self, token: _Token, problem: str) -> None:
        raise ExpressionError(self.text, token.column, problem)


def _whole_number(text: str, operator: _Token, steps: list[Step]) -> int:
    """The exponent that follows `operator`, computed exactly."""
    too_large = ExpressionError(text, operator.column, f"this exponent has more than {EXPONENT_BITS:,} binary digits.")
    stack: list[int] = []
    for step in steps:
        match step.operation:
            case "variable":
                raise ExpressionError(text, step.column, "an exponent is a whole number, without variables.")
            case "integer":
                stack.append(step.value)
            case "negate":
                stack.append(-stack.pop())
            case "power":
                base = stack.pop()
                if abs(base) == 1:
                    stack.append(base if step.value % 2 else 1)
                elif step.value < 0:
                    raise ExpressionError(text, step.column, "an exponent is a whole number, and this power is not.")
                elif base and (abs(base).bit_length() - 1) * step.value > EXPONENT_BITS:
                    raise too_large
                else:
                    stack.append(base**step.value)
            case "/":
                divisor, dividend = stack.pop(), stack.pop()
                if divisor == 0 or dividend % divisor:
                    raise ExpressionError(text, step.column, "an exponent is a whole number, and this quotient is not.")
                stack.append(dividend // divisor)
            case operation:
                right = stack.pop()
                stack.append(_ARITHMETIC[operation](stack.pop(), right))
        if abs(stack[-1]).bit_length() > EXPONENT_BITS:
            raise ExpressionError(
                text, operator.column, f"this exponent has more than {EXPONENT_BITS:,} binary digits."
            )
    return stack.pop()
