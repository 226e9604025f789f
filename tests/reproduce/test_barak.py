"""The paper's pipeline on small runs."""

from pathlib import Path
from typing import Any

import pytest

from modgrok.reproduce.barak2022.sizes import FULL, TINY, parity
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce

PAPER = find_paper("barak2022")


def test_online_runs_see_fresh_examples() -> None:
    ((_, experiment),) = parity(30, 3, 1, lr=0.1, steps=10)
    run = experiment.resolve()
    assert run.examples is None
    assert run.batch_size == 32
    assert run.load_task().table is None


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY)["fourier_identity"].outcome == "holds with a remark"


GRADIENT = {"samples": 100, "found": True, "error": 0.4}
TIMES = {"memorized_at": 900, "grokked_at": 4000, "test_accuracy": [1.0]}
NEURONS = [TIMES | {"seed": seed, "active": 6, "width": 1000} for seed in range(3)]
GAP = {"identity": True, "gap": 2.0, "bound": 1.0}
TABLES: dict[str, list[dict[str, Any]]] = {
    "figF": [GAP, *(GRADIENT | {"neuron": i} for i in range(3))],
    "figG": NEURONS,
    "fig3": [
        {"batch_size": batch, "seed": 0, "plateau_until": 800, "grokked_at": 1000, "error_at_half": 0.48}
        | {"moved_at": [0.1, 0.3, 1.0], "ratio_at_half": 2.0}
        for batch in (32, 512)
    ],
    "fig1": [{"k": k, "bits": n, "grokked_at": n ** (k - 0.5)} for k in (2, 3) for n in (20, 40)],
    "fig2": [{"grokked_at": time, "mean": 1000.0, "seed": time} for time in (900, 1000, 1100)],
    "figB": [
        {"part": part, "seed": seed, "steps": 100_000, "grokked_at": time} | other
        for part, other, time in (
            ("activation", {"activation": "relu"}, 900),
            ("activation", {"activation": "sin"}, 900),
            ("batch", {"batch_size": 4, "init_scale": 1.0}, 900),
            ("batch", {"batch_size": 1024, "init_scale": 3.0}, 900),
            ("width", {"width": 10}, 1_000),
            ("width", {"width": 1_000}, 500),
            ("noise", {"wrong_labels": 0.0}, 900),
            ("noise", {"wrong_labels": 0.4}, 9_000),
        )
        for seed in range(3)
    ],
}
SHORT = ("figB", {}, "steps", 20_000)
NEVER = [
    ("figB", where, "grokked_at", None) for where in ({"activation": "sin"}, {"batch_size": 4}, {"wrong_labels": 0.4})
]
MISSED = ("figF", {"neuron": 1}, "found", False)


@pytest.mark.parametrize(
    ("claim", "outcome", "changes"),
    [
        ("plateau", "holds", []),
        ("plateau", "does not hold here", [("fig3", {"batch_size": 32}, "plateau_until", 400)]),
        ("plateau", "does not hold here", [("fig3", {"batch_size": 32}, "grokked_at", None)]),
        ("scaling", "holds", []),
        ("scaling", "does not hold here", [("fig1", {"k": 3, "bits": 40}, "grokked_at", 900_000)]),
        ("scaling", "does not hold here", [("fig1", {"k": 3, "bits": 40}, "grokked_at", 900)]),
        ("no_luck", "holds", []),
        ("no_luck", "does not hold here", [("fig2", {"seed": 900}, "grokked_at", 100)]),
        ("fourier_identity", "holds with a remark", []),
        ("fourier_identity", "does not hold here", [("figF", {"bound": 1.0}, "identity", False)]),
        ("fourier_identity", "does not hold here", [("figF", {"bound": 1.0}, "gap", 0.5)]),
        ("one_gradient", "holds", []),
        ("one_gradient", "does not hold here", [MISSED]),
        ("small_subnetwork", "holds", []),
        ("small_subnetwork", "holds with a remark", [("figG", {"seed": 0}, "active", 29)]),
        ("small_subnetwork", "does not hold here", [("figG", {}, "active", 29)]),
        ("other_activations", "holds", [SHORT]),
        ("other_activations", "does not hold here", NEVER),
        ("other_activations", "undecided here", [*NEVER, SHORT]),
        ("batches_and_scales", "holds", [SHORT]),
        ("batches_and_scales", "does not hold here", NEVER),
        ("batches_and_scales", "undecided here", [*NEVER, SHORT]),
        ("label_noise", "holds", [SHORT]),
        ("label_noise", "does not hold here", NEVER),
        ("label_noise", "does not hold here", [("figB", {"wrong_labels": 0.4}, "wrong_labels", 0.2)]),
        ("label_noise", "undecided here", [*NEVER, SHORT]),
        ("width_is_no_luck", "holds", []),
        ("width_is_no_luck", "does not hold here", [("figB", {"width": 1_000}, "grokked_at", 50)]),
        ("width_is_no_luck", "undecided here", [("figB", {"width": 10}, "grokked_at", None)]),
        ("one_gradient", "undecided here", [MISSED, ("figF", {"neuron": 1}, "error", 0.6)]),
    ],
)
def test_what_is_claimed_can_hold_and_fail(claim: str, outcome: str, changes: Any, outcomes: Any) -> None:
    assert outcomes(PAPER, TABLES, *changes)[claim] == outcome


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("barak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["plateau"].outcome == "undecided here"
    assert 4 in FULL.scaling
