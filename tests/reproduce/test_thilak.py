"""Spikes and stairs of made-up curves, the curvature along an update, verdicts, and the pipeline on small runs."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.thilak2022 import PAPER, claims
from modgrok.reproduce.thilak2022.along_update import follow
from modgrok.reproduce.thilak2022.profile import DOUBLE, FIRST, FULL, QUICK, TINY
from modgrok.reproduce.thilak2022.spikes import growth, near, spikes

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


def test_growth_near_spikes() -> None:
    norm = np.where(STEPS < 480, 1.0, 2.0) + 1e-4 * STEPS
    found = growth(STEPS, loss_with_spikes(500), norm, 50)
    assert found["begun"] in (250, 260)  # 10⁻⁵ is the limit itself
    assert found["share_of_growth"] > 0.9
    assert found["share_of_steps"] < 0.2
    assert near(STEPS, [500], 50).sum() == 11
    assert growth(STEPS, loss_with_spikes(), norm, 50)["share_of_growth"] == 0


def test_curvature_along_the_update() -> None:
    experiment = TINY.perceptron(record=(), precision="float64")
    found = follow(experiment, 4, 2)
    assert found["step"].tolist() == [2, 4]
    assert all(np.isfinite(values).all() for values in found.values())
    assert (found["feature_change"] > 0).all()
    assert (found["last_layer"] > 0).all()
    assert found["curvature"] == pytest.approx(by_differences(experiment), rel=1e-3)


def by_differences(experiment: Any) -> list[float]:
    """The curvature along the second and the fourth update of Adam, from gradients near by, in plain NumPy and JAX."""
    import optax

    task = experiment.load_task()
    examples = experiment.resolve().split.examples_of(task)
    inputs, labels = examples.inputs[examples.trained], examples.labels[examples.trained]
    architecture, signature = experiment.architecture, task.signature

    with jax.enable_x64(True), jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):

        def loss(weights: Any) -> Any:
            logits = architecture.apply(weights, inputs, signature)
            return -jax.nn.log_softmax(logits)[np.arange(len(labels)), labels].mean()

        gradient = jax.jit(jax.grad(loss))
        key = jax.random.fold_in(jax.random.key(np.uint32(experiment.seed)), 0)
        weights = architecture.init(key, signature, np.float32(1), "float64")
        adam = optax.adam(experiment.lr, 0.9, 0.98)
        state, found, h = adam.init(weights), [], 1e-3
        for _ in range(4):
            update, state = adam.update(gradient(weights), state)
            forth, back = (
                gradient(jax.tree.map(lambda w, u, s=sign: w + s * h * u, weights, update)) for sign in (1, -1)
            )
            along = sum(float((update[k] * (forth[k] - back[k])).sum()) for k in update) / (2 * h)
            found.append(along / sum(float((u**2).sum()) for u in update.values()))
            weights = jax.tree.map(lambda w, u: w + u, weights, update)
    return [found[1], found[3]]


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


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("thilak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["stairs_and_spikes"].outcome == "does not hold here"
    assert (tmp_path / "figures" / "fig2.png").exists()
    assert "None" not in (tmp_path / "report.md").read_text()
