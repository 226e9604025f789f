"""Exponents of power laws."""

import numpy as np
import pytest

from modgrok.measures.laws import exponent


def test_the_exponent_of_a_power_law() -> None:
    x = np.logspace(-3, 0, 9)
    assert exponent(x, 5 * x**1.5) == pytest.approx(1.5)
    assert exponent([5, 7, 11], [3.0 * n**1.5 for n in (5, 7, 11)]) == pytest.approx(1.5)
