"""Measures on the way: those of a task's group, and a user's own."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.measures.vectors import group_data, vector_measures
from modgrok.training.recording import MEASURES

TINY: dict[str, Any] = {"steps": 2, "evaluations": 2, "snapshots": 0}


@pytest.fixture(autouse=True)
def unregistered() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = dict(MEASURES)
    yield
    MEASURES.clear()
    MEASURES.update(before)


def margin(network: mg.Network, data: Any) -> Any:
    """The mean over tested examples of the first output times the target."""
    first, tested = data.outputs[:, 0], data.tested.astype(data.outputs.dtype)
    return (first * data.targets.astype(first.dtype) * tested).sum() / tested.sum()


def seen(network: mg.Network, data: Any) -> Any:
    """Reads outputs a second time."""
    return data.outputs.shape[0] + 0 * data.inputs.sum() + 0 * data.trained.sum()


@pytest.mark.parametrize(
    ("task", "settings"),
    [("n + m", {"modulus": 5, "width": 6}), ("parity:8,2", {"network": "mlp", "width": 6, "examples": 20})],
    ids=["table", "examples"],
)
def test_a_measure_reads_inputs_targets_and_outputs(tmp_path: Path, task: str, settings: dict[str, Any]) -> None:
    run = mg.train(task, store=tmp_path, record=[margin, seen], **settings | TINY)
    examples = run.experiment.split.examples_of(run.task)
    out = np.asarray(run.network(examples.inputs))
    tested = ~examples.trained
    expected = (out[:, 0] * examples.answers)[tested].mean()
    assert run.history["margin"][-1] == pytest.approx(expected, rel=1e-5)
    assert run.history["seen"][-1] == len(examples.inputs)


def test_one_argument_and_a_bare_function(tmp_path: Path) -> None:
    def largest(network: mg.Network) -> Any:
        return abs(network.w_in).max()

    run = mg.train("n + m", 5, width=6, record=largest, store=tmp_path, **TINY)
    assert run.history["largest"][-1] == pytest.approx(abs(run.network.w_in).max())
    assert mg.train("n + m", 5, width=6, record="largest", store=tmp_path, **TINY).id == run.id


def test_sweeps_take_functions_and_masks(tmp_path: Path) -> None:
    masks = [np.eye(5, dtype=bool), np.tri(5, dtype=bool)]
    table = mg.sweep("n + m", 5, width=6, store=tmp_path, record=[margin], vary={"train_on": masks}, **TINY)
    single = [mg.train("n + m", 5, width=6, store=tmp_path, record=margin, train_on=m, until=0, **TINY) for m in masks]
    assert list(table["run"]) == [run.id for run in single]
    assert list(table["margin"]) == [run.result["margin"] for run in single]
    one = mg.sweep("n + m", 5, width=6, store=tmp_path, train_on=masks[0], record=margin, vary={"seed": [0]}, **TINY)
    assert list(one["run"]) == [single[0].id]


def with_numpy(network: mg.Network, data: Any) -> Any:
    return np.abs(network.w_in).max()


def with_float(network: mg.Network, data: Any) -> Any:
    return float(network.w_in[0, 0, 0])


def of_nothing(network: mg.Network, data: Any) -> Any:
    return None


def misspelt(network: mg.Network, data: Any) -> Any:
    return data.answer.sum()


def broken(network: mg.Network, data: Any) -> Any:
    return {}["key"]


@pytest.mark.parametrize(
    ("measure", "sentence"),
    [
        (with_numpy, "with_numpy is compiled with the training step: write it with jax.numpy instead of NumPy"),
        (with_float, "without float"),
        (of_nothing, "A measure is one real number, and of_nothing returns None."),
        (misspelt, "has inputs, targets, outputs, trained and tested, and no answer"),
        (broken, "The measure broken fails with KeyError: 'key'."),
        ("rank_won", "did you mean 'rank_one'?"),
        (lambda network: 1, "A measure needs a name"),
        ([1], "record must be a list of texts"),
        (None, "record must be a list of texts"),
        (max, "The measure max fails"),
    ],
    ids=["numpy", "float", "nothing", "misspelt", "broken", "unknown", "nameless", "number", "none", "builtin"],
)
def test_what_is_no_measure_gets_a_sentence(tmp_path: Path, measure: Any, sentence: str) -> None:
    with pytest.raises(ModgrokError, match=re.escape(sentence)):
        mg.train("n + m", 5, width=6, record=measure, store=tmp_path, **TINY)
    assert not list(mg.Store(tmp_path))
    assert getattr(measure, "__name__", "") not in MEASURES


def test_measures_on_a_group(tmp_path: Path) -> None:
    """They are recorded for groups, and refused where values are no elements of one."""
    record = ("representation", "rank_one", "shared_vectors")
    run = mg.train("group:S3", width=16, steps=6, evaluations=2, record=record, store=tmp_path)
    network, group = run.network, group_data(run.task.structure.basis)
    expected = vector_measures(network.w_in, network.w_out, group)
    assert [run.history[name][-1] for name in record] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(ModgrokError, match="product of a group"):
        mg.train("n^2 + m^2 + n*m", 5, width=4, steps=1, record=["rank_one"], store=tmp_path)
