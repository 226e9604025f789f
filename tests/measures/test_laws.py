"""Exponents of power laws."""

import pytest

from modgrok.measures.laws import exponent


def test_the_exponent_of_a_power_law() -> None:
    assert exponent({n: 3.0 * n**1.5 for n in (5, 7, 11)}) == pytest.approx(1.5)
    assert exponent({5: 3.0}) is None
