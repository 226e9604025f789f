import json

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.experiments.analysis import analyze
from modgrok.networks import two_layer
from modgrok.plot.portrait import portrait as draw
from modgrok.plot.weights import ordered_weights
from modgrok.tasks import task


@pytest.mark.parametrize(("expression", "modulus"), [("n+m", 11), ("n*m", 11), ("(n+m)^2", 12), ("n^2+m^2+n*m", 7)])
def test_numbers_are_json_and_agree(expression: str, modulus: int) -> None:
    found = task(expression, modulus)
    random = np.random.default_rng(0)
    network = two_layer(random.standard_normal((20, 2, modulus)), random.standard_normal((modulus, 20)))
    analysis = analyze(network, found, top=3)
    assert analysis.neurons_per_frequency.sum() == 20
    assert 0 < analysis.power_per_frequency.sum() < 1
    assert list(analysis.top) == sorted(analysis.top, key=lambda k: -analysis.power_per_frequency[k])
    numbers = json.loads(json.dumps(analysis.as_dict(), allow_nan=False))
    assert (numbers["task_ipr"] is None) == (found.structure.coordinate is None)
    assert numbers["cleaning"][0] == {
        "name": "as it is",
        "loss": analysis.score.loss,
        "accuracy": analysis.score.accuracy,
    }


@pytest.mark.parametrize(("expression", "modulus"), [("n+m", 11), ("n*m", 11), ("3*n-m", 8)])
def test_the_closed_form_is_no_distance_away(expression: str, modulus: int) -> None:
    found = task(expression, modulus)
    analysis = analyze(solve(found, form="exact"), found)
    assert analysis.distance.both < 1e-10
    assert analysis.table_distance < 1e-10
    assert analysis.residual_mean == pytest.approx(0, abs=1e-10)
    assert analysis.cleaning[1].accuracy == 1


def test_dead_and_huge_networks_have_numbers_too() -> None:
    found = task("n+m", 5)
    random = np.random.default_rng(0)
    w_in, w_out = random.standard_normal((4, 2, 5)), random.standard_normal((5, 4))
    dead = analyze(two_layer(0 * w_in, 0 * w_out), found)
    assert dead.top == ()
    assert dead.as_dict()["ipr"] is None
    assert dead.as_dict()["dead_neurons"] == 4
    assert draw(dead, None, "dead") is not None
    huge = two_layer((1e37 * w_in).astype(np.float32), (1e37 * w_out).astype(np.float32))
    assert json.dumps(analyze(huge, found).as_dict(), allow_nan=False)


def test_a_network_of_another_task_is_refused() -> None:
    with pytest.raises(ModgrokError, match="2 variables modulo 5"):
        analyze(solve(task("n+m", 5)), task("n+m", 7))


def test_ordered_weights_follow_the_coordinate() -> None:
    found = task("n*m", 11)
    rows = ordered_weights(analyze(solve(found, form="waves", width=30), found))
    assert rows.shape[1] == 22
    assert np.abs(rows).max() == 1
    # Along the discrete logarithm every block but its first column, which belongs to 0, is one wave.
    power = np.abs(np.fft.rfft(rows[:, 1:11], axis=1)) ** 2
    power = power[power.sum(axis=1) > 1e-12]
    assert np.median(power.max(axis=1) / power.sum(axis=1)) == pytest.approx(1)


def test_the_picture_has_its_panels() -> None:
    found = task("n+m", 5)
    history = {
        name: np.array([0.1, 0.5, 0.9]) for name in ("train_accuracy", "test_accuracy", "train_loss", "test_loss")
    }
    figure = draw(analyze(solve(found), found), history | {"step": np.array([0, 1, 2])}, "n+m mod 5")
    titles = {axes.get_title(loc="left") for axes in figure.axes}
    assert titles >= {"learning", "spectrum", "phases: 0 in the closed form"}
