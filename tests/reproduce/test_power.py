"""The operations of Power et al., their subgroup, the verdicts, and the paper's pipeline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.experiments import Run
from modgrok.measures.cosets import cosets
from modgrok.networks import Network
from modgrok.networks.mlp import MLP
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.power2022.operations import COUNTERPARTS
from modgrok.reproduce.power2022.sizes import FULL, OPERATIONS, QUICK, VARIANTS, trained
from modgrok.reproduce.power2022.unembedding import GENERATORS, last_known, names
from modgrok.tasks import Signature, task
from modgrok.tasks.basis import representations
from modgrok.tasks.basis.group import check_group, conjugation, generated, inverses
from modgrok.tasks.basis.named_groups import cayley_table

PAPER = find_paper("power2022")
Outcomes = Callable[..., dict[str, str]]
S5 = cayley_table("S5")
SUBGROUP = np.flatnonzero(generated(S5, GENERATORS["S5"]))


def test_tables_have_the_papers_rows() -> None:
    """9409 modulo 97, 9312 for division, 14400 in S5; S5 is a group, and its other operations follow from it."""
    rows = {
        name: len(task(text.format(group="S5"), None if "group" in text else 97).present)
        for name, text in OPERATIONS.items()
    }
    assert rows.pop("x / y") == 9312
    assert {rows.pop(name) for name, text in OPERATIONS.items() if "group" in text} == {14400}
    assert set(rows.values()) == {9409}
    check_group(S5)
    x, y = np.indices(S5.shape)
    np.testing.assert_array_equal(task("group:S5:conjugation").table, S5[S5[x, y], inverses(S5)[x]])
    np.testing.assert_array_equal(task("group:S5:xyx").table, S5[S5[x, y], x])
    assert len(OPERATIONS) == 13


def test_the_papers_network() -> None:
    """239 tokens and about 4e5 weights besides the embeddings; minibatches of 512, or of half of the training set."""
    ((_, given), *_) = trained(FULL, "x + y", 0.5)
    first = given.resolve()
    shapes = first.architecture.shapes(first.load_task().signature)
    assert shapes["embedding"] == shapes["unembedding.weight"] == (239, 128)
    inside = sum(int(np.prod(shape)) for name, shape in shapes.items() if "embedding" not in name)
    assert 3.9e5 < inside < 4.1e5
    assert (first.batch_size, first.lr, first.weight_decay, first.beta2, first.warmup) == (512, 1e-3, 1.0, 0.98, 10)
    ((_, few),) = trained(QUICK, "x + y", 0.2)
    assert few.batch_size == 96
    assert len(VARIANTS) == 9
    wrong = [round((e.wrong_labels or 0) * (e.examples or 0)) for e in PAPER.study("fig6").needs(FULL)]
    assert wrong == [labels for labels in (0, 10, 100, 1000, 2000, 3000) for _ in range(FULL.seeds)]


def test_cosets_of_the_papers_subgroup() -> None:
    sides = cosets(S5, SUBGROUP)
    for labels in sides.values():
        counts = np.bincount(labels)
        assert (counts == len(SUBGROUP)).all()
        assert counts.sum() == 120
    assert len(set(sides["left"][SUBGROUP])) == 1


def test_which_representations_of_s5_put_the_papers_cosets_together() -> None:
    means: dict[int, set[float]] = {}
    for part in representations(S5):
        others = [h for h in SUBGROUP if h != 0]
        mean = float(part.character[others].mean()) / part.dimension
        means.setdefault(part.dimension, set()).add(round(mean, 9))
    assert len(SUBGROUP) == 10
    ninth = round(1 / 9, 9)
    assert means == {1: {1.0}, 4: {-ninth}, 5: {ninth}, 6: {-ninth}}


def test_names_tell_representations_of_one_dimension_apart() -> None:
    assert names([1, 1, 2, 3, 3]) == ["1", "1′", "2", "3", "3′"]


def curve(name: dict[str, Any], levels: dict[float, float]) -> list[dict[str, Any]]:
    times = {"memorized_at": 500, "grokked_at": None, "steps": 100_000}
    return [name | times | {"fraction": fraction, "best": level} for fraction, level in levels.items()]


def operation(name: str) -> list[dict[str, Any]]:
    first = 0.99 if name in COUNTERPARTS else 0.4
    rows = curve({"operation": name}, {0.3: first, 0.5: 1.0 if name in COUNTERPARTS else 0.99, 0.95: 1.0})
    if name == "x³ + xy² + y":
        return curve({"operation": name}, {0.3: 0.02, 0.5: 0.02, 0.95: 0.1})
    rows[1]["grokked_at"] = 3000 if name in COUNTERPARTS else None
    return rows


def variant(name: str) -> list[dict[str, Any]]:
    known = {"AdamW": (0.99, 1.0), "AdamW to the start": (0.5, 0.99)}
    first, last = known.get(name, (0.1, 0.5 if "rate" in name else 0.97))
    return curve({"variant": name}, {0.3: first, 0.6: last})


DROPOUT, TO_START, MINIBATCHES = "Adam, dropout 0.1", "AdamW to the start", "Adam, minibatches"
TRIALS: list[dict[str, Any]] = [
    {"variant": name, "lr": 0.001, "weight_decay": decay, "best": best, "grokked_at": time}
    for name in (MINIBATCHES, DROPOUT, TO_START)
    for decay, best, time in ((0.0, 0.1, None), (1.0, 0.5, None) if name == TO_START else (1.0, 1.0, 3000))
]
"""Decay helps all variants, but to the start less."""


def trial(variant: str, decay: float, **more: Any) -> list[dict[str, Any]]:
    """The same trials with another result of one of them."""
    chosen = {"variant": variant, "weight_decay": decay}
    return [one | more if chosen.items() <= one.items() else one for one in TRIALS]


TIMED = {"steps": 100_000, "operation": "x / y", "place": "modulo 97"}
WITH, WITHOUT = {"decay": "with"}, {"decay": "without"}
TABLES: dict[str, list[dict[str, Any]]] = {
    "fig1": [
        WITH | {"step": [0, 10_000], "test_accuracy": [0.0, 1.0], "memorized_at": 400, "grokked_at": 4000},
        WITHOUT | {"step": [0, 30_000], "test_accuracy": [0.0, 0.1], "memorized_at": 300, "grokked_at": None},
    ],
    "fig4": [
        WITH | {"grokked_at": 4000, "start": 5.0, "least": 4.0, "largest": 20.0, "at_half": 4.0, "end": 0.01},
        WITHOUT | {"grokked_at": None},
    ],
    "fig1b": [TIMED | {"seed": 0, "fraction": 0.4, "memorized_at": 2500, "grokked_at": 8000}],
    "fig1c": [
        TIMED | {"seed": seed, "fraction": fraction, "memorized_at": memorized, "grokked_at": grokked}
        for seed in range(5)
        for fraction, memorized, grokked in ((0.26, 900, 60_000), (0.28, 950, 30_000), (0.3, 1000, 15_000))
    ],
    "fig1l": [
        {"seed": seed, "steps": 500_000, "memorized_at": 700, "grokked_at": 400_000, "early": 0.02, "best": 1.0}
        for seed in range(2)
    ],
    "fig2": [row for name in VARIANTS for row in variant(name)],
    "fig2t": [{"steps": 100, "trials": TRIALS}],
    "fig2u": [{"steps": 100_000, "trials": TRIALS}],
    "to_start": [
        {"steps": 100_000, "seed": seed, "weight_decay": decay, "best": best, "grokked_at": None}
        for seed in range(2)
        for decay, best in ((0.0, 0.1), (1.0, 0.5))
    ],
    "cubic": curve({"operation": "x³ + xy² + y"}, {0.5: 0.02, 0.95: 0.03}),
    "fig2b": [row for name, text in OPERATIONS.items() if "group" not in text for row in operation(name)],
    "fig6": [
        {"steps": 100, "wrong_labels": share, "best": best}
        for share, best in {0.0: 1.0, 0.01: 1.0, 0.14: 0.95, 0.42: 0.4}.items()
    ],
    "fig3": [
        {"operation": "x + y", "at": 1_000, "test_accuracy": 1.0, "commonest": 8, "commonest_share": 0.7},
    ],
    "fig3c": [
        {
            **{"group": group, "seed": seed, "test_accuracy": 1.0, "subgroup": 10, "conjugates": 6},
            **{"ratios": [0.9 if seed == 3 else 1.1, 1.0], "chance": [1.0, 0.01], "strongest": "5", "share": 0.97},
        }
        for group in ("S5", "S4")
        for seed in range(16)
    ],
    "figR": [
        {
            "seed": 0,
            "dimensions": [1, 1, 2],
            "at": 900,
            "known": 1.0,
            "share": [0.0, 0.02, 0.98],
            "left": 0.71,
            "right": 0.7,
            "predicted": 0.7,
        }
    ],
    "figA5": [
        {"seed": seed, "sharpness": 1.0 + seed, "train_accuracy": 1.0, "test_accuracy": 1.0 if seed < 9 else 1 / seed}
        for seed in range(20)
    ],
}
"""The paper's own numbers."""


def test_the_papers_own_numbers_hold(outcomes: Outcomes) -> None:
    assert set(outcomes(PAPER, TABLES).values()) == {"holds"}


FAILURES: dict[str, tuple[str, dict[str, Any], str, Any]] = {
    "division": ("fig1", WITHOUT, "grokked_at", 6000),
    "second_descent": ("fig4", WITH, "largest", 4.0),
    "time_against_data": ("fig1c", {"fraction": 0.26}, "grokked_at", 5000),
    "division_without_decay": ("fig1l", {"seed": 1}, "early", 0.3),
    "decay_is_best": ("fig2", {"variant": DROPOUT}, "best", 1.0),
    "decay_is_best_when_tuned": ("fig2t", {}, "trials", trial(DROPOUT, 0.0, best=1.0)),
    "decay_to_the_start": ("fig2u", {}, "trials", trial(TO_START, 1.0, best=1.0, grokked_at=3000)),
    "decay_to_the_start_helps": ("to_start", {"weight_decay": 1.0, "seed": 1}, "best", 0.15),
    "decay_to_the_start_when_tuned": ("fig2u", {}, "trials", trial(TO_START, 1.0, best=0.1)),
    "narrow_rates": ("fig2", {"variant": "Adam, rate 0.003"}, "best", 0.9),
    "addition": ("fig2b", {"operation": "x + y", "fraction": 0.5}, "memorized_at", 2000),
    "symmetric_operations": ("fig2b", {"operation": "x · y", "fraction": 0.3}, "best", 0.1),
    "subtraction_as_division": ("fig2b", {"operation": "x / y"}, "best", 0.2),
    "never_learned": ("cubic", {"fraction": 0.95}, "best", 0.9),
    "wrong_labels": ("fig6", {"wrong_labels": 0.14}, "best", 0.5),
    "structure_of_sums": ("fig3", {"operation": "x + y"}, "commonest_share", 0.3),
    "few_representations": ("figR", {}, "predicted", 0.75),
    "structure_of_answers": ("fig3c", {"group": "S5", "seed": 3}, "ratios", [0.96, 1.0]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_claim_can_fail(name: str, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, FAILURES[name])[name] == "does not hold here"


def test_remarks(outcomes: Outcomes) -> None:
    found = outcomes(
        PAPER,
        TABLES,
        ("fig2", {"variant": MINIBATCHES, "fraction": 0.3}, "best", 0.96),
        ("fig2", {"variant": "AdamW", "fraction": 0.3}, "best", 1.3),
        ("fig2t", {}, "trials", trial(DROPOUT, 1.0, grokked_at=2000)),
    )
    assert found["decay_is_best"] == found["decay_is_best_when_tuned"] == "holds with a remark"


@pytest.mark.parametrize(
    ("trials", "outcome"),
    [
        (TRIALS + [one | {"lr": 0.003, "best": 0.1, "grokked_at": None} for one in TRIALS], "holds with a remark"),
        (trial(TO_START, 1.0, best=1.0, grokked_at=3000), "does not hold here"),
        (trial(MINIBATCHES, 1.0, grokked_at=None), "undecided here"),
        ([one for one in TRIALS if one["variant"] != TO_START], "undecided here"),
    ],
    ids=["best at the smallest rate", "as soon", "never", "left out"],
)
def test_decay_to_the_start_when_tuned(trials: list[dict[str, Any]], outcome: str, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, ("fig2u", {}, "trials", trials))["decay_to_the_start_when_tuned"] == outcome


@pytest.mark.parametrize(
    ("networks", "train", "outcome"),
    [(19, 1.0, "undecided here"), (20, 1.0, "does not hold here"), (20, 0.5, "undecided here")],
)
def test_flat_minima_need_seeds_of_one_setting(networks: int, train: float, outcome: str, outcomes: Outcomes) -> None:
    """And among those that know the training set some that know the test set and some that do not."""
    sharper = [row | {"sharpness": 30 - row["seed"]} for row in TABLES["figA5"][:networks]]
    sharper = [row | {"train_accuracy": train} if row["seed"] > 10 else row for row in sharper]
    assert outcomes(PAPER, TABLES | {"figA5": sharper})["flat_minima"] == outcome


def test_fifteen_networks_without_cosets_refute_nothing(outcomes: Outcomes) -> None:
    few = [row | {"ratios": [1.1, 1.0]} for row in TABLES["fig3c"] if row["seed"] < 15]
    assert outcomes(PAPER, TABLES | {"fig3c": few})["structure_of_answers"] == "undecided here"


def test_conjugates_of_subgroups() -> None:
    """The paper's subgroup of S5 has six conjugates, the four-group of A4 is normal."""
    for name, conjugates in (("S5", 6), ("A4", 1), ("S4", 1)):
        table = cayley_table(name)
        subgroup = np.flatnonzero(generated(table, GENERATORS[name]))
        assert len({tuple(sorted(one)) for one in conjugation(table)[:, subgroup].tolist()}) == conjugates
        assert len(subgroup) == {"S5": 10}.get(name, 4)


UNREACHED: dict[str, list[tuple[str, dict[str, Any], str, Any]]] = {
    "structure_of_answers": [("fig3c", {}, "test_accuracy", 0.2)],
    "structure_of_sums": [("fig3", {"operation": "x + y"}, "test_accuracy", 0.2)],
    "few_representations": [("figR", {}, "known", 0.2)],
    "wrong_labels": [("fig6", {"wrong_labels": 0.0}, "best", 0.3)],
    "time_against_data": [("fig1c", {"fraction": 0.26}, "grokked_at", None)],
    "division_without_decay": [("fig1l", {}, "grokked_at", None)],
    "flat_minima": [("figA5", {}, "test_accuracy", 1.0)],
    "decay_to_the_start": [("fig2u", {}, "trials", trial(MINIBATCHES, 1.0, grokked_at=None))],
    "decay_to_the_start_helps": [("to_start", {}, "best", 0.1), ("to_start", {}, "steps", 40_000)],
    "never_learned": [("cubic", {}, "steps", 10_000)],
    "narrow_rates": [("fig2", {"variant": "Adam, rate 0.003"}, "variant", "AdamW")],
}


@pytest.mark.parametrize("change", [({"seed": 4}, "seed", 3), ({"fraction": 0.3}, "fraction", 0.35)])
def test_times_need_seeds_and_scarce_data(change: tuple[dict[str, Any], str, Any], outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, ("fig1c", *change))["time_against_data"] == "undecided here"


def test_remarks_on_times_and_on_division(outcomes: Outcomes) -> None:
    flat = [("fig1c", {"fraction": f}, "grokked_at", steps) for f, steps in ((0.26, 16_000), (0.28, 15_500))]
    assert outcomes(PAPER, TABLES, *flat)["time_against_data"] == "holds with a remark"
    late = outcomes(PAPER, TABLES, ("fig1l", {"seed": 1}, "grokked_at", None))
    assert late["division_without_decay"] == "holds with a remark"


@pytest.mark.parametrize("name", UNREACHED)
def test_what_a_profile_does_not_reach(name: str, outcomes: Outcomes) -> None:
    assert outcomes(PAPER, TABLES, *UNREACHED[name])[name] == "undecided here"


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("power2022", "tiny", out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert "too little to decide. So far: Not so:" in outcome.verdicts["division"].sentence
    assert "None" not in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("accuracies", "kept", "step"),
    [
        ([0.0, 0.99, 1.0, 0.4], [0, 5, 50], 5),  # step 10 is not kept, step 50 is not known
        ([0.0, 0.2, 0.3, 0.99], [0, 5], 50),
        ([0.0, 0.2, 0.3, 0.4], [0, 5, 10], 50),
    ],
)
def test_a_network_is_looked_at_where_it_last_knew(accuracies, kept, step, tmp_path, monkeypatch):
    history = {"step": np.array([0, 5, 10, 50]), "test_accuracy": np.array(accuracies)}
    networks = {at: Network(MLP(), Signature((3,), 3), {"step": np.array(at)}) for at in (*kept, 50)}
    monkeypatch.setattr(Run, "history", history)
    monkeypatch.setattr(Run, "snapshots", kept)
    monkeypatch.setattr(Run, "network", networks[50])
    monkeypatch.setattr(Run, "snapshot", lambda self, at: networks[at])
    assert last_known(Run(tmp_path)) == (step, networks[step])
