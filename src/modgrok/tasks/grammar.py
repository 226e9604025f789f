r"""Modular functions as text: a grammar, and a parser that points at mistakes.

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

import re
from collections.abc import Callable
from typing import NamedTuple

from modgrok.tasks.expression import ARITHMETIC, Expression, ExpressionError, Step
from modgrok.tasks.task import MOST_VARIABLES

MOST_CHARACTERS = 10_000
MOST_DIGITS = 1_000
MOST_NESTING = 50
EXPONENT_BITS = 4_096


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
        self._chain(self.product, ("+", "-"))

    def product(self) -> None:
        self._chain(self.signed, ("*", "/"))

    def _chain(self, operand: Callable[[], None], operators: tuple[str, str]) -> None:
        operand()
        while self.next.kind in operators:
            operator = self._take()
            operand()
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
                stack.append(ARITHMETIC[operation](stack.pop(), right))
        if abs(stack[-1]).bit_length() > EXPONENT_BITS:
            raise too_large
    return stack.pop()
