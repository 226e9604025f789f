"""Runs that start from another run's weights with its phases turned."""

from pathlib import Path

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.experiments.train import train_all
from modgrok.measures.cleaning import turn_phases

SETTINGS = {"task": "n + m", "modulus": 7, "width": 8, "optimizer": "gd", "evaluations": 2, "snapshots": 2}


def test_a_run_starts_from_turned_phases(tmp_path: Path) -> None:
    store = Store(tmp_path)
    (first,) = train_all([Experiment(**SETTINGS, steps=3, lr=1.0)], store)
    parent = f"{first.id}@3"
    (turned,) = train_all([Experiment(**SETTINGS, steps=2, lr=1e-9, parent=f"{parent}:zero")], store)
    expected = turn_phases(first.network, "zero", first.task, seed=0)
    np.testing.assert_allclose(turned.snapshot(0).w_out, expected.w_out, atol=1e-6)
    assert turned.id != Experiment(**SETTINGS, steps=2, lr=1e-9, parent=parent).id
    with pytest.raises(ModgrokError, match="zero, random, kept"):
        train_all([Experiment(**SETTINGS, steps=2, lr=1e-9, parent=f"{parent}:half")], store)
