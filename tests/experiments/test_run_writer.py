"""Ends of runs and snapshots, written while training goes on."""

import threading

import pytest

from modgrok.experiments import run_writer
from modgrok.experiments.run_writer import BackgroundWriter


def test_what_is_written_is_told_of_in_the_order_in_which_it_was_begun():
    told, first = [], threading.Event()

    def slowly():
        first.wait(5)
        return "a"

    with BackgroundWriter() as at_once:
        at_once.begin(slowly, told.append)
        at_once.begin(lambda: "b", told.append)
        at_once.report_finished()
        assert told == []  # The second is written, and waits for the first.
        first.set()
        at_once.begin(lambda: "c", told.append)
    assert told == ["a", "b", "c"]


def test_all_is_there_after_waiting():
    told = []
    with BackgroundWriter() as at_once:
        for name in "abc":
            at_once.begin(lambda name=name: name, told.append)
        at_once.wait()
        assert told == ["a", "b", "c"]


def test_no_more_than_a_few_wait_to_be_written(monkeypatch):
    monkeypatch.setattr(run_writer, "MOST_PENDING", 1)
    told = []
    with BackgroundWriter() as at_once:
        for name in "abc":
            at_once.begin(lambda name=name: name, told.append)
        at_once.report_finished()
        assert len(told) >= 2


def write_all(told, writes):
    with BackgroundWriter() as at_once:
        for write in writes:
            at_once.begin(write, told.append)


def test_what_could_not_be_written_is_an_error():
    def fails():
        raise OSError("no space")

    told = []
    with pytest.raises(OSError, match="no space"):
        write_all(told, [lambda: "a", fails])
    assert told == ["a"]


def test_what_was_begun_is_told_of_when_training_is_stopped():
    told = []

    def stopped():
        yield lambda: "a"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_all(told, stopped())
    assert told == ["a"]


def test_large_networks_wait_for_each_other(monkeypatch):
    monkeypatch.setattr(run_writer, "PENDING_BYTES", 100)
    told = []
    with BackgroundWriter() as at_once:
        for name in "abc":
            at_once.begin(lambda name=name: name, told.append)
        at_once.make_room(50)
        assert told[:1] == ["a"]
        at_once.make_room(101)
        assert told == ["a", "b", "c"]
