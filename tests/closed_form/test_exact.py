"""The exact form is the one-hot table, for every modulus and every function of a sum or of a product."""

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from modgrok.closed_form import exact_width, solve
from modgrok.closed_form.exact import MOST_VARIABLES, cancelling_phases
from modgrok.closed_form.frequencies import independent_frequencies
from modgrok.networks import Network, grid, outputs, score_table
from modgrok.tasks import Task

PRIMES = (2, 3, 5, 7, 11, 13)


def largest_error(network: Network, task: Task) -> float:
    one_hot = np.eye(task.modulus)[task.table.reshape(-1)]
    return float(abs(outputs(network, grid((task.modulus,) * task.arity)) - one_hot).max())


def tables(p: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.integers(0, p - 1), min_size=p, max_size=p).map(lambda values: np.array(values, dtype=np.int64))


@pytest.mark.parametrize("p", [2, 3, 8, 12, 23, 97, 113])
def test_addition(make_task: Any, p: int) -> None:
    task = make_task("sum", p)
    network = solve(task, form="exact")
    assert network.width == (2 * p - 1 if p % 2 else 2 * p - 2)
    assert network.width == exact_width(task.structure.coordinate, independent_frequencies(p))
    score = score_table(network, task.table)
    assert score.accuracy == 1
    assert score.loss < 1e-20


@given(st.integers(2, 24), st.sampled_from(["mean-field", "standard"]), st.data())
def test_functions_of_sums(make_task: Any, p: int, parametrization: str, data: DataObject) -> None:
    f1, f2, outer = (data.draw(tables(p)) for _ in range(3))
    task = make_task("function_of_sum", p, [f1, f2], outer)
    assert largest_error(solve(task, form="exact", parametrization=parametrization), task) < 1e-13


@given(st.sampled_from(PRIMES), st.data())
def test_functions_of_products(make_task: Any, p: int, data: DataObject) -> None:
    g1, g2, outer = (data.draw(tables(p)) for _ in range(3))
    task = make_task("function_of_product", p, [g1, g2], outer)
    assert largest_error(solve(task, form="exact"), task) < 1e-13


@given(st.sampled_from(PRIMES), st.data())
def test_products_that_are_never_zero_need_one_constant_neuron(make_task: Any, p: int, data: DataObject) -> None:
    g1, g2 = (data.draw(tables(p)) % (p - 1) + 1 for _ in range(2))
    task = make_task("product", p, [g1, g2])
    network = solve(task, form="exact")
    assert network.width == max(2 * (p - 1) - 2, 1)
    assert largest_error(network, task) < 1e-13


def test_multiplication(make_task: Any) -> None:
    task = make_task("product", 97)
    network = solve(task, form="exact")
    assert network.width == 192
    assert largest_error(network, task) < 1e-13


@given(st.integers(1, 4), st.integers(2, 5), st.data())
def test_any_number_of_variables(make_task: Any, arity: int, p: int, data: DataObject) -> None:
    parts = [data.draw(tables(p)) for _ in range(arity)]
    task = make_task("function_of_sum", p, parts, data.draw(tables(p)))
    assert largest_error(solve(task, form="exact"), task) < 1e-12


@given(st.sampled_from([2, 3, 5]), st.data())
def test_products_of_three(make_task: Any, p: int, data: DataObject) -> None:
    task = make_task("function_of_product", p, [data.draw(tables(p)) for _ in range(3)], data.draw(tables(p)))
    assert largest_error(solve(task, form="exact"), task) < 1e-12


@pytest.mark.parametrize(("arity", "p"), [(5, 3), (6, 3), (7, 2), (7, 3), (8, 2)])
def test_up_to_eight_variables(make_task: Any, arity: int, p: int) -> None:
    task = make_task("sum", p, [np.arange(p)] * arity)
    assert largest_error(solve(task, form="exact"), task) < 1e-10


def test_one_variable_is_the_discrete_fourier_transform(make_task: Any) -> None:
    task = make_task("sum", 7, [np.arange(7)])
    assert solve(task, form="exact").width == 7


@pytest.mark.parametrize("arity", range(3, MOST_VARIABLES + 1))
def test_phases_of_many_variables_cancel_every_other_wave(arity: int) -> None:
    # (Σ cos(x_s + φ_s))^S consists of the waves exp(i Σ m_s (x_s + φ_s)) with |m_1| + … + |m_S| = S, S − 2, …
    slopes, neurons = 3 ** np.arange(arity), len(cancelling_phases(arity))
    np.testing.assert_allclose(cancelling_phases(arity)[1], 2 * np.pi * slopes / neurons)
    sums = {(0, 0, True)}
    for slope in slopes.tolist():
        sums = {
            (total + slope * (m - 1), used + abs(m), wanted and m == 1)
            for (total, used, wanted), m in itertools.product(sums, range(-arity, arity + 1))
            if used + abs(m) <= arity
        }
    assert all(total % neurons for total, used, wanted in sums if (arity - used) % 2 == 0 and not wanted)


@pytest.mark.parametrize("arity", [*range(3, 13), 30])
def test_waves_that_would_not_cancel_are_too_heavy(arity: int) -> None:
    # Σ 3^(s−1)(m_s − 1) = tM with Σ|m_s| ≤ S: only t = 0 and m = (1, …, 1). Parity excludes odd t.
    neurons, ones = 2 * 3 ** (arity - 1) + 1, (3**arity - 1) // 2

    @cache
    def lightest(number: int, places: int) -> tuple[int, int]:
        """Least Σ|m_s| with Σ 3^(s−1) m_s = number, and how many m have it: place by place, with a carry."""
        if places == 1:
            return abs(number), 1
        digits = [number % 3 + shift for shift in (-6, -3, 0, 3, 6)]
        rest = [lightest((number - digit) // 3, places - 1) for digit in digits]
        weights = [abs(digit) + weight for digit, (weight, _) in zip(digits, rest, strict=True)]
        least = min(weights)
        return least, sum(ways for weight, (_, ways) in zip(weights, rest, strict=True) if weight == least)

    assert lightest(ones, arity) == (arity, 1)
    even = [t for t in range(-2 * arity, 2 * arity + 1) if t and t % 2 == 0]
    assert min(lightest(ones + t * neurons, arity)[0] for t in even) == arity + 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_single_frequency_is_enough(make_task: Any, dtype: type) -> None:
    task = make_task("sum", 97)
    network = solve(task, form="exact", frequencies=[1], dtype=dtype)
    assert network.width == 5
    assert network.dtype == dtype
    assert score_table(network, task.table).accuracy == 1


@given(st.integers(2, 16), st.data())
def test_some_frequencies_give_the_truncated_fourier_series(make_task: Any, p: int, data: DataObject) -> None:
    frequencies = data.draw(st.lists(st.integers(1, p // 2), min_size=1, unique=True))
    task = make_task("sum", p)
    network = solve(task, form="exact", frequencies=frequencies)
    kept = {0, *frequencies, *(p - k for k in frequencies)}
    mask = np.array([k in kept for k in range(p)])
    series = np.fft.ifft(mask).real  # the delta function of Z_p has the transform 1 at every frequency
    n, m, q = np.indices((p, p, p))
    np.testing.assert_allclose(outputs(network, grid((p,) * 2)).reshape(p, p, p), series[(n + m - q) % p], atol=1e-13)
