"""The curvature along an update, verdicts, and every study on made-up runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.experiments import Experiment
from modgrok.experiments.programs import program_of
from modgrok.networks import Network
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.thilak2022.along_update import curvature, features, follow
from modgrok.reproduce.thilak2022.sizes import DOUBLE, FIRST, FULL, LAST, QUICK, TINY, perceptron
from modgrok.training.data import PaddedShape, run_data
from modgrok.training.kernels import kernel_for

PAPER = find_paper("thilak2022")
Outcomes = Callable[..., dict[str, str]]


def test_curvature_is_the_second_derivative_of_the_loss() -> None:
    experiment = Experiment(**perceptron(TINY) | {"record": (), "precision": "float64"}).resolve()
    task = experiment.load_task()
    program, examples = program_of(experiment, task, "cpu"), experiment.split.examples_of(task)
    with jax.enable_x64(True):
        data = jax.tree.map(jnp.asarray, run_data(program, task, examples, PaddedShape(int(examples.trained.sum()))))
        shapes = experiment.architecture.shapes(task.signature)
        rng = np.random.default_rng(0)
        weights, update = ({k: jnp.asarray(rng.normal(size=s)) for k, s in shapes.items()} for _ in range(2))

        @jax.jit
        def loss(along: Any) -> Any:
            moved = {name: weights[name] + along * update[name] for name in weights}
            return kernel_for(program).loss_and_grad(moved, data.batch, None, None)[0]

        h, length = 1e-3, sum(float((part**2).sum()) for part in update.values())
        second = (loss(h) - 2 * loss(0.0) + loss(-h)) / h**2
        found = jax.jit(partial(curvature, program))(weights, update, data)
        assert float(found) == pytest.approx(float(second) / length, rel=1e-3)


def test_a_run_is_followed_step_by_step() -> None:
    found = follow(Experiment(**perceptron(TINY) | {"record": ()}), 3, 1)
    assert found["step"].tolist() == [1, 2, 3]
    assert all(np.isfinite(values).all() for values in found.values())
    assert found["loss"][0] > found["loss"][-1]
    assert (found["feature_change"] > 0).all()


def test_features_of_a_transformer_make_its_outputs() -> None:
    (_, experiment), *_ = PAPER.study("figL").runs(TINY)
    resolved = experiment.resolve()
    found = follow(experiment, 3, 1, curved=False)
    assert found.keys() == {"step", "loss", "last_layer", "feature_change"}
    assert (found["feature_change"] > 0).tolist() == [False, True, True]  # The rate rises from 0.
    signature = resolved.load_task().signature
    rng = np.random.default_rng(0)
    shapes = resolved.architecture.shapes(signature)
    network = Network(resolved.architecture, signature, {k: rng.normal(size=s) for k, s in shapes.items()})
    inputs = np.array([[1, 2], [3, 4], [0, 5]])
    outputs = np.asarray(features(network, inputs)) @ network.parameters["unembedding.weight"].T
    np.testing.assert_allclose(outputs[:, : signature.outputs], network(inputs), rtol=1e-5)


SPIKES = {
    FIRST: [3, 3, 4],
    "ε = 1e-07": [2, 1, 1],
    LAST: [0, 0, 0],
    DOUBLE: [0, 0, 0],
    "RMSProp": [1, 2, 2],
    "gradient descent": [0, 0, 0],
    "momentum": [0, 0, 0],
    "weight decay 0.1": [0, 0, 0],
    "weight decay 1": [0, 0, 0],
}
"""Of each seed of every variant."""
COUNTS: list[dict[str, Any]] = [
    {
        "variant": name,
        "seed": seed,
        "spikes": spikes,
        "steps": 100,
        "train_accuracy": 1.0,
        "test_accuracy": 0.9 if name == FIRST else 0.1,
        "weight_decay": float(name.startswith("weight decay")),
    }
    for name, some in SPIKES.items()
    for seed, spikes in enumerate(some)
]


def curve(spikes: int, least: float = 1e-9) -> dict[str, list[float]]:
    """A loss that rises again so often after it has been at its least."""
    loss = [1.0, least] + spikes * [1.0, least] + (5 - spikes) * [least, least]
    return {"step": [10.0 * i for i in range(len(loss))], "train_loss": loss}


GROWN = {"spikes": 7, "share_of_growth": 0.6, "share_of_steps": 0.3, "growth": 5.0}
STAIRS = {
    "step": [0, 90, 100, 110, 190, 200, 210],
    "train_loss": [1.0, 1e-9, 1.0, 1e-9, 1e-9, 1.0, 1e-9],
    "last_layer": [1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0],
}
"""Two spikes at the ends of stairs."""
STEADY = [1.0, 1.9, 2.0, 2.1, 2.9, 3.0, 3.1]
PEAKS = [400.0, 1e-3, 2.0]
TABLES = {
    "fig2": [{"variant": name, "seed": seed} | GROWN | STAIRS for name in (FIRST, DOUBLE) for seed in (0, 1)],
    "fig3": [{"variant": name, "curvature_peaks": PEAKS, "feature_change_peaks": PEAKS} for name in (FIRST, DOUBLE)],
    "figF": [{"variant": FIRST, "steps": 7_000, "feature_change_peaks": PEAKS}],
    "fig4": COUNTS,
    "figT": [row | curve(row["spikes"]) for row in COUNTS],
    "figL": [
        {
            **{
                "variant": name,
                "seed": seed,
                "steps": 500_000,
                "best": best,
                "half_at": half,
                "last_layer": [1.0, 9.0],
            },
            **{"step": [0, 20_000], "late": late, "next_to_spikes": [0.9, 0.6, 0.1] if late else []},
        }
        for name, best, half, late in ((FIRST, 1.0, 200_000, [5_000, 7_000, 9_000, 12_000]), (LAST, 0.1, None, []))
        for seed in (0, 1)
    ],
}
"""Spikes as the paper has them."""


def test_the_papers_own_numbers_hold(outcomes: Outcomes) -> None:
    assert set(outcomes(PAPER, TABLES).values()) == {"holds"}


@pytest.mark.parametrize(
    ("claim", "study", "variant", "column", "value"),
    [
        ("larger_epsilon", "fig4", "ε = 1e-07", "spikes", 4),
        ("larger_epsilon", "fig4", LAST, "spikes", 1),
        ("precision_is_the_cause", "fig4", DOUBLE, "spikes", 1),
        ("precision_is_the_cause", "fig4", FIRST, "spikes", 0),
        ("adaptive_optimizers_only", "fig4", "momentum", "spikes", 1),
        ("decay_removes", "fig4", "weight decay 1", "spikes", 1),
        ("slingshots_of_the_transformer", "figT", "ε = 1e-07", "train_loss", curve(4)["train_loss"]),
        ("slingshots_of_the_transformer", "figT", DOUBLE, "train_loss", curve(1)["train_loss"]),
        ("slingshots_of_the_transformer", "figT", FIRST, "train_loss", curve(3, least=1e-4)["train_loss"]),
        ("generalization_after_stairs", "figL", FIRST, "best", 0.15),
        ("generalization_after_stairs", "figL", FIRST, "half_at", 4_000),
        ("stairs_of_the_transformer", "figL", FIRST, "next_to_spikes", [0.9, 0.4, 0.1]),
        ("stairs_of_the_transformer", "figL", FIRST, "next_to_spikes", []),
        ("stairs_and_spikes", "fig2", FIRST, "last_layer", STEADY),
        ("stairs_and_spikes", "fig2", FIRST, "train_loss", [1.0] + 6 * [1e-9]),
        ("curvature_peaks", "fig3", FIRST, "curvature_peaks", [1.0, 1e-3, 2.0]),
        ("curvature_peaks", "fig3", FIRST, "curvature_peaks", [None, 1e-3, 2.0]),
        ("features_change", "figF", FIRST, "feature_change_peaks", [1.0, 1e-3, 2.0]),
    ],
)
def test_every_claim_can_fail(
    claim: str, study: str, variant: str, column: str, value: Any, outcomes: Outcomes
) -> None:
    assert outcomes(PAPER, TABLES, (study, {"variant": variant}, column, value))[claim] == "does not hold here"


def test_generalization_is_undecided_before_the_papers_steps(outcomes: Outcomes) -> None:
    low, early = ("figL", {"variant": FIRST}, "best", 0.1), ("figL", {}, "steps", 15_000)
    assert outcomes(PAPER, TABLES, low, early)["generalization_after_stairs"] == "undecided here"
    assert outcomes(PAPER, TABLES, early)["generalization_after_stairs"] == "holds"


def test_features_are_undecided_without_a_spike(outcomes: Outcomes) -> None:
    peaks = ("figF", {}, "feature_change_peaks", [None, 1e-3, 2.0])
    assert outcomes(PAPER, TABLES, peaks)["features_change"] == "undecided here"


def test_a_single_seed_decides(outcomes: Outcomes) -> None:
    changed = [("fig4", {"variant": name, "seed": 1}, "spikes", 1) for name in (LAST, DOUBLE, "momentum")]
    found = outcomes(PAPER, TABLES, *changed, ("figT", {"variant": FIRST, "seed": 1}, "train_loss", [1.0] * 12))
    failing = ("larger_epsilon", "precision_is_the_cause", "adaptive_optimizers_only", "slingshots_of_the_transformer")
    assert {found[name] for name in failing} == {"does not hold here"}


def test_rmsprop_without_spikes_is_a_remark(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, TABLES, ("fig4", {"variant": "RMSProp"}, "spikes", 0))
    assert found["adaptive_optimizers_only"] == "holds with a remark"


def test_weak_decay_that_leaves_spikes_is_a_remark(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, TABLES, ("fig4", {"variant": "weight decay 0.1"}, "spikes", 3))
    assert found["decay_removes"] == "holds with a remark"


def test_spikes_that_differ_as_much_from_seed_to_seed_do_not_decide(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, TABLES, ("fig4", {"variant": "ε = 1e-07", "seed": 1}, "spikes", 4))
    assert found["larger_epsilon"] == "undecided here"


def test_profiles_train_what_the_paper_does() -> None:
    trained = {tags["variant"]: experiment.resolve() for tags, experiment in PAPER.study("figT").runs(FULL)}
    transformer = trained[FIRST]
    assert (transformer.task, transformer.modulus, transformer.batch_size) == ("n/m", 97, 512)
    assert (transformer.epsilon, transformer.weight_decay, transformer.beta2) == (1e-8, 0.0, 0.98)
    assert trained[DOUBLE].loss_precision == "float64"
    longest = {tags["variant"]: experiment.resolve() for tags, experiment in PAPER.study("figL").runs(FULL)}
    assert [(e.epsilon, e.steps, e.weight_decay, e.precision) for e in longest.values()] == [
        (epsilon, 500_000, 0.0, "highest") for epsilon in (1e-8, 1e-5)
    ]
    assert not FULL.left_out
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 250_000


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY).keys() == {claim.name for claim in PAPER.claims}
