"""The search for the smallest exact network: its derivatives, its bound, what it finds and what it refuses."""

from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import Attempt, exact_width, least_width, solve
from modgrok.closed_form.exact import _remainder, _wave_layers
from modgrok.closed_form.matrices import Layers, as_network, join
from modgrok.closed_form.minimal import _loss, _normal_equations, one_hot, search
from modgrok.errors import ModgrokError
from modgrok.networks import score_table
from modgrok.tasks import task


def test_normal_equations_are_those_of_the_residuals(make_task: Any) -> None:
    rng, target = np.random.default_rng(0), one_hot(make_task("sum", 4))
    weights = rng.normal(size=(3, 3, 4))

    def residuals(flat: np.ndarray) -> np.ndarray:
        u, v, w = flat.reshape(3, 3, 4)
        return (np.einsum("iq,inm->qnm", w, np.square(u[:, :, None] + v[:, None, :])) - target).reshape(-1)

    steps = 1e-6 * np.eye(weights.size)
    flat = weights.reshape(-1)
    jacobian = np.stack([residuals(flat + step) - residuals(flat - step) for step in steps], axis=1) / 2e-6
    matrix, gradient = _normal_equations(weights, target)
    np.testing.assert_allclose(matrix, jacobian.T @ jacobian, atol=1e-5)
    np.testing.assert_allclose(gradient, jacobian.T @ residuals(flat), atol=1e-5)
    assert _loss(weights, target) == pytest.approx(np.square(residuals(flat)).sum())


@pytest.mark.parametrize("p", [3, 5, 7, 97])
def test_bound_of_sums(make_task: Any, p: int) -> None:
    assert least_width(make_task("sum", p)) == 3 * (p - 1) // 2 + 1


def test_bounds_of_other_tasks(make_task: Any) -> None:
    assert least_width(make_task("sum", 8)) == 11
    assert least_width(make_task("product", 7)) == 9
    assert least_width(make_task("function_of_sum", 7, outer=np.arange(7) ** 2 % 7)) == 7  # independent slices
    assert least_width(make_task("product", 7, [np.arange(7) % 6 + 1] * 2)) == 2 * 5 - 3 + 1
    assert least_width(make_task("sum", 5, [np.zeros(5, int)] * 2)) == 1


@pytest.mark.parametrize(("kind", "p", "outer"), [("sum", 6, 1), ("product", 5, 1), ("function_of_sum", 5, 2)])
def test_exact_forms_are_not_below_the_bound(make_task: Any, kind: Any, p: int, outer: int) -> None:
    task = make_task(kind, p, outer=np.arange(p) ** outer % p)
    assert least_width(task) <= exact_width(task.structure.coordinate)


@pytest.mark.parametrize(("kind", "p", "width"), [("sum", 3, 4), ("sum", 5, 8), ("sum", 4, 5), ("product", 5, 7)])
def test_smaller_than_the_closed_form(make_task: Any, kind: Any, p: int, width: int) -> None:
    task, heard = make_task(kind, p), list[Attempt]()
    network = solve(task, form="minimal", width=width, report=heard.append)
    assert network.width == width < exact_width(task.structure.coordinate)
    score = score_table(network, task.table)
    assert score.accuracy == 1
    assert score.loss < 1e-20
    assert [attempt.starts for attempt in heard] == list(range(1, len(heard) + 1))
    assert heard[-1].exact


def test_a_smaller_network_of_a_divisor_saves_as_much(make_task: Any) -> None:
    small, task = solve(make_task("sum", 3), form="minimal", parametrization="standard"), make_task("sum", 9)
    assert small.width == 4
    frequencies, coordinate = np.array([1, 2, 4]), task.structure.coordinate
    waves = _wave_layers(coordinate, frequencies, "all")
    # Σ_q of the outputs is 1: the sums of the small network's readouts are a constant neuron.
    readout = np.tile(small.w_out, (3, 1)) / 3 - np.outer(_remainder(9, frequencies), small.w_out.sum(axis=0))
    layers = join(waves, Layers(np.tile(small.w_in, (1, 1, 3)), readout))
    network = as_network(layers, "quadratic", "mean-field", np.dtype(np.float64))
    assert network.width == 16 == exact_width(coordinate) - 1
    assert score_table(network, task.table).loss < 1e-20


def test_the_same_seed_finds_the_same_network(make_task: Any) -> None:
    first, second = (solve(make_task("sum", 3), form="minimal", width=4, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.w_in, second.w_in)


def test_a_search_in_vain(make_task: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    task = make_task("sum", 3)
    assert least_width(task) == 4
    found = search(one_hot(task), 3, np.random.default_rng(0), starts=5)
    assert (found.starts, found.exact) == (5, False)
    assert found.loss == pytest.approx(_loss(found.weights, one_hot(task)))
    monkeypatch.setattr("modgrok.closed_form.minimal.SECONDS", 0.2)
    with pytest.raises(ModgrokError, match=r"no exact network of width 3 .* at least 4 .* and 5 are enough"):
        solve(task, form="minimal", width=3)
    assert solve(make_task("sum", 13), form="minimal").width == 25


def test_the_quaternion_group_has_twelve_exact_neurons() -> None:
    product = task("group:Q8")
    assert exact_width(product.structure.basis) == 20
    found = search(one_hot(product), 12, np.random.default_rng((0, 12)), starts=3)
    assert found.exact


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"frequencies": [1]}, "no frequencies"),
        ({"branches": "one"}, "branches"),
        ({"activation": "relu"}, "activation"),
        ({"constant": True}, "has it anyway"),
    ],
)
def test_what_is_not_to_choose(make_task: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ModgrokError, match=message):
        solve(make_task("sum", 3), form="minimal", **settings)


def test_refusals(make_task: Any) -> None:
    with pytest.raises(ModgrokError, match="up to p = 13"):
        solve(make_task("sum", 17), form="minimal")
    with pytest.raises(ModgrokError, match="two variables"):
        solve(make_task("sum", 3, [np.arange(3)] * 3), form="minimal")
