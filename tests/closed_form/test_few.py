"""Two or three neurons answer every sum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.closed_form import solve, usual_form
from modgrok.errors import ModgrokError
from modgrok.networks import score_table
from modgrok.tasks import task

MODULI = [2, 3, 4, 5, 8, 12, 23, 97, 100, 113, 128]


@pytest.mark.parametrize("p", MODULI)
@pytest.mark.parametrize("width", [2, 3])
def test_every_pair_is_answered(p: int, width: int) -> None:
    addition = task("n + m", p)
    assert usual_form(addition, width) == "few"
    network = solve(addition, "few", width)
    assert network.width == width
    assert score_table(network, addition.table).accuracy == 1


@pytest.mark.parametrize("p", MODULI)
def test_three_neurons_in_single_precision(p: int) -> None:
    addition = task("n + m", p)
    assert score_table(solve(addition, "few", 3, dtype=np.float32), addition.table).accuracy == 1


@given(st.integers(3, 30), st.sampled_from([2, 3]))
def test_sums_of_functions(p: int, width: int) -> None:
    function = task("n^2 - 2*m + 1", p)
    assert score_table(solve(function, "few", width), function.table).accuracy == 1


def test_what_few_neurons_cannot_do() -> None:
    for text, p, width in (("(n + m)^2", 7, 2), ("n + m", 7, 4), ("n*m", 7, 3)):
        with pytest.raises(ModgrokError, match="Two or three"):
            solve(task(text, p), "few", width)
