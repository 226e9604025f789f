import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.tasks.polynomial import coefficients, spell


@given(modulus=st.integers(2, 60), wanted=st.lists(st.integers(0, 59), min_size=1, max_size=7))
def test_values_of_a_polynomial_are_recognized(modulus: int, wanted: list[int]) -> None:
    n = np.arange(modulus)
    values = sum(c * n**i for i, c in enumerate(wanted)) % modulus
    found = coefficients(values)
    assert found is not None
    np.testing.assert_array_equal(sum(c * n.astype(object) ** i for i, c in enumerate(found)) % modulus, values)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [("n", "n"), ("-n", "-n"), ("0*n", "0"), ("n**2 - 3*n + 1", "n^2 - 3*n + 1"), ("50*n**5 - 1", "-47*n^5 - 1")],
)
def test_spelling(text: str, spelled: str) -> None:
    assert spell(eval(text, {"n": np.arange(97)}) % 97, "n") == spelled


def test_others_are_not_spelt() -> None:
    assert coefficients(np.array([0, 0, 0, 1])) is None  # no polynomial modulo 4
    assert spell(np.roll(np.arange(97) % 2, 3), "n") is None
