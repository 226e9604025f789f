"""Random phases: Claims I and II, the Corollary with its branches, products, several variables."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from modgrok.closed_form import solve
from modgrok.measures import ipr, power_spectrum
from modgrok.networks import grid, outputs, score_table


def accuracy(task: Any, **settings: Any) -> float:
    return score_table(solve(task, **settings), task.table).accuracy


def test_weights_are_the_claim(make_task: Any) -> None:
    p, width = 11, 30
    network = solve(make_task("sum", p), width=width, seed=3)
    phases = np.random.default_rng(3).uniform(0, 2 * np.pi, (width, 2))
    k = np.arange(width) % 5 + 1
    amplitude = (2 * 2 * p) ** (1 / 3)
    for s in range(2):
        wave = np.cos(2 * np.pi * np.outer(k, np.arange(p)) / p + phases[:, s, None])
        np.testing.assert_allclose(network.w_in[:, s], amplitude * wave, atol=1e-12)
    readout = np.cos(-2 * np.pi * np.outer(np.arange(p), k) / p - phases.sum(axis=1))
    np.testing.assert_allclose(network.w_out, amplitude * readout, atol=1e-12)


@pytest.mark.parametrize(
    ("width", "low", "high"), [(16, 0.1, 0.35), (32, 0.5, 0.75), (96, 0.98, 1), (200, 1, 1), (500, 1, 1)]
)
def test_accuracy_grows_with_the_width(make_task: Any, width: int, low: float, high: float) -> None:
    assert low <= accuracy(make_task("sum", 97), width=width) <= high


def test_every_neuron_is_one_wave_in_both_halves(make_task: Any) -> None:
    ratios = ipr(power_spectrum(solve(make_task("sum", 97)).w_in))
    np.testing.assert_allclose(ratios, 0.25, atol=1e-12)


@pytest.mark.parametrize("form", ["waves", "complex"])
@pytest.mark.parametrize("p", [12, 13])
def test_output_tends_to_the_answer(make_task: Any, form: Any, p: int) -> None:
    # Without the frequency 0 the limit is 1 at the answer and −1/(p−1) elsewhere.
    task = make_task("sum", p)
    limit = (np.eye(p) * p - 1)[task.table.reshape(-1)] / (p - 1)
    errors = [
        np.square(outputs(solve(task, form=form, width=width), grid((p,) * 2)) - limit).mean()
        for width in (6 * 20, 6 * 200, 6 * 2000)
    ]
    assert errors[0] > 4 * errors[1] > 16 * errors[2]
    assert errors[2] < 1e-3


def test_branches(make_task: Any) -> None:
    task = make_task("function_of_sum", 97, outer=np.arange(97) ** 2 % 97)
    assert 0.5 < accuracy(task, branches="one") < 0.53
    assert accuracy(task, branches="all") == 1


def test_an_answer_without_preimage_has_no_readout(make_task: Any) -> None:
    network = solve(make_task("function_of_sum", 13, outer=np.arange(13) ** 2 % 13), width=20)
    squares = np.unique(np.arange(13) ** 2 % 13)
    np.testing.assert_array_equal(np.flatnonzero(network.w_out.any(axis=1)), squares)


@pytest.mark.parametrize("branches", ["one", "all"])
def test_sums_that_never_occur_are_no_preimages(make_task: Any, branches: Any) -> None:
    p = 12
    even = 2 * np.arange(p) % p
    occurring = make_task("function_of_sum", p, [even, even], np.where(np.arange(p) % 2, 0, np.arange(p)))
    elsewhere = make_task("function_of_sum", p, [even, even], np.where(np.arange(p) % 2, 5, np.arange(p)))
    first, second = (solve(task, width=50, branches=branches) for task in (occurring, elsewhere))
    np.testing.assert_array_equal(first.w_out, second.w_out)


@pytest.mark.parametrize("form", ["waves", "complex"])
@pytest.mark.parametrize("p", [2, 3, 5, 97])
def test_products(make_task: Any, form: Any, p: int) -> None:
    network = solve(make_task("product", p), form=form)
    assert network.width == 500
    assert accuracy(make_task("product", p), form=form) == 1


def test_products_have_no_wave_at_zero(make_task: Any) -> None:
    network = solve(make_task("product", 7), width=20)
    assert not network.w_in[:-3, :, 0].any()
    assert network.w_in[:-3, :, 1:].any(axis=(1, 2)).all()


@pytest.mark.parametrize(("arity", "p"), [(1, 2), (1, 9), (3, 5), (3, 6)])
@pytest.mark.parametrize("form", ["waves", "complex"])
def test_many_variables(make_task: Any, arity: int, p: int, form: Any) -> None:
    task = make_task("sum", p, [np.arange(p)] * arity)
    network = solve(task, form=form)
    assert network.activation == f"x^{arity}"
    assert score_table(network, task.table).accuracy == 1


def test_products_of_three(make_task: Any) -> None:
    assert accuracy(make_task("product", 5, [np.arange(5)] * 3)) == 1


@given(st.sampled_from(["waves", "exact"]), st.integers(1, 3), st.sampled_from([2, 3, 5]))
def test_parametrizations_are_the_same_function(make_task: Any, form: Any, arity: int, p: int) -> None:
    task = make_task("product", p, [np.arange(p)] * arity)
    width = None if form == "exact" else 40
    paper = solve(task, form=form, width=width)
    standard = solve(task, form=form, width=width, parametrization="standard")
    inputs = grid((p,) * arity)
    np.testing.assert_allclose(outputs(standard, inputs), outputs(paper, inputs), atol=1e-11)


def test_frequencies_restrict_the_waves(make_task: Any) -> None:
    power = power_spectrum(solve(make_task("sum", 13), width=9, frequencies=[2, 5]).w_in).sum(axis=1)
    assert power[:, :7].argmax(axis=1).tolist() == [2, 5] * 4 + [2]


def test_complex_network_is_appendix_a(make_task: Any) -> None:
    network = solve(make_task("sum", 97), form="complex", width=64)
    assert network.dtype == np.complex128
    np.testing.assert_allclose(abs(network.w_in), (97) ** (1 / 3), rtol=1e-12)
    assert accuracy(make_task("sum", 97), form="complex", width=64) == 1
    assert solve(make_task("sum", 5), form="complex", dtype=np.float32).dtype == np.complex64


@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 100), st.data())
def test_complex_networks_of_any_width_answer_every_sum(
    make_task: Any, p: int, width: int, seed: int, data: DataObject
) -> None:
    # (e^{iA} + e^{iB})² = 4 cos²((A − B)/2) e^{i(A + B)}: no wave that a neuron adds has the wrong sign.
    values = st.lists(st.integers(0, p - 1), min_size=p, max_size=p).map(np.array)
    outer = np.array(data.draw(st.permutations(range(p))))
    task = make_task("function_of_sum", p, [data.draw(values), data.draw(values)], outer)
    assert accuracy(task, form="complex", width=width, seed=seed) == 1


@pytest.mark.parametrize("p", [3, 5, 7, 23, 97])
@pytest.mark.parametrize("seed", range(3))
def test_one_complex_neuron_answers_every_product(make_task: Any, p: int, seed: int) -> None:
    assert accuracy(make_task("product", p), form="complex", width=4, seed=seed) == 1  # three more count zeros


def test_a_complex_neuron_with_equal_phases_is_silent_at_opposite_places(make_task: Any) -> None:
    for p in (12, 13):
        n = np.arange(p)
        wave = np.exp(2j * np.pi * n / p)
        factor = abs(wave[:, None] + wave) ** 2
        assert (factor < 1e-20).sum() == (p if p % 2 == 0 else 0)


@pytest.mark.parametrize("activation", ["relu", "abs", "x^4"])
def test_other_activations_on_the_same_weights(make_task: Any, activation: str) -> None:
    task = make_task("sum", 31)
    network = solve(task, activation=activation, width=1500)
    assert network.activation == activation
    np.testing.assert_array_equal(network.w_in, solve(task, width=1500).w_in)
    assert score_table(network, task.table).accuracy == 1


def test_seeds(make_task: Any) -> None:
    task = make_task("sum", 5)
    first, again, other = (solve(task, width=10, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.w_in, again.w_in)
    assert (first.w_in != other.w_in).any()
