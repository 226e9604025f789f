"""When a batch goes on with fewer runs."""

from types import SimpleNamespace
from typing import Any

import pytest

from modgrok.experiments.batch_training import BatchTraining


@pytest.mark.parametrize(
    ("separate", "active", "compile_seconds", "worth"),
    [(False, 1, 3.0, True), (False, 1, 20.0, False), (False, 3, 3.0, False), (True, 1, 3.0, False)],
)
def test_it_shrinks_where_that_saves_more_than_compiling_it_took(
    separate: bool, active: int, compile_seconds: float, worth: bool
) -> None:
    """40 seconds are left of four runs' training."""
    program = SimpleNamespace(on=SimpleNamespace(separate=separate))
    training: Any = SimpleNamespace(
        live=SimpleNamespace(program=program),
        active=[*range(active)],
        members=[*range(4)],
        batch=SimpleNamespace(schedule=([0, 500],)),
        step=300,
        steps_per_second=5.0,
        compile_seconds=compile_seconds,
    )
    assert BatchTraining._worth_shrinking(training) is worth
