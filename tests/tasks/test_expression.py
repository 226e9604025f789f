"""The parser against Python's own reading of the same text, and mistakes with their columns."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import HOLE, expression
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.grammar import parse


class Residue:
    """A number modulo p with Python's operators."""

    def __init__(self, value: int, modulus: int) -> None:
        self.value, self.modulus = value % modulus, modulus

    def _of(self, value: int) -> "Residue":
        return Residue(value, self.modulus)

    def __neg__(self) -> "Residue":
        return self._of(-self.value)

    def __add__(self, other: "Residue") -> "Residue":
        return self._of(self.value + other.value)

    def __sub__(self, other: "Residue") -> "Residue":
        return self._of(self.value - other.value)

    def __mul__(self, other: "Residue") -> "Residue":
        return self._of(self.value * other.value)

    def __truediv__(self, other: "Residue") -> "Residue":
        return self._of(self.value * pow(other.value, -1, self.modulus))

    def __pow__(self, exponent: int) -> "Residue":
        return self._of(pow(self.value, exponent, self.modulus))


integers = st.integers(0, 10**30)
exponents = st.one_of(
    st.integers(-3, 6).map(str),
    st.integers(0, 10**30).map(str),
    st.sampled_from(["(1+2)", "2**3", "(5-3)", "-(1)", "(2*3-1)", "--2", "2**2**2", "(-1)**3"]),
)
atoms = st.one_of(st.sampled_from(["n", "m"]).map(lambda v: (v, v)), integers.map(lambda i: (str(i), f"R({i})")))


def both(template: str):  # the same shape for the project's text and for Python's
    return lambda *parts: tuple(template.format(*side) for side in zip(*parts, strict=True))


def larger(smaller: st.SearchStrategy) -> st.SearchStrategy:
    exponent = exponents.map(lambda e: (e, e))
    binary = [st.builds(both(template), smaller, smaller) for template in ("{}+{}", "{} - {}", "{}*{}", "{}/{}")]
    return st.one_of(
        *binary,
        st.builds(both("({})"), smaller),
        st.builds(both("-{}"), smaller),
        st.builds(both("({})**{}"), smaller, exponent),
        st.builds(both("{}**{}"), atoms, exponent),
    )


@given(texts=st.recursive(atoms, larger, max_leaves=8), modulus=st.integers(2, 9), caret=st.booleans())
def test_agrees_with_python(texts: tuple[str, str], modulus: int, caret: bool) -> None:
    ours, pythons = texts
    ours = ours.replace("**", "^") if caret else ours
    code = compile(pythons, "expression", "eval")

    def answer(n: int, m: int) -> int:
        names = {"n": Residue(n, modulus), "m": Residue(m, modulus), "R": lambda i: Residue(i, modulus)}
        try:
            return eval(code, names).value
        except ValueError:  # a divisor without inverse
            return HOLE

    expected = [[answer(n, m) for m in range(modulus)] for n in range(modulus)]
    if np.max(expected) == HOLE:
        with pytest.raises(ExpressionError, match="has no inverse modulo"):
            parse(ours).table(modulus)
    else:
        np.testing.assert_array_equal(parse(ours).table(modulus), expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", -4),
        ("2^3^2", 512),
        ("2^-1", 52),
        ("8/4/2", 1),
        ("2^(6/3)", 4),
        ("1-2-3", -4),
        ("0^0", 1),
        ("--3", 3),
        ("2*-3", -6),
        ("2^(10^18)", pow(2, 10**18, 103)),
        ("10^10^10", pow(10, 10**10, 103)),
        ("9" * 1000, int("9" * 1000)),
    ],
)
def test_constants(text: str, value: int) -> None:
    table = parse(text).table(103)
    assert table.shape == (103, 103)
    assert np.all(table == value % 103)


@pytest.mark.parametrize("modulus", [2, 8, 12, 97, 360])
def test_huge_exponents_are_powers_modulo_p(modulus: int) -> None:
    expected = [pow(n, 10**100, modulus) for n in range(modulus)]
    np.testing.assert_array_equal(parse("n1^(10^100)").table(modulus), expected)


def test_variables_say_the_arity() -> None:
    assert parse("n^2").variables == ("n", "m")
    assert parse("7").variables == ("n", "m")
    assert parse("n1").variables == ("n1",)
    assert parse("n3 + 1").variables == ("n1", "n2", "n3")
    np.testing.assert_array_equal(parse("n3 - n1").table(3)[1, 2], [2, 0, 1])


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("", 1, "must stand here, not the end"),
        ("n +", 4, "not the end"),
        ("n + + m)", 5, "not '+'"),
        ("n)", 2, "never opened"),
        ("2*(n + m", 3, "never closed"),
        ("()", 2, "not ')'"),
        ("2n", 2, "write * for a product"),
        ("n m", 3, "write * for a product"),
        ("(n)(m)", 4, "write * for a product"),
        ("(n 2)", 4, "write * for a product"),
        ("n + nm", 5, "write n*m"),
        ("n + x", 5, "no variable 'x'"),
        ("n0", 1, "no variable 'n0'"),
        ("n1 + n26", 6, "at most 25 variables"),
        ("n1 + n" + "9" * 5000, 6, "at most 25 variables"),
        ("n + n2", 5, "not both"),
        ("1.5", 2, "'.' is not one of"),
        ("n % 2", 3, "'%' is not one of"),
        ("n^m", 3, "without variables"),
        ("n^(1 - m^2)", 8, "without variables"),
        ("n^(1/2)", 5, "this quotient is not"),
        ("n^(1/0)", 5, "this quotient is not"),
        ("n^2^-1", 4, "this power is not"),
        ("n^10^10^10", 2, "more than 4,096 binary digits"),
        ("n^(10^2000 * 10^2000)", 2, "more than 4,096 binary digits"),
        ("n + " + "9" * 1001, 5, "at most 1,000 digits"),
        ("(" * 4000 + "n" + ")" * 4000, 51, "at most 50 deep"),
        ("n" + "^1" * 4000, 101, "at most 50 deep"),
        ("n" + "+n" * 5000, 10_001, "at most 10,000 characters"),
    ],
)
def test_mistakes_point_at_their_column(text: str, column: int, says: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        parse(text)
    assert caught.value.column == column
    sentence, line, caret = str(caught.value).split("\n")
    assert sentence.startswith(f"Column {column}: ")
    assert says in sentence
    assert line[caret.index("^") :][:1] == text[column - 1 :][:1]


@pytest.mark.parametrize(
    ("text", "modulus", "holes"),
    [
        ("n/m", 97, 97),
        ("n ÷ (m + 2)", 5, 5),
        ("1/(2*n1 + 1)", 9, 3),
        ("3 + n^-2", 7, 7),
        ("3 + n⁻²", 7, 7),
        ("1/(n + m)", 7, 7),
        ("n/m if m odd else n - m", 97, 0),
        ("n/m if m even else n - m", 97, 97),
    ],
)
def test_divisions_without_inverse_are_holes(text: str, modulus: int, holes: int) -> None:
    assert np.count_nonzero(parse(text).table(modulus) == HOLE) == holes


@pytest.mark.parametrize(("text", "column"), [("n/7", 2), ("n + (2-2)^-1", 10), ("1/(n1-n1)", 2)])
def test_divisors_that_are_never_invertible(text: str, column: int) -> None:
    with pytest.raises(ExpressionError, match="has no inverse modulo 7 at any input") as caught:
        parse(text).table(7)
    assert caught.value.column == column


def test_long_sums_and_signs_need_no_recursion() -> None:
    np.testing.assert_array_equal(parse("n1" + "+n1" * 3000).table(7), 3001 * np.arange(7) % 7)
    np.testing.assert_array_equal(parse("-" * 9001 + "n1").table(7), -np.arange(7) % 7)


@given(st.text(alphabet="nm12+-*/^() .x", max_size=30))
def test_any_text_gives_a_table_or_an_error(text: str) -> None:
    try:
        answers = set(np.unique(parse(text).table(2)))
    except ExpressionError as error:
        answers, column = set(), error.column
    else:
        column = 1
    assert answers <= {HOLE, 0, 1}
    assert 1 <= column <= len(text) + 1


def test_order_of_the_axes() -> None:
    table = parse("n + 2*m").table(5)
    assert all(table[n, m] == (n + 2 * m) % 5 for n, m in product(range(5), repeat=2))


@given(texts=st.recursive(atoms, larger, max_leaves=8), modulus=st.integers(2, 9))
def test_typographic_symbols_mean_the_same(texts: tuple[str, str], modulus: int) -> None:
    plain = texts[0]
    typed = re.sub(r"(?<=[nm)])\*\*([0-9]+)(?![0-9*])", lambda match: match[1].translate(RAISED), plain)
    for symbol, typographic in {"**": "^", "*": "·", "-": "−", "/": "÷"}.items():
        typed = typed.replace(symbol, typographic)
    try:
        expected = parse(plain).table(modulus)
    except ExpressionError:
        with pytest.raises(ExpressionError):
            parse(typed).table(modulus)
    else:
        np.testing.assert_array_equal(parse(typed).table(modulus), expected)


RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("n² + m³", "n^2 + m^3"),
        ("n⁴ − 2·m¹⁰", "n^4 - 2*m^10"),
        ("2×n ÷ m", "2*n / m"),
        ("(n + m)² ⋅ n", "(n + m)^2 * n"),
        ("n1² − n2⁻¹", "n1^2 - n2^-1"),
        ("n^2²", "n^4"),
        ("−n²", "-(n^2)"),
        ("n/m if m odd else n − m", "n/mifmoddelsen-m"),
        ("n + m if m even else n*m", "n*m if m odd else n + m"),
    ],
)
def test_what_is_typed(typed: str, plain: str) -> None:
    np.testing.assert_array_equal(parse(typed).table(11), parse(plain).table(11))


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("n² + x", 6, "no variable 'x'"),
        ("n − · m", 5, "not '·'"),
        ("²", 1, "not '²'"),
        ("n²^3", 3, "needs parentheses"),
        ("n + m⁻", 6, "'⁻' is not one of"),
        ("n" + "²" * 1001, 2, "at most 1,000 digits"),
        ("n if m odd else q", 17, "no variable 'q'"),
        ("q if m odd else n", 1, "no variable 'q'"),
        ("n if m odd else", 16, "not the end"),
        ("n1 if m odd else n1", 7, "not both"),
        ("n if k odd else m", 3, "an operator must stand before 'if'"),
    ],
)
def test_mistakes_among_symbols(text: str, column: int, says: str) -> None:
    with pytest.raises(ExpressionError, match=says) as caught:
        parse(text)
    assert caught.value.column == column
    line, caret = str(caught.value).split("\n")[1:]
    assert line[caret.index("^") :][:1] == text[column - 1 :][:1]


@given(texts=st.recursive(atoms, larger, max_leaves=6), modulus=st.integers(2, 9), block=st.integers(1, 90))
def test_blocks_do_not_show(texts: tuple[str, str], modulus: int, block: int) -> None:
    parsed = parse(texts[0])
    try:
        whole = parsed.table(modulus)
    except ExpressionError:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(expression, "BLOCK", block)
        np.testing.assert_array_equal(parsed.table(modulus), whole)


def test_blocks_of_many_variables() -> None:
    table = parse("n1 + 2*n3 - n5*n9").table(4)
    at = tuple(np.random.default_rng(0).integers(0, 4, (9, 300)))
    np.testing.assert_array_equal(table[at], (at[0] + 2 * at[2] - at[4] * at[8]) % 4)


@pytest.mark.parametrize(
    ("text", "modulus"),
    [
        ("n+m" + "+n+m" * 2400, 1000),
        ("n" + "+m" * 4990, 7000),
        ("1/n1", 49_999_991),
        ("n*m*(" * 49 + "n" + ")" * 49, 7000),
        ("-".join(f"n{s % 25 + 1}" for s in range(200)), 2),
    ],
)
def test_long_calculations_are_refused_before_they_begin(
    monkeypatch: pytest.MonkeyPatch, text: str, modulus: int
) -> None:
    monkeypatch.setattr("modgrok.tasks.expression._Evaluation", lambda *_: pytest.fail("It began."))
    with pytest.raises(ModgrokError, match="million operations"):
        parse(text).table(modulus)
