"""Two batches at a time, as on a GPU."""

import dataclasses
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest

from modgrok.errors import Interrupted
from modgrok.experiments import Experiment, Observer, Store, batch_training
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.engines import local
from modgrok.experiments.sweeps.execution import plan
from modgrok.experiments.sweeps.table import Results
from modgrok.experiments.turn import Turn
from modgrok.training.program import GPU, PLATFORMS

BASE = Experiment("n + m", 7, width=8, fraction=0.6, steps=40, evaluations=10, snapshots=2)
SWEEP = Sweep(BASE, ["seed=0:6"])


@pytest.fixture(autouse=True)
def together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PLATFORMS, "cpu", dataclasses.replace(GPU, compiler_options={}, most_runs=1))


class Listening(Observer):
    """Remembers which threads told it, and stops after a number of calls."""

    def __init__(self, most: int | None = None) -> None:
        self.most, self.calls, self.threads, self.ends = most, 0, set[Any](), list[str]()

    def advanced(self, members: Any, step: int, run_steps: int) -> None:
        self.calls += 1
        self.threads.add(current_thread())

    def ended(self, run: Any, result: Any) -> None:
        self.ends.append(run.id)

    def stop_requested(self) -> bool:
        return self.most is not None and self.calls >= self.most


def train(folder: Path, observer: Observer) -> Results:
    results = Results(SWEEP.experiments, Store(folder))
    assert not plan(results, local.LocalEngine()).train(observer)
    return results


def weights(results: Results) -> list[bytes]:
    return [results.store.run(name).folder.joinpath("network.safetensors").read_bytes() for name in results.ids]


def test_two_batches_at_a_time_end_with_the_bits_of_one_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observer = Listening()
    monkeypatch.setattr(batch_training, "BETWEEN_SECONDS", 0.0)  # The later takes one step a call.
    found = train(tmp_path / "two", observer)
    assert len(observer.threads) == local.AT_ONCE
    assert sorted(observer.ends) == sorted(found.ids)
    monkeypatch.setattr(local, "AT_ONCE", 1)
    assert weights(found) == weights(train(tmp_path / "one", Observer()))


def test_the_later_batch_follows_until_the_earlier_has_trained_and_a_long_one_a_short_one() -> None:
    first, second, short = Turn(False), Turn(False), Turn(False, short=True)
    alone = Turn(True)
    with second.training():
        assert not second.follows
        with first.training(), alone.training():
            assert [turn.follows for turn in (first, second, alone)] == [False, True, False]
            with short.training():
                assert [turn.follows for turn in (first, second, short)] == [True, True, False]
        assert not second.follows


def test_stopping_stores_both_and_the_same_again_resumes(tmp_path: Path) -> None:
    with pytest.raises(Interrupted, match="rerun the command to resume"):
        train(tmp_path / "stopped", Listening(12))
    checkpoints = list((tmp_path / "stopped").glob("*/checkpoint.safetensors"))
    assert 1 <= len(checkpoints) <= 2 * local.AT_ONCE
    resumed = train(tmp_path / "stopped", Observer())
    assert weights(resumed) == weights(train(tmp_path / "whole", Observer()))


def test_an_error_stops_the_other_batch(tmp_path: Path) -> None:
    class Failing(Listening):
        def measured(self, run: Any, row: dict[str, Any]) -> None:
            if row["step"] > 5:
                raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        train(tmp_path, Failing())
    assert len(train(tmp_path, Observer()).outcomes) == 6


def test_a_batch_that_needs_the_memory_or_the_weights_of_another_waits(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second, *_ = local.LocalEngine().plan([e.resolve() for e in SWEEP.experiments], store)
    training = local._Training([first, second], store, local.Shared(Observer()), lambda batch: None)
    assert training._next() is first
    assert training._may_join(second)
    child = dataclasses.replace(second.members[0].experiment, parent=f"{first.members[0].id}@40")
    member = dataclasses.replace(second.members[0], experiment=child)
    assert not training._may_join(dataclasses.replace(second, members=(member,)))
