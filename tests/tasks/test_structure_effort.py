"""Small tables whose search needs some effort."""

import numpy as np
import pytest

from modgrok.tasks.structure.search import find_structure


@pytest.mark.parametrize("p", [11, 13])
def test_functions_of_products_with_gaps_are_resolved(p: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        f, g, outer = (rng.integers(0, p, p) for _ in range(3))
        assert find_structure(outer[np.multiply.outer(f, g) % p]).kind != "unknown"


def test_tables_with_repeated_lines_are_excluded() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        table = rng.integers(0, 13, (13, 13))[rng.integers(0, 11, 13)][:, rng.integers(0, 11, 13)]
        assert find_structure(table).kind == "none"


def test_few_answers() -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        f, g = (rng.integers(0, 11, 11) for _ in range(2))
        table = rng.integers(0, 2, 11)[np.add.outer(f, g) % 11]
        assert find_structure(table).kind in ("sum", "product", "function_of_sum", "function_of_product")
