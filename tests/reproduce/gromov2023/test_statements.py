"""Claims without a figure: numbers that make each hold, hold with a remark, and fail."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.reproduce.gromov2023 import PAPER, correlations, statements
from modgrok.reproduce.gromov2023.claims import statements as claims
from modgrok.reproduce.nested import Numbers
from modgrok.tasks import task

CLAIMS = {claim.name: claim for claim in PAPER.claims}
HOLDS, REMARK, FAILS = "holds", "holds with a remark", "does not hold here"


def cells(of: Any) -> Numbers:
    """Runs that grok at these times, None where they do not."""

    def accuracy(found: Any) -> Any:
        if isinstance(found, dict):
            return {name: accuracy(value) for name, value in found.items()}
        return [accuracy(x) for x in found] if isinstance(found, list) else (1.0 if found is not None else 0.05)

    def memorized(found: Any) -> Any:
        if isinstance(found, dict):
            return {name: memorized(value) for name, value in found.items()}
        return [memorized(x) for x in found] if isinstance(found, list) else 100

    return {"grokked_at": of, "test_accuracy": accuracy(of), "memorized_at": memorized(of)}


def row(**changes: Any) -> dict[str, Any]:
    usual = {"memorized_at": 100, "grokked_at": 200, "peak_at": 120, "rise": 0.1, "test_accuracy_at_peak": 0.05}
    return usual | {"explained": 0.7} | changes


def networks(trained: float, shuffled: float, times: float = 10.0) -> dict[str, Any]:
    one = {
        "trained": {"accuracy": trained, "loss": 0.001},
        "shuffled": [{"accuracy": shuffled, "loss": 0.001 * times}] * 2,
    }
    return {"GD": [[one], [one]], "AdamW": [[one], [one]]}


def behavior(**rows: list[dict[str, Any]]) -> Numbers:
    usual = {name: [row(), row()] for name in ("GD", "Adam", "AdamW", "momentum")}
    return {"rows": {"optimizer": usual | rows, "loss": {"mse": [row()]}, "function": {"n + m": [row()]}}}


mixed_times = {"n + m": [[None], [100], [90]], "n^2 + m^2": [[None], [110], [100]], "n^3 + 2*m": [[None], [110], [100]]}
mixed_times |= {"n + m + n*m": [[None], [300], [200]]}
mixed_times |= {key: [[None], [None], [150]] for key in statements.MIXED}
MIXED = {"fractions": [0.3, 0.5, 0.9], "steps": 600}
MIXED_EASY = MIXED | cells(of=mixed_times | {"n + m + n*m": [[None], [100], [90]]})
CAPACITY = {
    "widths": [16, 64, 256],
    "train_accuracy": {"random labels": [[0.4, 0.5], [0.8, 0.7], [1.0, 1.0]]},
    "test_accuracy": {"n + m": [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]},
}
PHASES = {
    "widths": [48, 96],
    "networks": networks(1.0, 0.8),
    "random phases": [[{"accuracy": 0.7}], [{"accuracy": 0.9}]],
}
WEIGHTS = {
    "random": [{"kurtosis": 0.01, "triple": 0.001}],
    "trained": [{"kurtosis": -0.6, "triple": 0.5}],
    "closed form": [{"kurtosis": -1.5, "triple": 0.7}],
}
FLOOR = {
    "widths": [100, 10000],
    "floor": 1e-3,
    "loss": {"without": [[0.041], [0.0005]], "with": [[0.04], [0.0004]]},
    "expected": {"without": [0.041, 0.0005], "with": [0.04, 0.0004]},
}
STOPPED = FLOOR | {
    "loss": {"without": [[0.041], [0.0014]], "with": [[0.04], [0.0004]]},
    "expected": {"without": [0.041, 0.0014], "with": [0.04, 0.0004]},
}
OVER = {
    "train_loss": [{"before": 1e-3, "during": 1.5e-3}] * 2,
    "ipr": {"GD": [{"at_grokking": 0.05, "half_way": 0.1, "end": 0.15}] * 2},
}
BATCHES = {"batch_size": 156} | cells(of=[700, 760])

CASES: list[tuple[str, str, Numbers, str]] = [
    ("three_variables_trained", "three_variables", {"sizes": [[11, 1000]]} | cells(of=[[150, 140]]), HOLDS),
    ("three_variables_trained", "three_variables", {"sizes": [[11, 1000]]} | cells(of=[[150, 110]]), REMARK),
    ("three_variables_trained", "three_variables", {"sizes": [[11, 1000]]} | cells(of=[[150, None]]), FAILS),
    ("composite_modulus", "composite", cells(of={"31": [200, 210], "30": [220, 210]}), HOLDS),
    ("composite_modulus", "composite", cells(of={"31": [200, 210], "30": [620, 610]}), REMARK),
    ("composite_modulus", "composite", cells(of={"31": [200, 210], "30": [200, None]}), FAILS),
    ("products_of_functions", "products", cells(of={"n*m": [200], "n^2*m": [230]}), HOLDS),
    ("products_of_functions", "products", cells(of={"n*m": [200], "n^2*m": [None]}), FAILS),
    ("mixed_functions_harder", "mixed_functions", MIXED | cells(of=mixed_times), HOLDS),
    ("mixed_functions_harder", "mixed_functions", MIXED_EASY, REMARK),
    (
        "mixed_functions_harder",
        "mixed_functions",
        MIXED | cells(of=mixed_times | {statements.MIXED[0]: [[None], [300], [150]]}),
        FAILS,
    ),
    (
        "mixed_functions_harder",
        "mixed_functions",
        MIXED | cells(of=mixed_times | {statements.MIXED[0]: [[None], [None], [91]]}),
        FAILS,
    ),
    ("parameter_regimes", "capacity", CAPACITY, HOLDS),
    (
        "parameter_regimes",
        "capacity",
        CAPACITY | {"test_accuracy": {"n + m": [[0.8, 0.6], [1.0, 1.0], [1.0, 1.0]]}},
        REMARK,
    ),
    (
        "parameter_regimes",
        "capacity",
        CAPACITY | {"test_accuracy": {"n + m": [[0.8, 0.6], [0.9, 1.0], [1.0, 1.0]]}},
        FAILS,
    ),
    ("minibatch_batch_norm", "minibatches", BATCHES, HOLDS),
    ("minibatch_batch_norm", "minibatches", {"batch_size": 156} | cells(of=[700, None]), FAILS),
    ("minibatch_batch_norm", "minibatches", BATCHES | {"test_accuracy": [1.0, None]}, FAILS),
    ("general_behavior_everywhere", "general_behavior", behavior(), HOLDS),
    ("general_behavior_everywhere", "general_behavior", behavior(GD=[row(), row(rise=0.0)]), REMARK),
    (
        "general_behavior_everywhere",
        "general_behavior",
        behavior(GD=[row(memorized_at=300)], Adam=[row(grokked_at=None)]),
        FAILS,
    ),
    (
        "general_behavior_everywhere",
        "general_behavior",
        behavior(GD=[row(explained=0.2)], Adam=[row(test_accuracy_at_peak=0.9)]),
        FAILS,
    ),
    ("train_loss_accelerates", "over_training", OVER, HOLDS),
    ("train_loss_accelerates", "over_training", OVER | {"train_loss": [{"before": 1e-4, "during": 1e-3}]}, REMARK),
    ("train_loss_accelerates", "over_training", OVER | {"train_loss": [{"before": 1e-3, "during": 9e-4}]}, FAILS),
    ("train_loss_accelerates", "over_training", OVER | {"train_loss": [{"before": None, "during": None}]}, FAILS),
    ("ipr_training", "over_training", OVER, HOLDS),
    (
        "ipr_training",
        "over_training",
        OVER | {"ipr": {"GD": [{"at_grokking": 0.05, "half_way": 0.2, "end": 0.15}]}},
        REMARK,
    ),
    (
        "ipr_training",
        "over_training",
        OVER | {"ipr": {"GD": [{"at_grokking": 0.16, "half_way": 0.2, "end": 0.15}]}},
        FAILS,
    ),
    (
        "ipr_training",
        "over_training",
        OVER | {"ipr": {"GD": [{"at_grokking": None, "half_way": None, "end": 0.1}]}},
        FAILS,
    ),
    ("phases_dependent", "shuffled_phases", PHASES, HOLDS),
    ("phases_dependent", "shuffled_phases", PHASES | {"networks": networks(1.0, 0.5)}, REMARK),
    ("phases_dependent", "shuffled_phases", PHASES | {"networks": networks(1.0, 0.99)}, FAILS),
    ("phases_dependent", "shuffled_phases", PHASES | {"networks": networks(1.0, 0.8, 1.5)}, FAILS),
    ("phases_dependent", "shuffled_phases", PHASES | {"networks": networks(0.9, 0.5)}, FAILS),
    ("weights_correlated", "correlated_weights", WEIGHTS, HOLDS),
    ("weights_correlated", "correlated_weights", WEIGHTS | {"trained": [{"kurtosis": 0.0, "triple": 0.5}]}, FAILS),
    ("weights_correlated", "correlated_weights", WEIGHTS | {"trained": [{"kurtosis": -0.6, "triple": 0.1}]}, FAILS),
    ("weights_correlated", "correlated_weights", WEIGHTS | {"random": [{"kurtosis": 0.0, "triple": 0.1}]}, FAILS),
    ("loss_to_zero", "loss_floor", FLOOR, HOLDS),
    ("loss_to_zero", "loss_floor", STOPPED, REMARK),
    (
        "loss_to_zero",
        "loss_floor",
        FLOOR | {"loss": {"without": [[0.041], [0.0014]], "with": [[0.04], [0.001]]}},
        FAILS,
    ),
]


@pytest.mark.parametrize(("name", "study", "numbers", "outcome"), CASES)
def test_numbers_decide(name: str, study: str, numbers: Numbers, outcome: str) -> None:
    verdict = CLAIMS[name].verdict({study: numbers})
    assert verdict.outcome == outcome, verdict


def test_every_statement_can_hold_and_fail() -> None:
    for name in (value.name for value in vars(claims).values() if getattr(value, "judge", None)):
        assert {HOLDS, FAILS} <= {outcome for case, _, _, outcome in CASES if case == name}, name


def test_a_loss_that_falls_faster_while_the_network_generalizes_accelerates() -> None:
    step = np.arange(0, 1001, 10)
    loss = np.where(step < 500, -1e-4 * step, -0.05 - 1e-3 * (step - 500))
    test = np.clip((step - 500) / 200, 0, 1)
    history = {"step": step, "train_loss": np.exp(loss), "test_accuracy": test}
    found = statements.acceleration(history, {"memorized_at": 400, "grokked_at": 700})
    assert found["before"] == pytest.approx(1e-4)
    assert found["during"] == pytest.approx(1e-3, rel=0.05)
    assert statements.acceleration(history, {"memorized_at": 400, "grokked_at": None})["during"] is None


def test_waves_have_a_third_moment_and_gaussian_weights_have_none() -> None:
    rng = np.random.default_rng(0)
    waves = solve(task("n + m", 23), width=220)
    random = waves.replace(w_in=rng.standard_normal((220, 2, 23)), w_out=rng.standard_normal((23, 220)))
    assert correlations.triple_correlation(waves) == pytest.approx(2**-0.5, rel=1e-6)
    assert correlations.excess_kurtosis(waves) == pytest.approx(-1.5, rel=1e-6)
    assert abs(correlations.triple_correlation(random)) < 0.01
    assert abs(correlations.excess_kurtosis(random)) < 0.5


def test_the_errata_are_those_of_the_theory() -> None:
    text = (Path(__file__).parents[3] / "docs" / "theory.md").read_text()
    table = text.partition("## Errata of the paper")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) - 1 == len(PAPER.errata)


def test_the_waves_in_2m_carry_the_second_phase_twice() -> None:
    p, k, rng = 11, np.arange(1, 6), np.random.default_rng(0)
    first, second = rng.uniform(0, 2 * np.pi, (2, 5))
    third, t = first + second, 2 * np.pi * k / p

    def cosines(x: int, phase: np.ndarray) -> float:
        return float(np.cos(t * x + phase).sum())

    def expansion(n: int, m: int, q: int, phase: np.ndarray) -> float:
        outer = sum(cosines(2 * n + s * q, 2 * first + s * third) for s in (-1, 1)) / 4
        outer += sum(cosines(2 * m + s * q, 2 * phase + s * third) for s in (-1, 1)) / 4
        inner = sum(cosines(n + m + s * q, first + second + s * third) for s in (-1, 1)) / 2
        inner += sum(cosines(n - m + s * q, first - second + s * third) for s in (-1, 1)) / 2
        return outer + inner + cosines(q, third)

    for n, m, q in ((1, 2, 3), (4, 0, 7)):
        output = ((np.cos(t * n + first) + np.cos(t * m + second)) ** 2 * np.cos(-t * q - third)).sum()
        assert expansion(n, m, q, second) == pytest.approx(output)
        assert expansion(n, m, q, first) != pytest.approx(output, abs=1e-3)
