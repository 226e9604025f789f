r"""Modular functions as text: a grammar, a parser that points at mistakes, and the table of answers.

    sum      := product (("+" | "-") product)*
    product  := signed (("*" | "/") signed)*
    signed   := "-"* power
    power    := atom (("^" | "**") signed)?
    atom     := integer | variable | "(" sum ")"

So powers bind tightest and to the right: `-n^2` is −(n²), `n^2^3` is n⁸. An exponent is a whole number, written
without variables and computed exactly; a negative one means the inverse. `/` multiplies by the inverse modulo p.
Everything else is taken modulo p, with 0^0 = 1.

The variables are `n` and `m`, always two of them (`n^2` is a function of two variables that ignores the second), or
`n1`, `n2`, …, as many as the highest index says.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from modgrok.errors import ModgrokError
from modgrok.tasks import residues
from modgrok.tasks.shape import MOST_VARIABLES, describe_input, table_shape

MOST_CHARACTERS = 10_000
MOST_DIGITS = 1_000
MOST_NESTING = 50
EXPONENT_BITS = 4_096


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
    """`integer`, `variable`, `negate`, `power`, or one of `+ - * /`."""
    column: int
    value: int = 0
    """The integer, the variable's axis, or the exponent."""


@dataclass(frozen=True)
class Expression:
    """A parsed modular function of S variables; its modulus is still open."""

    text: str
    variables: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def arity(self) -> int:
        return len(self.variables)

    def table(self, modulus: int) -> Int[np.ndarray, "*inputs"]:
        """The answers at all p^S inputs; an error where a divisor is not invertible."""
        shape = table_shape(modulus, self.arity)
        stack: list[np.ndarray] = []
        for step in self.steps:
            match step.operation:
                case "integer":
                    stack.append(np.full((1,) * self.arity, step.value % modulus))
                case "variable":
                    stack.append(np.arange(modulus).reshape([-1 if s == step.value else 1 for s in range(self.arity)]))
                case "negate":
                    stack.append(-stack.pop() % modulus)
                case "power":
                    base = stack.pop() if step.value >= 0 else self._inverse(stack.pop(), step, modulus)
                    stack.append(residues.power(base, abs(step.value), modulus))
                case operation:
                    right = stack.pop() if operation != "/" else self._inverse(stack.pop(), step, modulus)
                    stack.append(_ARITHMETIC[operation](stack.pop(), right) % modulus)
        return np.broadcast_to(stack.pop(), shape).astype(np.int64)

    def _inverse(self, divisor: np.ndarray, step: Step, modulus: int) -> np.ndarray:
        wrong = np.argwhere(~residues.invertible(divisor, modulus))
        if len(wrong):
            where = tuple(int(i) for i in wrong[0])
            what = "this division" if step.operation == "/" else "this negative power"
            raise ExpressionError(
                self.text,
                step.column,
                f"{what} needs a divisor that is invertible at every input, and at "
                f"{describe_input(self.variables, where)} the divisor is {divisor[where]}, "
                f"which has no inverse modulo {modulus}.",
            )
        return residues.inverse(divisor, modulus)


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


_TOKEN = re.compile(r"(?P<integer>[0-9]+)|(?P<name>[^\W\d]\w*)|(?P<operator>\*\*|[-+*/^()])")


def _tokens(text: str) -> list[_Token]:
    tokens, position = [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        match = _TOKEN.match(text, position)
        if match is None:
            allowed = "integers, variables, + - * / ^ ** and parentheses"
            raise ExpressionError(text, position + 1, f"{text[position]!r} is not one of {allowed}.")
        kind = match.group() if match.lastgroup == "operator" else str(match.lastgroup)
        tokens.append(_Token("^" if kind == "**" else kind, match.group(), position + 1))
        position = match.end()
    return [*tokens, _Token("end", "", len(text.rstrip()) + 1)]


class _Parser:
    """Recursive descent: one method for each rule of the grammar, which appends its steps."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0
        self.depth = 0
        self.steps: list[Step] = []
        self.highest_index = 0
        self.has_letters = False

    def expression(self) -> Expression:
        self.sum()
        self._expect_no_operand()
        if self.next.kind == ")":
            self._fail(self.next, "this parenthesis was never opened.")
        names = tuple(f"n{s + 1}" for s in range(self.highest_index)) or ("n", "m")
        return Expression(self.text, names, tuple(self.steps))

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
        if self.next.kind == "^":
            operator, first = self._take(), len(self.steps)
            self.signed()
            exponent = _whole_number(self.text, operator, self.steps[first:])
            self.steps[first:] = [Step("power", operator.column, exponent)]

    def atom(self) -> None:
        token = self._take()
        if token.kind == "integer":
            if len(token.text) > MOST_DIGITS:
                self._fail(token, f"an integer has at most {MOST_DIGITS:,} digits.")
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
