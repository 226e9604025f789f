import numpy as np

from modgrok.experiments import Experiment
from modgrok.reproduce.study import Study, mean, rounded


def test_numbers_become_json() -> None:
    value = {"a": np.array([1.23456789, np.nan]), "b": (np.int64(3), True, np.bool_(False)), 4: None, "c": "text"}
    assert rounded(value) == {"a": [1.2346, None], "b": [3, True, False], "4": None, "c": "text"}


def test_means_are_of_the_numbers_that_exist() -> None:
    assert mean([1, None, 3]) == 2
    assert np.isnan(mean([None]))


def test_runs_are_nested_as_experiments_are() -> None:
    seeds = [Experiment("n + m", 7, seed=seed) for seed in range(3)]
    study = Study(
        "s", "", "", lambda profile, runs: {"found": runs, "a": 1.23456}, lambda p: {"a": seeds[:2], "b": [[seeds[2]]]}
    )
    assert study.needs(None) == seeds
    measured = study.measure(None, lambda experiment: experiment.seed)  # type: ignore[arg-type, return-value]
    assert measured == {"found": {"a": [0, 1], "b": [[2]]}, "a": 1.2346}
