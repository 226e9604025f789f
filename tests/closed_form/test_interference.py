"""What random phases leave: exact losses against networks, moments against their closed forms, accuracies measured."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.closed_form import default_width, expected_accuracy, expected_loss, solve, width_needed
from modgrok.closed_form.interference import Moments, moments, noise
from modgrok.networks import score_table


@given(st.integers(1, 20).map(lambda half: 2 * half + 1), st.integers(1, 8))
def test_loss_of_addition(make_task: Any, p: int, copies: int) -> None:
    coordinate, waves = make_task("sum", p).structure.coordinate, copies * (p - 1) // 2
    assert expected_loss(coordinate, waves) == pytest.approx(4 / waves + 1 / (p * (p - 1)), rel=1e-12)
    with_constant = expected_loss(coordinate, waves + 1, constant=True)
    assert with_constant == pytest.approx(4 * (p - 1) ** 2 / (p**2 * waves), rel=1e-12)


@pytest.mark.parametrize("p", [23, 97])
def test_the_loss_does_not_depend_on_the_phases_where_each_frequency_occurs_once(make_task: Any, p: int) -> None:
    task = make_task("sum", p)
    losses = [score_table(solve(task, width=(p - 1) // 2, seed=seed), task.table).loss for seed in range(3)]
    np.testing.assert_allclose(losses, expected_loss(task.structure.coordinate, (p - 1) // 2), rtol=1e-12)


@pytest.mark.parametrize(
    ("kind", "p", "arity", "outer", "width", "settings"),
    [
        ("sum", 12, 2, None, 30, {}),
        ("sum", 13, 2, None, 25, {"constant": True}),
        ("sum", 8, 2, None, 12, {"frequencies": np.array([1, 4])}),
        ("function_of_sum", 13, 2, 2, 30, {}),
        ("function_of_sum", 13, 2, 2, 30, {"branches": "one"}),
        ("product", 11, 2, None, 28, {}),
        ("product", 11, 2, None, 28, {"constant": True}),
        ("sum", 7, 1, None, 6, {}),
        ("sum", 5, 3, None, 20, {}),
        ("product", 5, 3, None, 30, {"constant": True}),
    ],
)
def test_loss_is_the_mean_over_phases(
    make_task: Any, kind: Any, p: int, arity: int, outer: int | None, width: int, settings: dict[str, Any]
) -> None:
    task = make_task(kind, p, [np.arange(p)] * arity, None if outer is None else np.arange(p) ** outer % p)
    expected = expected_loss(task.structure.coordinate, width, **settings)
    options = {name: x.tolist() if name == "frequencies" else x for name, x in settings.items()}
    losses = [score_table(solve(task, width=width, seed=seed, **options), task.table).loss for seed in range(200)]
    assert abs(np.mean(losses) - expected) < 4 * np.std(losses) / np.sqrt(len(losses)) + 1e-12


def test_arguments_that_share_places(make_task: Any) -> None:
    squares = np.arange(11) ** 2 % 11
    task = make_task("sum", 11, [squares, squares])
    losses = [score_table(solve(task, width=17, seed=seed), task.table).loss for seed in range(200)]
    expected = expected_loss(task.structure.coordinate, 17)
    assert abs(np.mean(losses) - expected) < 4 * np.std(losses) / np.sqrt(200)


def test_frequency_zero_removes_the_floor(make_task: Any) -> None:
    task, p = make_task("sum", 13), 13
    without, included = (
        score_table(solve(task, width=60000 + constant, constant=constant), task.table).loss
        for constant in (False, True)
    )
    assert without > 1 / (p * (p - 1))
    assert included < 2 * 4 / 60000


def test_moments_in_closed_form() -> None:
    assert moments("quadratic") == pytest.approx(Moments(1 / 2, 9 / 4, 3 / 8))
    assert moments("abs")[:2] == pytest.approx((8 / (3 * np.pi**2), 1))
    assert moments("relu")[:2] == pytest.approx((4 / (3 * np.pi**2), 1 / 2))
    assert moments("tanh").signal == pytest.approx(0, abs=1e-15)
    for scale in (1e-3, 0.01):
        for name, ratio in (("gelu", scale**2 / np.pi), ("silu", scale**2 / 8)):
            found = moments(name, scale)
            assert 2 * found.signal**2 / found.power == pytest.approx(ratio, rel=1e-3)


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "x^3"])
def test_moments_by_sampling(activation: str) -> None:
    from modgrok.networks.activation import activation as function_of

    a, b = np.random.default_rng(0).uniform(0, 2 * np.pi, (2, 400_000))
    values = function_of(activation)(1.3 * (np.cos(a) + np.cos(b)))
    sampled = [(values * np.cos(a + b)).mean(), (values**2).mean(), (values**2 * np.cos(2 * (a + b))).mean()]
    np.testing.assert_allclose(sampled, moments(activation, 1.3), atol=4 * values.std() ** 2 / 400)


@pytest.mark.parametrize("activation", ["quadratic", "abs", "relu", "x^4"])
def test_accuracy_against_width(make_task: Any, activation: str) -> None:
    task = make_task("sum", 31)
    for width in (20, 40, 80, 160, 320, 640):
        networks = (solve(task, width=width, activation=activation, seed=seed) for seed in range(6))
        measured = np.mean([score_table(network, task.table).accuracy for network in networks])
        assert expected_accuracy(activation, 31, width) == pytest.approx(measured, abs=0.12)


def test_widths_needed() -> None:
    widths = {name: width_needed(name, 97) for name in ("quadratic", "abs", "relu", "tanh")}
    assert widths["tanh"] is None
    assert widths["quadratic"] == pytest.approx(103, abs=2)
    assert widths["quadratic"] < widths["abs"] < widths["relu"]
    assert expected_accuracy("relu", 97, widths["relu"]) >= 0.99 > expected_accuracy("relu", 97, widths["relu"] - 1)


def test_gelu_needs_a_width_in_proportion_to_the_input_dimension() -> None:
    widths = [width_needed("gelu", 97, scale=dimension**-0.5) for dimension in (194, 388, 776)]
    assert widths[1] / widths[0] == pytest.approx(2, rel=0.02)
    assert widths[2] / widths[1] == pytest.approx(2, rel=0.02)


def test_noise_sets_the_default_widths(make_task: Any) -> None:
    assert noise(2) == pytest.approx(4)
    assert default_width("waves", make_task("sum", 3, [np.arange(3)] * 3)) == np.ceil(500 * noise(3) / 4)
