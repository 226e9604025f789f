"""The exact numbers of the solvable models, and the paper's pipeline on small samples."""

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from scipy.special import gamma, hyp2f1

from modgrok.measures import tensor_network, threshold_model
from modgrok.measures.linear_flow import Ball, test_error
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.zunkovic2022 import rule30
from modgrok.reproduce.zunkovic2022.trained import strings

PAPER = find_paper("zunkovic2022")

ball_error = test_error
del test_error  # pytest would collect it


@pytest.mark.parametrize(("gap", "known"), [(0.4, 0.6366), (0.1, 0.1956), (0.04, 0.0797)])
def test_two_points_of_each_class_have_a_simple_form(gap: float, known: float) -> None:
    assert threshold_model.probability(gap, 2) == pytest.approx(1 - (1 + 2 * gap) * np.exp(-4 * gap), abs=1e-10)
    assert threshold_model.probability(gap, 2) == pytest.approx(known, abs=1e-4)
    means = threshold_model.draw_offsets(2, 100_000, np.random.default_rng(0)).mean
    assert np.mean(np.abs(means) < gap) == pytest.approx(known, abs=3 * np.sqrt(known * (1 - known) / 1e5))


@pytest.mark.parametrize("samples", [1, 2, 5, 40])
def test_the_density_of_means_is_one(samples: int) -> None:
    assert threshold_model.probability(12.0, samples) == pytest.approx(1, abs=1e-3)


def test_times_in_one_dimension_are_distributed_as_samples() -> None:
    times = threshold_model.grokking_times(threshold_model.draw_offsets(2, 100_000, np.random.default_rng(1)), 0.4)
    shares = np.array([0.1, 0.5, 0.9])
    assert threshold_model.time_distribution(np.quantile(times, shares), 0.4) == pytest.approx(shares, abs=0.006)


def test_the_test_error_vanishes_at_the_zero_time() -> None:
    time = threshold_model.zero_time(0.7, 21.0, 1.0, l2=0.5)
    b = threshold_model.threshold(np.array([0.0, time - 1e-6, time + 1e-6]), 0.7, 21.0, l2=0.5)
    assert b[0] == 21
    assert threshold_model.test_error(b, 1.0) == pytest.approx([0.5, 0, 0], abs=1e-5)
    assert threshold_model.test_error(b, 1.0)[2] == 0


@pytest.mark.parametrize(("dimension", "known"), [(2, 0.1955), (5, 0.1035), (10, 0.0409)])
def test_the_error_of_balls_is_the_papers(dimension: int, known: float) -> None:
    h = np.linspace(0, 0.99, 12)
    factor = dimension * gamma(dimension / 2) / (2 * np.sqrt(np.pi) * gamma((dimension + 1) / 2))
    papers = 0.5 - factor * h * hyp2f1(0.5, (1 - dimension) / 2, 1.5, h**2)
    assert ball_error(h, dimension) == pytest.approx(papers, abs=1e-9)
    assert float(ball_error(np.array(0.5), dimension)) == pytest.approx(known, abs=1e-4)
    assert float(ball_error(np.array(-0.5), dimension)) == pytest.approx(1 - known, abs=1e-4)
    near = dimension * 2 ** ((dimension - 3) / 2) * gamma(dimension / 2)
    near /= np.sqrt(np.pi) * gamma((dimension + 3) / 2)
    assert float(ball_error(np.array(1 - 1e-4), dimension)) == pytest.approx(
        near * 1e-4 ** ((dimension + 1) / 2), rel=0.01
    )


@pytest.mark.parametrize(
    ("ball", "formula", "sampled"),
    [
        (Ball(2, 1.01), 0.592, 0.581),
        (Ball(5, 1.01), 0.089, 0.085),
        (Ball(10, 1.01), 0.0035, 0.005),
        (Ball(2, 1.1), 0.994, 0.986),
        (Ball(5, 1.1), 0.968, 0.952),
        (Ball(10, 1.1), 0.947, 0.955),
        (Ball(20, 1.1), 0.972, 0.991),
        (Ball(5, 1.01, 40), 0.584, 0.561),
        (Ball(5, 1.01, 10, 30.0), 0.421, 0.405),
        (Ball(10, 1.01, 50), 0.442, 0.418),
    ],
)
def test_the_probability_of_balls(ball: Ball, formula: float, sampled: float) -> None:
    assert ball.predicted_probability() == pytest.approx(formula, abs=6e-4)
    sigma = np.sqrt(sampled * (1 - sampled) * (1 / 1000 + 1 / 3000))
    assert ball.sampled_probability(1000, np.random.default_rng(2)) == pytest.approx(sampled, abs=3.5 * sigma)


def test_the_printed_formula_is_wrong_in_high_dimension() -> None:
    printed = [Ball(D, 1.1).predicted_probability(printed=True) for D in (2, 5, 10, 20)]
    assert printed == pytest.approx([0.985, 0.907, 0.775, 0.629], abs=6e-4)


@pytest.mark.parametrize(
    ("ball", "simulated", "right", "printed"),
    [
        (Ball(5, 2.0, 2000, 0.01), 0.894, 0.941, 0.211),
        (Ball(10, 1.5, 2000, 0.01), 3.17, 3.15, 1.18),
        (Ball(10, 1.2, 2000, 0.1), 3.24, 3.23, 1.80),
        (Ball(20, 2.0, 2000, 0.01), 2.62, 2.59, 0.58),
    ],
)
def test_slow_times(ball: Ball, simulated: float, right: float, printed: float) -> None:
    assert ball.slow_time() == pytest.approx(right, rel=0.005)
    assert ball.slow_time(printed=True) == pytest.approx(printed, rel=0.006)
    assert ball.limit_times(2000, np.random.default_rng(0)).mean() == pytest.approx(simulated, rel=0.04)


def test_l1_groks_where_l2_does_not() -> None:
    ball, rng = Ball(10, 1.01), np.random.default_rng(0)
    assert ball.sampled_probability(200, rng) < 0.05
    assert ball.sampled_probability(200, rng, l1=0.3) > 0.9


def test_rule_30_and_its_features() -> None:
    inputs = rule30.all_inputs(np.array(rule30.EXAMPLES[0]), 3)
    # A ring of three is its site, the right and the left neighbor: 0, 1, 0 has the neighborhood 001.
    assert list(inputs.answers) == [-1, 1, 1, -1, 1, -1, 1, -1]
    assert np.linalg.norm(inputs.features, axis=1) == pytest.approx(1)
    both = rule30.all_inputs(np.array(rule30.EXAMPLES[:2]), 3)
    assert both.features[0] == pytest.approx(inputs.features)


@pytest.mark.parametrize("example", range(3))
def test_effective_dimensions_are_those_of_table_1(example: int) -> None:
    inputs = rule30.all_inputs(np.array(rule30.EXAMPLES[example]), 10)
    assert rule30.mean_dimension(inputs) == pytest.approx(rule30.DIMENSIONS[example], abs=0.3)


ERRORS = dict.fromkeys(("l1, 3 bits", "l2, 3 bits", "l2, 4 bits"), 0.0)
BEST = {name: [0.01] for name in rule30.TRAINED}
RULE = {
    "end_error": ERRORS,
    "best": BEST,
    "other_exponents": {"not normalized": [0.8]},
    "random_l1": 0.01,
    "random_l2": 0.01,
    "pairs": 100,
}
TABLE = [
    RULE | {"example": i + 1, "effective_dimension": d, "exponents": [e - 0.05, e, e + 0.05]}
    for i, (d, e) in enumerate(zip(rule30.DIMENSIONS, rule30.EXPONENTS, strict=True))
]


@pytest.mark.parametrize(
    ("claim", "exponents", "outcome"),
    [
        ("rule_exponents", None, "holds"),
        ("rule_exponents", [1.4, 1.5, 1.6], "does not hold here"),
        ("rule_exponents", [0.7, 1.5, 2.5], "undecided here"),
        ("rule_below_ball", None, "holds"),
        ("rule_below_ball", [2.4, 2.5, 2.6], "does not hold here"),
    ],
)
def test_exponents_of_rule_30(claim: str, exponents: list[float] | None, outcome: str, outcomes: Any) -> None:
    changes = [("figT1", {"example": 1}, "exponents", exponents)] if exponents else []
    assert outcomes(PAPER, {"figT1": TABLE}, *changes)[claim] == outcome


SETTING = {"dimension": 5, "samples": 10, "l2": 0.1, "gap": 1.1}
MODELS: dict[str, list[dict[str, Any]]] = {
    "figT1": TABLE,
    "fig3": [{"error": [0.2, 0.1], "sampled": [0.21, 0.1], "sigma": 0.01, "exponent": 1.01}],
    "fig4": [{"samples": 2, "sigmas": [1.0, -2.0]}],
    "fig5": [{"gap": 0.4, "distance": 0.001, "allowed": 0.002, "median": 0.3}],
    "figE": [{"dimension": 5, "exponent": 3.0, "flow_exponent": 3.01, "sigmas": [1.0]}],
    "fig7": [{"dimension": 10, "train_zero": 1.0, "test_zero": 2.0, "between": 0.1}],
    "fig8": [
        SETTING | {"part": part, "formula": 0.6, "sampled": 0.59, "printed": 0.3, "l1_sampled": 0.9}
        for part in ("table", "sparse")
    ],
    "fig9": [SETTING | {"sampled": 3.2, "corrected": 3.1, "printed": 1.2}],
}


@pytest.mark.parametrize(
    ("claim", "study", "column", "value"),
    [
        ("linear_transition", "fig3", "exponent", 1.1),
        ("linear_transition", "fig3", "sampled", [0.3, 0.1]),
        ("probability_in_one_dimension", "fig4", "sigmas", [4.0]),
        ("times_in_one_dimension", "fig5", "distance", 0.003),
        ("ball_exponent", "figE", "flow_exponent", 3.1),
        ("ball_exponent", "figE", "sigmas", [-5.0]),
        ("ball_grokking", "fig7", "test_zero", 0.5),
        ("ball_grokking", "fig7", "test_zero", None),
        ("ball_probability", "fig8", "formula", 0.7),
        ("sparse_weights", "fig8", "l1_sampled", 0.6),
        ("ball_times", "fig9", "corrected", 2.0),
        ("effective_dimensions", "figT1", "effective_dimension", 4.5),
        ("local_rule", "figT1", "end_error", dict.fromkeys(ERRORS, 0.1)),
        ("rare_networks", "figT1", "random_l1", 0.1),
    ],
)
def test_the_solvable_models_can_fail(claim: str, study: str, column: str, value: Any, outcomes: Any) -> None:
    assert outcomes(PAPER, MODELS)[claim].startswith("holds")
    assert outcomes(PAPER, MODELS, (study, {}, column, value))[claim] == "does not hold here"


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("zunkovic2022", "tiny", out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["ball_exponent"].outcome == "holds"
    text = (tmp_path / "report.md").read_text()
    assert "by formulas and samples" in text
    assert len(list((tmp_path / "figures").glob("*.png"))) == len(PAPER.figures)
    assert PAPER.profile("quick").sets < PAPER.profile("full").sets


NETWORKS = [
    {"d": 4, "regularizer": name, "seed": seed, "steps": 900, "memorized_at": 100, "grokked_at": time + seed}
    for name, time in (("none", 500), ("λ2 = 1e-4", 300), ("λ1 = 1e-3", 110))
    for seed in range(4)
]


@pytest.mark.parametrize(
    ("outcome", "where", "column", "value"),
    [
        ("holds", {}, "steps", 900),
        ("holds", {"regularizer": "none"}, "grokked_at", None),
        ("does not hold here", {"regularizer": "λ1 = 1e-3"}, "grokked_at", 800),
        ("undecided here", {"regularizer": "λ1 = 1e-3", "seed": 0}, "grokked_at", None),
        ("undecided here", {"seed": 0}, "memorized_at", None),
    ],
)
def test_networks_trained_whole(outcome: str, where: Any, column: str, value: Any, outcomes: Any) -> None:
    assert outcomes(PAPER, {"figN": NETWORKS}, ("figN", where, column, value))["trained_whole"] == outcome


def test_a_tensor_network_answers_as_its_product_of_matrices() -> None:
    weights = {name: np.asarray(one) for name, one in tensor_network.initial(jax.random.key(0), 3).items()}
    bits = np.array([[0, 1, 1, 0], [1, 0, 0, 1]])
    found = np.asarray(tensor_network.answers(weights, bits))
    for string, row in zip(bits, found, strict=True):
        for site, x in enumerate(string):
            left, right = weights["left"], weights["right"]
            for one in string[:site]:
                left = left @ weights["A"][one]
            for one in string[:site:-1]:
                right = weights["A"][one] @ right
            z = left / np.linalg.norm(left) @ weights["B"][x] @ right / np.linalg.norm(right)
            assert row[site] == pytest.approx(np.tanh(z / 2), rel=1e-4)


def test_strings_follow_rule_30() -> None:
    bits, answers = strings(np.array([[0, 0, 1, 0, 0], [1, 1, 0, 0, 1]]))
    assert bits.shape == answers.shape
    assert answers.tolist() == [[-1, 1, 1, 1, -1], [1, -1, 1, 1, 1]]
