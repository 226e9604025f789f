"""Measures on the way that read the task's group."""

from pathlib import Path

import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.measures.vectors import group_data, vector_measures


def test_measures_on_a_group(tmp_path: Path) -> None:
    """They are recorded for groups, and refused where values are no elements of one."""
    record = ("representation", "rank_one", "shared_vectors")
    run = mg.train("group:S3", width=16, steps=6, evaluations=2, record=record, store=tmp_path)
    network, group = run.network, group_data(run.task.structure.basis)
    expected = vector_measures(network.w_in, network.w_out, group)
    assert [run.history[name][-1] for name in record] == pytest.approx(expected, rel=1e-3)
    with pytest.raises(ModgrokError, match="product of a group"):
        mg.train("n^2 + m^2 + n*m", 5, width=4, steps=1, record=["rank_one"], store=tmp_path)
