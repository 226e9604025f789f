"""Products and quotients modulo every number, in monoids in which every element lies in a group."""

import math

import numpy as np
import pytest

from modgrok.tasks.basis.representation import representations
from modgrok.tasks.basis.residues import residues


@pytest.mark.parametrize("modulus", [2, 4, 6, 8, 9, 12, 18, 27, 30, 40])
def test_products(modulus: int) -> None:
    found, n = residues(modulus), np.arange(modulus)
    element = found.product[found.first[:, None], found.second]
    np.testing.assert_array_equal(found.value[element], np.outer(n, n) % modulus)
    assert (found.modulus == modulus).all()
    assert len(np.unique(element)) == len(found.value)
    if modulus in (2, 6, 30):
        np.testing.assert_array_equal(found.product, np.outer(n, n) % modulus)


@pytest.mark.parametrize("modulus", [2, 4, 6, 8, 9, 12, 18, 30])
def test_quotients(modulus: int) -> None:
    found = residues(modulus, quotients=True)
    for n in range(modulus):
        for m in range(modulus):
            element, common = found.product[found.first[n], found.second[m]], math.gcd(m, modulus)
            if n % common == 0:
                assert found.modulus[element] == modulus // common
                assert (m * found.value[element] - n) % modulus == 0


@pytest.mark.parametrize("quotients", [False, True])
@pytest.mark.parametrize("modulus", [4, 8, 9, 12, 18])
def test_they_are_monoids_of_groups(modulus: int, quotients: bool) -> None:
    product = residues(modulus, quotients).product
    np.testing.assert_array_equal(product, product.T)
    np.testing.assert_array_equal(product[product], product[:, product])
    assert sum(one.dimension**2 // one.type for one in representations(product)) == len(product)
