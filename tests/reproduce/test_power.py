"""The operations of Power et al., their geometry and sharpness, the verdicts, and the paper's pipeline."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.experiments import Run
from modgrok.networks import Network, grid
from modgrok.networks.mlp import MLP
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.reproduce.power2022 import PAPER
from modgrok.reproduce.power2022.operations import OPERATIONS
from modgrok.reproduce.power2022.profile import FULL, QUICK, VARIANTS, permutation_numbers
from modgrok.reproduce.power2022.sharpness import sharpness
from modgrok.reproduce.power2022.studies_geometry import commonest_step, cosets, generated, last_known, within_over_all
from modgrok.reproduce.power2022.tsne import tsne
from modgrok.tasks import Signature, task
from modgrok.tasks.basis.group import check_group, inverses
from modgrok.tasks.basis.named_groups import cayley_table

S5 = cayley_table("S5")


def test_tables_have_the_papers_rows() -> None:
    """9409 modulo 97, 9312 for division, 14400 in S5; S5 is a group, and its other operations follow from it."""
    rows = {}
    for name, operation in OPERATIONS.items():
        found = task(operation.task.format(group="S5"), None if operation.of_group else 97)
        rows[name] = len(found.present)
    assert rows.pop("x / y") == 9312
    assert {rows.pop(name) for name, operation in OPERATIONS.items() if operation.of_group} == {14400}
    assert set(rows.values()) == {9409}
    check_group(S5)
    x, y = np.indices(S5.shape)
    np.testing.assert_array_equal(task("group:S5:conjugation").table, S5[S5[x, y], inverses(S5)[x]])
    np.testing.assert_array_equal(task("group:S5:xyx").table, S5[S5[x, y], x])
    assert sum(operation.listed for operation in OPERATIONS.values()) == 13


def test_the_papers_network() -> None:
    """239 tokens and about 4e5 weights besides the embeddings; minibatches of 512, or of half of the training set."""
    first = FULL.train("x + y", 0.5).resolve()
    shapes = first.architecture.shapes(first.load_task().signature)
    assert shapes["embedding"] == shapes["unembedding.weight"] == (239, 128)
    inside = sum(int(np.prod(shape)) for name, shape in shapes.items() if "embedding" not in name)
    assert 3.9e5 < inside < 4.1e5
    assert (first.batch_size, first.lr, first.weight_decay, first.beta2, first.warmup) == (512, 1e-3, 1.0, 0.98, 10)
    assert QUICK.train("x + y", 0.2).batch_size == 96
    assert len(VARIANTS) == 9
    wrong = FULL.wrong_runs()
    examples = next(iter(wrong.values()))[0].examples
    assert [round(share * examples) for share in wrong] == [0, 10, 100, 1000, 2000, 3000]


def test_cosets_of_the_papers_subgroup() -> None:
    subgroup = generated(S5, list(permutation_numbers((3, 4, 2, 0, 1), (0, 2, 1, 4, 3))))
    for side in ("left", "right"):
        counts = np.bincount(cosets(S5, subgroup, side))
        assert (counts == len(subgroup)).all()
        assert counts.sum() == 120
    assert len(set(cosets(S5, subgroup, "left")[subgroup])) == 1


def test_clusters_and_circles_are_found() -> None:
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 5)
    points = 10 * np.eye(6)[labels] + 0.1 * random.standard_normal((30, 6))
    assert within_over_all(points, labels) < 0.1
    assert within_over_all(points, random.permutation(labels)) > 0.7
    plane = tsne(points)
    nearest = np.square(plane[:, None] - plane).sum(axis=2) + 1e9 * np.eye(30)
    assert (labels[nearest.argmin(axis=1)] == labels).all()
    np.testing.assert_array_equal(plane, tsne(points))
    angle = 2 * np.pi * 8 * np.arange(31) / 31  # neighbors on this circle differ by 4, since 4 · 8 = 1 modulo 31
    assert commonest_step(np.stack([np.cos(angle), np.sin(angle)], axis=1)) == (4, 1.0)


def test_larger_logits_are_sharper() -> None:
    """Of a network that answers at random, since the same move of the weights changes more."""
    architecture, signature = MLP(6), Signature((3, 3), 3)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=shape) for name, shape in architecture.shapes(signature).items()}
    inputs, labels = grid((3, 3)), random.integers(0, 3, 9)
    large = weights | {"layers.1.weight": 5 * weights["layers.1.weight"]}
    small, big = (sharpness(Network(architecture, signature, w), inputs, labels) for w in (weights, large))
    assert 0 < small < big


def tuned_numbers() -> dict[str, Any]:
    def trial(decay: float, best: float, grokked_at: int | None) -> dict[str, Any]:
        return {"lr": 0.001, "decay": decay, "best": best, "grokked_at": grokked_at, "edge": ""}

    names = ("Adam, minibatches", "Adam, dropout 0.1", "AdamW to the start")
    found = {name: {"without": trial(0.0, 0.1, None), "with": trial(1.0, 1.0, 3000)} for name in names}
    found["AdamW to the start"]["with"] = trial(1.0, 0.5, None)
    return found


def paper_numbers() -> dict[str, Any]:
    def curve(**levels: float) -> dict[str, Any]:
        cells = {
            fraction.replace("f", "0."): {"best": [level], "mean": level, "memorized_at": [500], "grokked_at": [None]}
            for fraction, level in levels.items()
        }
        known = [float(fraction) for fraction, cell in cells.items() if cell["mean"] >= 0.95]
        return {
            "fractions": cells,
            "area": float(np.mean([cell["mean"] for cell in cells.values()])),
            "needs": min(known) if known else None,
        }

    easy, hard = curve(f3=0.99, f5=1.0, f95=1.0), curve(f3=0.4, f5=0.99, f95=1.0)
    easy["fractions"]["0.5"]["grokked_at"] = [3000]
    operations = {
        name: copy.deepcopy(easy if operation.symmetric else hard)
        for name, operation in OPERATIONS.items()
        if operation.listed and not operation.of_group
    }
    operations["x³ + xy² + y"] = curve(f3=0.02, f5=0.02, f95=0.1)
    variants = {name: curve(f3=0.1, f6=0.97) for name in VARIANTS}
    variants |= {"AdamW": curve(f3=0.99, f6=1.0), "AdamW to the start": curve(f3=0.5, f6=0.99)}
    variants["Adam, rate 0.0003"] = variants["Adam, rate 0.003"] = curve(f3=0.1, f6=0.5)
    division = {
        "with": {
            "runs": [{"step": [0, 10_000], "test_accuracy": [0.0, 1.0]}],
            "memorized_at": [400],
            "grokked_at": [4000],
            "loss": [{"start": 5.0, "least": 4.0, "largest": 20.0, "at_half": 4.0, "end": 0.01}],
        },
        "without": {
            "runs": [{"step": [0, 30_000], "test_accuracy": [0.0, 0.1]}],
            "memorized_at": [300],
            "grokked_at": [None],
        },
    }
    times = {
        "0.3": {"memorized_at": [3000], "grokked_at": [60_000]},
        "0.4": {"memorized_at": [2500], "grokked_at": [8000]},
        "0.5": {"memorized_at": [2000], "grokked_at": [3000]},
    }
    wrong = {"0.0": 1.0, "0.01": 1.0, "0.14": 0.95, "0.42": 0.4}
    return {
        "fig1": division,
        "fig4": division,
        "fig1b": {"steps": 100_000, "fractions": times},
        "fig2": {"variants": variants},
        "fig2t": {"variants": tuned_numbers()},
        "fig2u": {"steps": 100, "variants": tuned_numbers()},
        "fig2b": {"steps": 100, "operations": operations},
        "fig6": {"steps": 100, "wrong": {share: {"best": [value]} for share, value in wrong.items()}},
        "fig3": {
            "ratios": {"left": 0.5, "right": 0.9},
            "chance": [0.95, 1.0],
            "side": "left",
            "subgroup": 4,
            "step": 8,
            "step_share": 0.7,
            "at": {"product": 900, "sum": 1_000},
            "test_accuracy": {"product": 1.0, "sum": 1.0},
        },
        "figR": {
            "dimensions": [1, 1, 2],
            "seeds": [
                {
                    "at": 900,
                    "known": 1.0,
                    "share": [0.0, 0.02, 0.98],
                    "ratios": {"left": 0.71, "right": 0.7},
                    "predicted": 0.7,
                }
            ],
        },
        "figA5": {"spearman": -0.795, "decayed": -0.8, "networks": [{}]},
    }


def outcomes(numbers: dict[str, Any]) -> dict[str, str]:
    return {claim.name: claim.verdict(numbers).outcome for claim in PAPER.claims}


def test_the_papers_own_numbers_hold() -> None:
    assert set(outcomes(paper_numbers()).values()) == {"holds"}


FAILURES: dict[str, tuple[tuple[str, ...], Any]] = {
    "division": (("fig1", "without", "grokked_at"), [6000]),
    "second_descent": (
        ("fig4", "with", "loss"),
        [{"start": 5.0, "least": 5.0, "largest": 5.0, "at_half": 4.0, "end": 0.01}],
    ),
    "time_against_data": (("fig1b", "fractions", "0.3", "grokked_at"), [2000]),
    "decay_is_best": (("fig2", "variants", "Adam, dropout 0.1", "area"), 1.0),
    "decay_is_best_when_tuned": (("fig2t", "variants", "Adam, dropout 0.1", "without", "best"), 1.0),
    "decay_to_the_start": (("fig2u", "variants", "AdamW to the start", "with", "best"), 0.1),
    "narrow_rates": (("fig2", "variants", "Adam, rate 0.003", "area"), 0.9),
    "addition": (("fig2b", "operations", "x + y", "fractions", "0.5", "memorized_at"), [2000]),
    "symmetric_operations": (("fig2b", "operations", "x + y", "area"), -5.0),
    "subtraction_as_division": (("fig2b", "operations", "x / y", "area"), 0.2),
    "never_learnt": (("fig2b", "operations", "x³ + xy² + y", "fractions", "0.95", "mean"), 0.9),
    "wrong_labels": (("fig6", "wrong", "0.14", "best"), [0.5]),
    "structure_of_answers": (("fig3", "chance"), [0.4, 1.0]),
    "few_representations": (("figR", "seeds", 0, "predicted"), 0.75),
    "flat_minima": (("figA5", "spearman"), 0.1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_claim_can_fail(name: str) -> None:
    numbers = paper_numbers()
    path, value = FAILURES[name]
    place: Any = numbers
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert outcomes(numbers)[name] == "does not hold here"


def test_remarks_and_what_a_profile_does_not_reach() -> None:
    numbers = paper_numbers()
    numbers["fig2b"]["operations"]["x + y"]["area"] = 0.7
    numbers["fig2"]["variants"]["Adam, minibatches"]["needs"] = 0.4
    numbers["fig2t"]["variants"]["Adam, dropout 0.1"]["with"]["grokked_at"] = 2000
    found = outcomes(numbers)
    assert found["symmetric_operations"] == found["decay_is_best"] == "holds with a remark"
    assert found["decay_is_best_when_tuned"] == "holds with a remark"
    centers = numbers["fig2u"]["variants"]
    centers["Adam, minibatches"]["with"]["edge"] = ", the largest decay tried"
    assert outcomes(numbers)["decay_to_the_start"] == "holds with a remark"
    centers["AdamW to the start"]["with"] |= {"best": 1.0, "grokked_at": 3000}
    assert outcomes(numbers)["decay_to_the_start"] == "does not hold here"
    centers["Adam, minibatches"]["with"]["grokked_at"] = None
    assert outcomes(numbers)["decay_to_the_start"] == "undecided here"
    numbers["fig3"]["test_accuracy"]["product"] = 0.2
    numbers["figR"]["seeds"][0]["known"] = 0.2
    numbers["fig6"]["wrong"]["0.0"]["best"] = [0.3]
    numbers["fig1b"]["fractions"] = {"0.3": {"memorized_at": [100], "grokked_at": [None]}}
    numbers["figA5"]["spearman"] = None
    del numbers["fig2"]["variants"]["Adam, rate 0.003"]
    found = outcomes(numbers)
    names = (
        "structure_of_answers",
        "few_representations",
        "wrong_labels",
        "time_against_data",
        "flat_minima",
        "narrow_rates",
    )
    assert {found[name] for name in names} == {"undecided here"}


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("power2022", "tiny", out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["division"].outcome == "does not hold here"
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
