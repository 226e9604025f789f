"""Spikes and stairs of made-up curves, the curvature along an update, verdicts, and every study on made-up runs."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.experiments.programs import program_of
from modgrok.reproduce.thilak2022 import PAPER, claims
from modgrok.reproduce.thilak2022.along_update import curvature, follow
from modgrok.reproduce.thilak2022.profile import DOUBLE, FIRST, FULL, QUICK, TINY
from modgrok.reproduce.thilak2022.spikes import growth, near, spikes
from modgrok.training.data import Room, run_data
from modgrok.training.kernels import kernel_for

STEPS = np.arange(0, 1000, 10)


def loss_with_spikes(*places: int) -> np.ndarray:
    """Falls a decade every 50 steps to 1e-9; a spike lasts 30 steps."""
    loss = np.maximum(10 ** (-STEPS / 50), 1e-9)
    for place in places:
        loss[(place <= STEPS) & (place + 30 > STEPS)] = 0.5
    return loss


def test_spikes_are_counted_where_they_begin() -> None:
    assert spikes(STEPS, loss_with_spikes()) == []
    assert spikes(STEPS, loss_with_spikes(500, 800)) == [500, 800]
    rounding = loss_with_spikes()
    rounding[60:70] = 9e-6
    assert spikes(STEPS, rounding) == []


def test_growth_in_spikes() -> None:
    norm = np.where(STEPS < 500, 1.0, 2.0) + 1e-4 * STEPS
    found = growth(STEPS, loss_with_spikes(500), norm)
    assert found["begun"] in (250, 260)  # 10⁻⁵ is the limit itself
    assert found["share_of_growth"] > 0.9
    assert found["share_of_steps"] < 0.1
    assert growth(STEPS, loss_with_spikes(800), norm)["share_of_growth"] < 0.1
    assert growth(STEPS, loss_with_spikes(), norm)["share_of_growth"] == 0
    assert near(STEPS, [500], 50).sum() == 11


def test_curvature_is_the_second_derivative_of_the_loss() -> None:
    experiment = TINY.perceptron(record=(), precision="float64").resolve()
    task = experiment.load_task()
    program, examples = program_of(experiment, task, "cpu"), experiment.split.examples_of(task)
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, run_data(program, task, examples, Room(int(examples.trained.sum()))))
        shapes = experiment.architecture.shapes(task.signature)
        rng = np.random.default_rng(0)
        weights, update = ({k: jnp.asarray(rng.normal(size=s)) for k, s in shapes.items()} for _ in range(2))

        @jax.jit
        def loss(along: Any) -> Any:
            moved = {name: weights[name] + along * update[name] for name in weights}
            return kernel_for(program).slope(program, moved, data.batch, None, None)[0]

        h, length = 1e-3, sum(float((part**2).sum()) for part in update.values())
        second = (loss(h) - 2 * loss(0.0) + loss(-h)) / h**2
        found = jax.jit(partial(curvature, program))(weights, update, data)
        assert float(found) == pytest.approx(float(second) / length, rel=1e-3)


def test_a_run_is_followed_step_by_step() -> None:
    found = follow(TINY.perceptron(record=()), 3, 1)
    assert found["step"].tolist() == [1, 2, 3]
    assert all(np.isfinite(values).all() for values in found.values())
    assert found["loss"][0] > found["loss"][-1]
    assert (found["feature_change"] > 0).all()


def counted(**counts: list[int]) -> dict[str, Any]:
    """Numbers of fig4 with these spikes of each seed."""
    names = {"small": FIRST, "middle": "ε = 1e-07", "large": "ε = 1e-05", "double": DOUBLE, "rms": "RMSProp"}
    names |= {"gd": "gradient descent", "momentum": "momentum", "decay": "weight decay 1"}
    usual = {"small": [3, 3], "middle": [2, 1], "rms": [1, 2]} | counts
    one = {"train_accuracy": 1.0, "test_accuracy": 0.1, "last_layer": 9.0}
    return {
        "steps": 100,
        "variants": {name: [{"spikes": k} | one for k in usual.get(key, [0, 0])] for key, name in names.items()},
    }


@pytest.mark.parametrize(
    ("claim", "changed", "outcome"),
    [
        ("larger_epsilon", {}, "holds"),
        ("larger_epsilon", {"middle": [3, 3]}, "does not hold here"),
        ("larger_epsilon", {"large": [0, 1]}, "does not hold here"),
        ("precision_is_the_cause", {}, "holds"),
        ("precision_is_the_cause", {"double": [0, 1]}, "does not hold here"),
        ("precision_is_the_cause", {"small": [3, 0]}, "does not hold here"),
        ("adaptive_optimizers_only", {}, "holds"),
        ("adaptive_optimizers_only", {"rms": [0, 0]}, "holds with a remark"),
        ("adaptive_optimizers_only", {"momentum": [1, 0]}, "does not hold here"),
        ("decay_removes", {}, "holds"),
        ("decay_removes", {"decay": [1, 0]}, "does not hold here"),
        ("slingshots_of_the_transformer", {}, "holds"),
        ("slingshots_of_the_transformer", {"gd": [1, 0]}, "does not hold here"),
        ("slingshots_of_the_transformer", {"small": [3, 0]}, "does not hold here"),
        ("generalization_after_stairs", {}, "does not hold here"),
    ],
)
def test_verdicts_on_counts(claim: str, changed: dict[str, list[int]], outcome: str) -> None:
    assert getattr(claims, claim).judge(counted(**changed)).outcome == outcome


def test_late_generalization_holds_where_stairs_generalize() -> None:
    numbers = counted()
    for one in numbers["variants"][FIRST]:
        one["test_accuracy"] = 0.9
    assert claims.generalization_after_stairs.judge(numbers).outcome == "holds"


@pytest.mark.parametrize(
    ("share", "found", "outcome"),
    [(0.6, [7], "holds"), (0.3, [7], "does not hold here"), (0.6, [], "does not hold here")],
)
def test_verdicts_on_stairs(share: float, found: list[int], outcome: str) -> None:
    run = {"spikes": found, "share_of_growth": share, "share_of_steps": 0.3, "growth": 5.0}
    numbers = {"variants": {FIRST: [run, run], DOUBLE: [run]}}
    assert claims.stairs_and_spikes.judge(numbers).outcome == outcome


@pytest.mark.parametrize(
    ("top", "outcome"), [(400.0, "holds"), (1.0, "does not hold here"), (None, "does not hold here")]
)
def test_verdicts_on_peaks(top: float | None, outcome: str) -> None:
    peak = {"at_spikes": top, "elsewhere": 1e-3, "largest_elsewhere": 2.0}
    peaks = {"peaks": {"curvature": peak, "feature_change": peak}}
    numbers = {"variants": {FIRST: peaks, DOUBLE: peaks}}
    assert claims.curvature_peaks.judge(numbers).outcome == outcome
    assert claims.features_change.judge(numbers).outcome == outcome


def test_profiles_train_what_the_paper_does() -> None:
    transformer = FULL.transformers()[FIRST][0].resolve()
    assert (transformer.task, transformer.modulus, transformer.batch_size) == ("n/m", 97, 512)
    assert (transformer.epsilon, transformer.weight_decay, transformer.beta2) == (1e-8, 0.0, 0.98)
    assert FULL.transformers()[DOUBLE][0].loss_precision == "float64"
    assert not FULL.left_out
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 250_000


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}
