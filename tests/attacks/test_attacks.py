"""A few cases of every attack; `make attacks` tries them all."""

import importlib
import math
import os
from typing import Any

import pytest

from modgrok.experiments import batch_training, run_writer

CASES = {
    "faults": 10,
    "mutations": 8,
    "lying_files": 10,
    "command_lines": 40,
    "expressions": 200,
    "hostile_requests": 60,
    "signals": 2,
}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", CASES)
def test_nothing_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODGROK_STORE", os.environ.get("MODGROK_STORE", "runs"))
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", batch_training.CHECKPOINT_SECONDS)  # attacks change both
    monkeypatch.setattr(run_writer, "SHARE", run_writer.SHARE)
    attack: Any = importlib.import_module(name)
    monkeypatch.setattr(attack, "SECONDS", math.inf, raising=False)  # of a machine that does nothing else
    summary = attack.attack(CASES[name])
    assert summary["failures"] == []
    assert summary["cases"] == CASES[name]


def test_the_table_has_one_row_for_each_attack(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    attack: Any = importlib.import_module("attack")
    path = tmp_path / "reliability.md"
    path.write_text("before\n\n| attack | cases | result |\n|---|---|---|\n\nafter\n")
    monkeypatch.setattr(attack, "TABLE", path)
    for name, found in (("one", 3), ("other", 4), ("one", 5)):
        attack.write_row(name, {"cases": 1000, "found_by_name": found, "failures": []})
    rows = ["| one | 1,000 | 5 found by name, 0 failures |", "| other | 1,000 | 4 found by name, 0 failures |"]
    table = "\n".join(["| attack | cases | result |", "|---|---|---|", *rows])
    assert path.read_text() == f"before\n\n{table}\n\nafter\n"
