"""Runs that have ended, written while others train."""

import threading

import pytest

from modgrok.experiments import Run, writing
from modgrok.experiments.result import Result
from modgrok.experiments.writing import Ending


def result(run, **kept):
    settings = dict.fromkeys(Result.__annotations__) | {"run": run.id} | kept
    return Result(**settings)


@pytest.fixture
def runs(tmp_path):
    return [Run(tmp_path / name) for name in "abc"]


def test_runs_are_told_of_in_the_order_in_which_they_ended(runs):
    told, first = [], threading.Event()

    def slowly():
        first.wait(5)
        return result(runs[0])

    with Ending(lambda run, found: told.append((run.id, found["run"]))) as ending:
        ending.write(runs[0], slowly)
        ending.write(runs[1], lambda: result(runs[1]))
        ending.tell_of_written()
        assert told == []  # The second is written, and waits for the first.
        first.set()
        ending.write(runs[2], lambda: result(runs[2]))
    assert told == [("a", "a"), ("b", "b"), ("c", "c")]


def test_no_more_than_a_few_runs_wait_to_be_written(runs, monkeypatch):
    monkeypatch.setattr(writing, "UNWRITTEN", 1)
    told = []
    with Ending(lambda run, found: told.append(run.id)) as ending:
        for run in runs:
            ending.write(run, lambda run=run: result(run))
        ending.tell_of_written()
        assert len(told) >= 2


def write_ends(told, writes):
    with Ending(lambda run, found: told.append(run.id)) as ending:
        for run, write in writes:
            ending.write(run, write)


def test_what_could_not_be_written_is_an_error(runs):
    def fails():
        raise OSError("no space")

    told = []
    with pytest.raises(OSError, match="no space"):
        write_ends(told, [(runs[0], lambda: result(runs[0])), (runs[1], fails)])
    assert told == ["a"]


def test_runs_that_have_ended_are_told_of_when_training_is_stopped(runs):
    told = []

    def stopped():
        yield runs[0], lambda: result(runs[0])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_ends(told, stopped())
    assert told == ["a"]
