"""Answers to open questions: numbers that make each hold, hold with a remark, and fail."""

import copy
from typing import Any

import pytest

from modgrok.reproduce.gromov2023 import PAPER
from modgrok.reproduce.gromov2023.claims import beyond as claims
from modgrok.reproduce.gromov2023.memorizer import SHARES, SIGNS
from modgrok.reproduce.nested import Numbers

CLAIMS = {claim.name: claim for claim in PAPER.claims}
HOLDS, REMARK, FAILS, NOT_RUN = "holds", "holds with a remark", "does not hold here", "undecided here"


def held(waves: float = 1.0, own: float = 0.01, shuffled: float = 0.02, **more: float) -> dict[str, Any]:
    ways = {"as it is": 0.03, "waves": waves, "own waves": own, "waves, readouts shuffled": shuffled}
    usual = {"coherence": 0.6, "train_accuracy": 1.0, "test_accuracy": 0.01, "ipr": 0.01}
    return {"accuracy": ways} | usual | more


def memorizer(found: dict[str, Any] | None = None, **more: Any) -> Numbers:
    numbers = {
        "shares": list(SHARES),
        "pairs": [9, 28, 94, 282, 941],
        "by_pairs": [[held()], [held()], [held()], [found or held()], [held()]],
        "untrained": [held(0.01, coherence=0.04)],
        "random labels": [held(0.01, coherence=0.03)],
        "by": {"width": {"125": [held()]}, "function": {"n^2 + m^2 + n*m": [held(0.01)]}},
        "signs": {text: {other: [1.0 if text == other else 0.01] for other in SIGNS} for text in SIGNS},
        "flow": {
            "shares": [0.03, 0.5],
            "step": [0, 40, 160, 300],
            "predicted": [[0.04, 0.15, 0.48, 0.8]],
            "measured": [[[0.04, 0.16, 0.45, 0.75]], [[0.04, 0.14, 0.5, 0.78]]],
            "applies": [[[True, True, True, False]]] * 2,
            "test_accuracy": [[[0.01, 0.01, 0.0, 0.5]]] * 2,
        },
    }
    return numbers | more


def flow(**changes: Any) -> Numbers:
    numbers = copy.deepcopy(memorizer())
    numbers["flow"] |= changes
    return numbers


def known(text: str, other: str, value: float) -> Numbers:
    numbers = copy.deepcopy(memorizer())
    numbers["signs"][text][other] = [value]
    return numbers


def sharpness(ends: tuple[float, ...] = (0.95, 1.01), grown: float = 50.0, **changes: Any) -> Numbers:
    run = {"status": "finished", "memorized_at": 40, "grokked_at": 80, "step": [0, 50, 100]} | changes
    runs = [run | {"sharpness": [1.0, grown / 2, grown], "over_limit": [0.01, 0.5, end]} for end in ends]
    return {"rates": [1e6 * (i + 1) for i in range(len(ends))], "runs": runs}


def kernel(**changes: Any) -> Numbers:
    run = {
        "grokked_at": 80,
        "drift": [0, 1, 9.0],
        "like_start": [1.0, 0.9, 0.8],
        "like_target": [0.1, 0.2, 0.3],
        "regression_accuracy": [0.0, 0.02, 1.0],
        "test_accuracy": [0.01, 0.02, 1.0],
    }
    return {"runs": [run | changes]}


def powers(hard: float = 0.1, easy: float = 1.0) -> Numbers:
    def cell(value: float, structure: str = "unknown") -> list[dict[str, Any]]:
        return [{"best_test_accuracy": [value, value], "commonest": 0.06, "structure": structure}]

    known = {"root(n+m)": cell(easy), "log(n*m)": cell(easy, "function_of_product")}
    hardest = {"n^m": cell(hard, "none"), "n^(1/m)": cell(0.1), "log_n(m)": cell(0.1)}
    return {"moduli": [31], "functions": known | hardest}


CASES: list[tuple[str, str, Numbers, str]] = [
    ("memorizer_waves", "memorizer", memorizer(), HOLDS),
    ("memorizer_waves", "memorizer", memorizer(by={"width": {"60": [held(0.4)]}}), REMARK),
    ("memorizer_waves", "memorizer", memorizer(held(0.6)), FAILS),
    ("memorizer_waves", "memorizer", memorizer(held(test_accuracy=0.3)), FAILS),
    ("memorizer_waves", "memorizer", memorizer(untrained=[held(0.9)]), FAILS),
    ("memorizer_waves", "memorizer", memorizer(**{"random labels": [held(0.9)]}), FAILS),
    ("memorizer_projection", "memorizer", memorizer(), HOLDS),
    ("memorizer_projection", "memorizer", memorizer(held(own=0.5)), FAILS),
    ("memorizer_projection", "memorizer", memorizer(held(shuffled=0.7)), FAILS),
    ("memorizer_projection", "memorizer", known("n + m", "n - m", 0.6), FAILS),
    ("memorizer_projection", "memorizer", known("n - m", "n - m", 0.2), FAILS),
    ("memorizer_alignment", "memorizer", memorizer(), HOLDS),
    ("memorizer_alignment", "memorizer", flow(measured=[[[0.04, 0.16, 0.45, 0.6]]] * 2), REMARK),
    ("memorizer_alignment", "memorizer", flow(measured=[[[0.04, 0.05, 0.05, 0.06]]] * 2), FAILS),
    ("memorizer_alignment", "memorizer", memorizer(**{"random labels": [held(coherence=0.5)]}), FAILS),
    ("memorizer_alignment", "memorizer", flow(predicted=[[0.04, 0.05, 0.06, 0.07]]), NOT_RUN),
    ("sharpness_rises", "sharpness", sharpness(), HOLDS),
    ("sharpness_rises", "sharpness", sharpness(grown=4.0), FAILS),
    ("sharpness_rises", "sharpness", sharpness(grokked_at=None), NOT_RUN),
    ("edge_of_stability", "sharpness", sharpness(), HOLDS),
    ("edge_of_stability", "sharpness", sharpness((0.3, 1.0)), REMARK),
    ("edge_of_stability", "sharpness", sharpness((0.3, 0.5)), FAILS),
    ("edge_of_stability", "sharpness", sharpness((1.4, 1.0)), FAILS),
    ("edge_of_stability", "sharpness", sharpness(status="diverged"), NOT_RUN),
    ("kernel_drifts", "tangent_kernel", kernel(), HOLDS),
    ("kernel_drifts", "tangent_kernel", kernel(drift=[0, 0.01, 0.1]), FAILS),
    ("kernel_drifts", "tangent_kernel", kernel(like_target=[0.1, 0.1, 0.1]), FAILS),
    ("kernel_drifts", "tangent_kernel", kernel(grokked_at=None), NOT_RUN),
    ("kernel_learns", "tangent_kernel", kernel(), HOLDS),
    ("kernel_learns", "tangent_kernel", kernel(regression_accuracy=[0.9, 1.0, 1.0]), FAILS),
    ("kernel_learns", "tangent_kernel", kernel(regression_accuracy=[0.0, 0.0, 0.3]), FAILS),
    ("kernel_learns", "tangent_kernel", kernel(grokked_at=None), NOT_RUN),
    ("roots_and_logarithms", "powers", powers(), HOLDS),
    ("roots_and_logarithms", "powers", powers(easy=0.6), FAILS),
    ("structure_predicts", "powers", powers(), HOLDS),
    ("structure_predicts", "powers", powers(hard=0.99), FAILS),
    ("structure_predicts", "powers", powers(easy=0.6), FAILS),
]


@pytest.mark.parametrize(("name", "study", "numbers", "outcome"), CASES)
def test_numbers_decide(name: str, study: str, numbers: Numbers, outcome: str) -> None:
    verdict = CLAIMS[name].verdict({study: numbers})
    assert verdict.outcome == outcome, verdict


def test_every_answer_can_hold_and_fail() -> None:
    for name in (value.name for value in vars(claims).values() if getattr(value, "judge", None)):
        assert {HOLDS, FAILS} <= {outcome for case, _, _, outcome in CASES if case == name}, name
        assert CLAIMS[name].beyond
