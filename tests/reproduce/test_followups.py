"""The largest margin in closed form, features of a machine, phases of wrong labels, and verdicts that can fail."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.reproduce.followups import PAPER, claims
from modgrok.reproduce.followups.corruption import PHASES, phase
from modgrok.reproduce.followups.feature_machine import deviation, learn, mean_product, root
from modgrok.reproduce.followups.margin import largest_margin, margin, of_largest_margin
from modgrok.reproduce.pipeline import Request, reproduce


@pytest.mark.parametrize("p", [3, 5, 7, 9, 13, 21])
def test_waves_of_all_frequencies_reach_the_largest_margin_and_nothing_passes_it(p: int) -> None:
    best = of_largest_margin(p)
    assert margin(best) == pytest.approx(largest_margin(p), rel=1e-10)
    random = np.random.default_rng(p)
    for _ in range(5):
        assert margin(best + 0.1 * random.normal(size=best.shape)) < largest_margin(p)
        assert margin(random.normal(size=best.shape)) < largest_margin(p)


def test_the_margin_has_no_unit() -> None:
    blocks = np.random.default_rng(0).normal(size=(3, 5, 12))
    assert margin(7 * blocks) == pytest.approx(margin(blocks))
    assert largest_margin(71) == pytest.approx(4.61e-4, rel=1e-3)


def test_the_machines_gradients_are_derivatives() -> None:
    """∇ of f(x) = Σ_j a_j (xᵀMx_j)² is 2 M Σ_j a_j (xᵀMx_j) x_j."""
    random = np.random.default_rng(1)
    x, weights, half = random.normal(size=(6, 4)), random.normal(size=(6, 3)), random.normal(size=(4, 4))
    features = half @ half.T
    step = 1e-6

    def predicted(at: np.ndarray) -> np.ndarray:
        return (at @ features @ x.T) ** 2 @ weights

    slopes = np.stack([(predicted(x + step * e) - predicted(x - step * e)) / (2 * step) for e in np.eye(4)])
    expected = np.einsum("dnq,enq->de", slopes, slopes) / len(x)
    found = features @ mean_product(x @ features @ x.T, weights, x) @ features
    assert found == pytest.approx(expected, rel=1e-5)
    top = root(found)
    assert top @ top / np.abs(top @ top).max() == pytest.approx(found / np.abs(found).max())


def test_deviation_is_zero_for_equal_diagonals_and_one_for_noise() -> None:
    n = np.arange(7)
    waves = np.cos(2 * np.pi * 3 * (n + n[:, None]) / 7)
    assert deviation(waves) == pytest.approx(0, abs=1e-12)
    assert deviation(waves[::-1]) == pytest.approx(0, abs=1e-12)
    noise = deviation(np.random.default_rng(0).normal(size=(101, 101)))
    assert noise is not None
    assert noise > 0.97
    assert deviation(np.zeros((7, 7))) is None


def test_the_machine_interpolates_and_understands_later() -> None:
    found = learn(13, 0.75, 30)
    assert max(one.train_loss for one in found) < 1e-12
    assert found[0].test_accuracy < 0.1
    assert found[-1].test_accuracy > 0.9


def test_phases_of_wrong_labels() -> None:
    assert phase(1.0, 1.0, 0.3) == "coexistence"
    assert phase(0.8, 1.0, 0.3) == "partial inversion"
    assert phase(0.7, 1.0, 0.3) == "full inversion"
    assert phase(0.9, 1.0, 0.1) == "full inversion"
    assert phase(1.0, 0.1, 0.3) == "memorization"
    assert phase(0.1, 0.1, 0.3) == "forgetting"


def of_margins(*margins: float, **more: Any) -> dict[str, Any]:
    seed = {"margins": list(margins), "pure": 1.0, "mismatch": 0.01, "least": 0.9} | more
    return {"modulus": 13, "largest": 0.1, "closed_form": 1.0, "closed_form_width": 54, "seeds": [seed]}


def test_verdicts_on_margins() -> None:
    assert claims.largest_margin.judge(of_margins(-0.5, 0.3, 0.95, 0.99)).outcome == "holds"
    assert claims.largest_margin.judge(of_margins(0.3, 0.5, 0.7, 0.8)).outcome == "does not hold here"
    assert claims.largest_margin.judge(of_margins(0.3, 0.5, 0.9, 1.1)).outcome == "does not hold here"
    assert claims.margin_is_fourier.judge(of_margins(1.0)).outcome == "holds"
    for fault in ({"pure": 0.5}, {"mismatch": 0.7}, {"least": 0.2}):
        assert claims.margin_is_fourier.judge(of_margins(1.0, **fault)).outcome == "does not hold here"


def test_verdicts_on_phases() -> None:
    each = dict.fromkeys(PHASES, 2)
    assert claims.five_phases.judge({"counts": {"0.0": each}}).outcome == "holds"
    assert claims.five_phases.judge({"counts": {"0.0": each | {"forgetting": 1}}}).outcome == "holds with a remark"
    less = each | {"forgetting": 0}
    assert "no forgetting" in claims.five_phases.judge({"counts": {"0.0": less, "5.0": less}}).sentence
    none = each | {"partial inversion": 0, "full inversion": 0}
    assert claims.decay_inverts.judge({"counts": {"0.0": none, "5.0": each}}).outcome == "holds"
    assert claims.decay_inverts.judge({"counts": {"0.0": each, "5.0": each}}).outcome == "does not hold here"
    assert claims.decay_inverts.judge({"counts": {"0.0": none, "5.0": none}}).outcome == "does not hold here"
    nobody = none | {"coexistence": 0}
    assert claims.decay_inverts.judge({"counts": {"0.0": nobody, "5.0": each}}).outcome == "does not hold here"


def test_verdicts_on_pruning() -> None:
    whole = (1.0, 1.0, 1.0)
    good = {"low": [whole, (0.75, 0.99, 0.2)], "high": [whole, (0.8, 0.3, 0.9)]}
    numbers = {"wrong": 0.3, "shares": [0.0, 0.5], "seeds": [good]}
    assert claims.pruning.judge(numbers).outcome == "holds"
    for fault in (
        {"low": [whole, (0.75, 0.99, 0.4)]},
        {"low": [whole, (0.95, 0.92, 0.2)]},
        {"low": [whole, (0.7, 0.8, 0.1)]},
        {"high": [whole, (0.3, 0.6, 0.3)]},
    ):
        assert claims.pruning.judge(numbers | {"seeds": [good | fault]}).outcome == "does not hold here"
    forgot = {"low": [(0.7, 1.0, 0.0)] * 2, "high": [(0.7, 1.0, 0.0), (0.6, 0.1, 0.0)]}
    assert claims.pruning.judge(numbers | {"seeds": [forgot]}).outcome == "undecided here"


def test_verdicts_on_machines() -> None:
    late = {
        "train_loss": [1e-20] * 8,
        "test_accuracy": [0.0] * 6 + [0.6, 0.99],
        "deviation": [None, 0.8, 0.5] + [0.2] * 5,
    }
    assert claims.machine_groks.judge(late).outcome == "holds"
    assert claims.machine_groks.judge(late | {"test_accuracy": [0.0] * 7 + [0.7]}).outcome == "holds with a remark"
    for fault in ({"train_loss": [0.1] * 8}, {"test_accuracy": [0.9] * 8}, {"test_accuracy": [0.0] * 8}):
        assert claims.machine_groks.judge(late | fault).outcome == "does not hold here"
    assert claims.features_first.judge(late).outcome == "holds"
    assert claims.features_first.judge(late | {"deviation": [None] + [0.8] * 7}).outcome == "does not hold here"
    at_once = late | {"test_accuracy": [0.0, 0.0, 0.5] + [0.99] * 5}
    assert claims.features_first.judge(at_once).outcome == "does not hold here"


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("followups", "tiny", out=tmp_path), say=lambda line: None)
    assert outcome.verdicts.keys() == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["largest_margin"].outcome == "holds"
    assert outcome.verdicts["five_phases"].outcome == "does not hold here"
    assert "None" not in (tmp_path / "report.md").read_text()
