"""The landscape of functions: classes from accuracies, beside the structure of the tables."""

from pathlib import Path
from typing import Any

import pytest

from modgrok import plot
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.sweeps.execution import plan
from modgrok.experiments.sweeps.landscape import FUNCTIONS, landscape, landscape_sweep, sentences
from modgrok.experiments.sweeps.table import Results
from modgrok.tasks import task

BASE = Experiment("n + m", 11, width=16, steps=30, snapshots=0)
THREE = ("n^3 + n*m^2 + m", "n + m", "n^2 + m^2 + n*m")


def outcome(experiment: Experiment) -> dict[str, Any]:
    """n + m groks from 0.5 on, the quadratic form is found at 0.9 in part, the cubic never."""
    if experiment.task == "n+m" and experiment.fraction >= 0.5:
        return {"test_accuracy": 1.0, "grokked_at": 20}
    found = experiment.task == "n^2+m^2+n*m" and experiment.fraction == 0.9
    return {"test_accuracy": 0.8 if found else 0.05}


def test_three_classes(pretended: Any, tmp_path: Path) -> None:
    store, engine = Store(tmp_path), pretended(outcome)
    sweep = landscape_sweep(BASE, THREE, (0.9, 0.3, 0.5), 2)
    results = Results(sweep.experiments, store)
    assert {row.complexity for row in landscape(sweep, results)} == {None}
    plan(results, engine).train()
    assert len(engine.trained) == 18
    rows = landscape(sweep, results)
    assert [(row.function, row.complexity) for row in rows] == [
        ("n + m", "easily"),
        ("n^2 + m^2 + n*m", "with much data"),
        ("n^3 + n*m^2 + m", "not at all"),
    ]
    assert [row.structure.known for row in rows] == [True, False, False]
    assert rows[0].as_dict()["test_accuracy"] == [0.05, 1.0, 1.0]
    assert sentences(rows) == [
        "Functions with a known structure, by how they are learned: 1 easily.",
        "Functions without a known structure, by how they are learned: 1 with much data, 1 not at all.",
    ]
    assert plot.landscape(rows, "mod 11").texts


def test_a_function_all_of_whose_runs_diverge_is_in_no_class(pretended: Any, tmp_path: Path) -> None:
    store = Store(tmp_path)
    sweep = landscape_sweep(BASE, ("n + m",), (0.3, 0.9), 2)
    results = Results(sweep.experiments, store)
    plan(results, pretended(lambda e: {"test_accuracy": None, "status": "diverged", "diverged_at": 3})).train()
    assert landscape(sweep, results)[0].complexity is None


def test_the_catalogue_has_functions_of_every_kind() -> None:
    assert len(set(FUNCTIONS)) == len(FUNCTIONS) >= 30
    sweep = landscape_sweep(BASE, (), (0.5,), 1)
    assert len(sweep) == len(FUNCTIONS)
    kinds = {task(function, 23).structure.kind for function in FUNCTIONS}
    assert {"sum", "function_of_sum", "product", "function_of_product", "none"} <= kinds


def test_at_least_one_seed_is_needed() -> None:
    with pytest.raises(ModgrokError, match="seed"):
        landscape_sweep(BASE, THREE, (0.5,), 0)
