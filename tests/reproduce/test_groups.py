"""The verdicts of the report on groups, on controls for which they must fail, and its pipeline."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures.cosets import subgroups
from modgrok.measures.vectors import SHARED, UNSHARED
from modgrok.networks import Network, two_layer
from modgrok.reproduce.groups.dealing import exponent
from modgrok.reproduce.groups.neurons import told
from modgrok.reproduce.groups.sizes import FULL, QUICK, basis_of, task_of
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce

PAPER = find_paper("groups")
Outcomes = Callable[..., dict[str, str]]
S4 = {"dimensions": [1, 2, 3, 3], "types": [1, 1, 1, 1], "width": 256}
A5 = {"dimensions": [3, 3, 4, 5], "types": [1, 1, 1, 1], "width": 976}
MEASURED = {"representation_share": 0.98, "clear": 0.95, "rank_one": 0.99, "agreement": 0.99, "positive": 0.99}
MEASURED |= {"equivariant": 0.98, "middle": 0.95}
CHANCE = {"representation_share": 0.5, "clear": 0.4, "rank_one": 0.7, "agreement": 0.5, "positive": 0.5}
CHANCE |= {"equivariant": 0.1, "middle": 0.4}
TIMES = {"memorized_at": 20, "grokked_at": 90, SHARED: 1.0, UNSHARED: 0.1}
TABLES = {
    "written": [
        {"group": "S4", "form": "exact", "width": 64, "accuracy": 1.0, "loss": 1e-30},
        *(
            {
                "group": "S4",
                "form": "random vectors",
                "share": share,
                "accuracy": accuracy,
                "loss": 0.1,
                "expected": 0.1,
            }
            for share, accuracy in ((0.25, 0.4), (1.0, 0.9), (4.0, 1.0))
        ),
        {"group": "S4", "form": "unshared vectors", "share": 4.0, "accuracy": 0.1},
    ],
    "neurons": [
        {"group": group, "seed": 0, "weights": weights, "labels": labels, "cosets": 0.97, **sizes, **TIMES, **found}
        | {"counts": [2 * d**3 for d in sizes["dimensions"]]}
        for group, sizes in (("S4", S4), ("A5", A5))
        for weights, labels, found in (
            ("initial", "products", CHANCE),
            ("trained", "products", MEASURED),
            ("written", "products", MEASURED | {"cosets": 0.9}),
            ("trained", "random", CHANCE),
        )
    ],
    "dealing": [
        {"group": group, "share": share, "grokked_at": 90, "clear": 1.0, "dimensions": [1, 4], "types": [1, 1]}
        | {"counts": counts, "norms": [1.0, 32.0]}
        for group in ("S4", "A5")
        for share, counts in ((1.0, [1, 64]), (16.0, [2, 64]))
    ],
    "alignment": [{"group": "S4", "half_aligned_at": 20, **TIMES}],
    "data": [
        {"group": group, "fraction": fraction, "grokked_at": time}
        for group, times in (("D12", (400, 200, 100)), ("S4", (None, 300, 100)))
        for fraction, time in zip((0.4, 0.5, 0.6), times, strict=True)
    ],
    "widths": [{"group": "S4", "share": share, "grokked_at": 90, "test_accuracy": 1.0} for share in (0.5, 1.0)],
    "descent": [{"group": "S4", "grokked_at": 900, "test_accuracy": 1.0}],
}
TRAINED = {"weights": "trained", "labels": "products"}
INITIAL = {"weights": "initial"}
FAILS = "does not hold here"


def test_what_was_found_holds(outcomes: Outcomes) -> None:
    found = outcomes(PAPER, TABLES)
    remarks = {"more_data_is_faster", "exact_width_is_enough"}
    assert {name for name, outcome in found.items() if outcome != "holds"} == remarks
    assert all(found[name] == "holds with a remark" for name in remarks)


def test_controls_fail(outcomes: Outcomes) -> None:
    """A network that memorizes, and measures that random weights fulfill as well, refute."""
    for name, column, chance in (
        ("one_representation", "representation_share", 0.5),
        ("rank_one", "rank_one", 0.7),
        ("shared", "agreement", 0.5),
        ("signs", "positive", 0.5),
    ):
        assert outcomes(PAPER, TABLES, ("neurons", TRAINED, column, chance))[name] == FAILS
        assert outcomes(PAPER, TABLES, ("neurons", INITIAL, column, 0.99))[name] == FAILS
    never = ("neurons", TRAINED, "grokked_at", None)
    found = outcomes(PAPER, TABLES, never)
    assert found["groks"] == FAILS
    assert found["all_representations"] == found["vectors_carry_the_answer"] == "undecided here"
    assert outcomes(PAPER, TABLES, ("neurons", TRAINED, UNSHARED, 1.0))["vectors_carry_the_answer"] == FAILS
    assert outcomes(PAPER, TABLES, ("neurons", TRAINED, SHARED, 0.5))["vectors_carry_the_answer"] == FAILS
    assert outcomes(PAPER, TABLES, ("neurons", TRAINED, "cosets", 0.6))["cosets"] == FAILS
    assert outcomes(PAPER, TABLES, ("neurons", TRAINED, "middle", 0.6))["one_middle_vector"] == FAILS
    for rows in (TRAINED, INITIAL, {"labels": "random"}):
        wrong = 0.6 if rows is TRAINED else 0.9
        assert outcomes(PAPER, TABLES, ("neurons", rows, "equivariant", wrong))["equivariant"] == FAILS


def _network(blocks: np.ndarray) -> Network:
    """With these functions on the group as its blocks, (N, 3, x)."""
    return two_layer(blocks[:, :2], blocks[:, 2].T)


@cache
def _controls() -> dict[tuple[str, str], dict[str, Any]]:
    """What is told of random weights and of random vectors on S4."""
    random = told(_network(np.random.default_rng(0).standard_normal((256, 3, 24))), "S4")
    written = told(solve(task_of("S4"), "waves", 256), "S4")
    return {("initial", "products"): random, ("trained", "random"): random, ("written", "products"): written}


def _outcomes(outcomes: Outcomes, network: Network, *names: str) -> list[str]:
    """The verdicts on a network for S4, with random weights and random vectors as the controls."""
    rows = [
        {"group": "S4", "seed": 0, "weights": weights, "labels": labels, "width": 256, **TIMES, **found}
        for (weights, labels), found in (_controls() | {("trained", "products"): told(network, "S4")}).items()
    ]
    found = outcomes(PAPER, TABLES | {"neurons": rows})
    return [found[name] for name in names]


CLAIMS = ["one_representation", "rank_one", "shared", "signs", "vectors_carry_the_answer", "equivariant"]


def test_networks_written_down_decide(outcomes: Outcomes) -> None:
    """The exact network is what is claimed of trained ones; vectors in all directions are no functions of cosets."""
    exact, random = solve(task_of("S4"), "exact"), solve(task_of("S4"), "waves", width=256, seed=1)
    assert set(_outcomes(outcomes, exact, *CLAIMS, "all_representations")) == {"holds"}
    assert _outcomes(outcomes, random, "cosets", "one_middle_vector") == [FAILS, FAILS]


def test_random_weights_refute(outcomes: Outcomes) -> None:
    network = _network(np.random.default_rng(1).standard_normal((256, 3, 24)))
    assert set(_outcomes(outcomes, network, *CLAIMS, "cosets", "one_middle_vector")) == {FAILS}


def test_functions_of_cosets_and_one_middle_vector_hold(outcomes: Outcomes) -> None:
    rng, basis, table = np.random.default_rng(2), basis_of("S4"), task_of("S4").table
    inside = np.flatnonzero(subgroups(table)[-1])
    functions = rng.standard_normal((100, 3, 24))[..., table[:, inside].min(axis=1)]
    assert _outcomes(outcomes, _network(functions), "cosets", "rank_one") == ["holds", FAILS]
    three = next(one.matrices for one in basis.representations if one.dimension == 3)
    a, c = rng.standard_normal((2, 100, 3))
    b = np.broadcast_to([1.0, 2.0, 3.0], (100, 3))
    blocks = [np.einsum("ni,xij,nj->nx", u, three, v) for u, v in ((a, b), (b, c), (a, c))]
    assert _outcomes(outcomes, _network(np.stack(blocks, axis=1)), "one_middle_vector", "shared") == ["holds"] * 2


def test_counts_in_other_proportions_fail(outcomes: Outcomes) -> None:
    flat = ("neurons", {"group": "A5", **TRAINED}, "counts", [90, 90, 160, 250])
    assert outcomes(PAPER, TABLES, flat)["dealt_as_cubes"] == FAILS
    unclear = ("neurons", TRAINED, "clear", 0.6)
    assert outcomes(PAPER, TABLES, unclear)["dealt_as_cubes"] == "undecided here"
    none = ("neurons", {"group": "A5", **TRAINED}, "counts", [0, 54, 128, 250])
    assert outcomes(PAPER, TABLES, none)["all_representations"] == FAILS


def test_exponents_of_counts_and_norms(outcomes: Outcomes) -> None:
    assert exponent(np.array([3.0, 3 * 27.0, 3 * 64.0 / 2]), [1, 3, 4], [1, 1, 2]) == pytest.approx(3, abs=0.01)
    cubes = ("dealing", {"share": 16.0}, "counts", [1, 64])
    assert outcomes(PAPER, TABLES, cubes)["equal_norms_when_wide"] == FAILS
    assert outcomes(PAPER, TABLES, ("dealing", {}, "norms", [1.0, 64.0]))["norms_as_derived"] == FAILS
    assert outcomes(PAPER, TABLES, ("dealing", {}, "clear", 0.5))["norms_as_derived"] == "undecided here"


def test_sweeps_and_closed_forms_can_fail(outcomes: Outcomes) -> None:
    for change, name in (
        (("written", {"form": "exact"}, "loss", 1e-3), "exact_for_every_group"),
        (("written", {"form": "random vectors", "share": 4.0}, "accuracy", 0.9), "random_vectors"),
        (("written", {"form": "unshared vectors"}, "accuracy", 0.9), "random_vectors"),
        (("alignment", {}, "half_aligned_at", 100), "vectors_first"),
        (("data", {"group": "S4", "fraction": 0.6}, "grokked_at", 600), "more_data_is_faster"),
        (("data", {"group": "S4", "fraction": 0.4}, "grokked_at", 900), "order_is_not_all"),
        (("widths", {"share": 1.0}, "grokked_at", None), "exact_width_is_enough"),
        (("descent", {}, "grokked_at", None), "descent_too"),
    ):
        assert outcomes(PAPER, TABLES, change)[name] == FAILS


def test_the_pipeline(tmp_path: Path) -> None:
    found = reproduce(Request(paper="groups", profile="tiny", out=tmp_path))
    assert found.verdicts["exact_for_every_group"].outcome == "holds"
    assert found.verdicts["random_vectors"].outcome.startswith("holds")
    assert found.verdicts["equivariant"].outcome == "undecided here"
    assert "too little to decide. So far: Not so:" in found.verdicts["groks"].sentence
    assert "neurons" in (tmp_path / "report.md").read_text()
    assert len(QUICK.groups) < len(FULL.groups)
