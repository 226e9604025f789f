import dataclasses
import io
import signal
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console

from modgrok.experiments import Experiment
from modgrok.experiments.observer import Stopping
from modgrok.experiments.progress import LINE_SECONDS, LiveProgress, ManyRuns
from modgrok.experiments.result import Result

RESULT = Result("0" * 12, "finished", 200, 0.1, None, None, None, None, None, None, None, 1.0)


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("modgrok.experiments.progress.time", clock)
    return clock


def member(steps: int = 1000, step: int = 0) -> SimpleNamespace:
    experiment = Experiment("n+m", steps=steps)
    return SimpleNamespace(experiment=experiment, step=step, run=SimpleNamespace(experiment=experiment))


def begin(progress: LiveProgress, *members: SimpleNamespace) -> None:
    progress.planned([SimpleNamespace(members=members)])


def plain() -> LiveProgress:
    return LiveProgress(Console(file=io.StringIO(), force_terminal=False, width=40))


def written(progress: LiveProgress) -> str:
    return progress.console.file.getvalue()  # type: ignore[attr-defined]


def test_one_run(clock: Clock) -> None:
    progress, run = plain(), member()
    begin(progress, run)
    clock.now += 1
    progress.measured(run.run, {"train_accuracy": 0.5, "test_accuracy": None})
    progress.advanced([run], 100, 100)
    assert progress.describe() == "step 100 of 1\u202f000 · 100 steps/s · train 50.0\u202f% · 9 s left"


def test_a_batch(clock: Clock) -> None:
    progress, runs = plain(), [member(), member(), member(500, step=100)]
    begin(progress, *runs)
    assert progress.total == 2400
    assert "Resuming from step 100." in written(progress)
    clock.now += 2
    progress.advanced(runs, 200, 500)
    progress.ended(runs[0].run, RESULT)
    assert progress.total == 1600
    assert progress.describe() == "1 of 3 runs · step 200 of 1\u202f000 · 250 run-steps/s · 4 s left"


def test_the_speed_is_that_of_late(clock: Clock) -> None:
    progress, run = plain(), member(100_000)
    begin(progress, run)
    for second in range(60):
        clock.now += 1
        progress.advanced([run], second, 10 if second < 30 else 1000)
    assert progress.speed == pytest.approx(1000)


def test_without_a_terminal_there_are_plain_lines_now_and_then(clock: Clock) -> None:
    progress, run = plain(), member(100_000)
    with progress:
        begin(progress, run)
        for step in range(1, 101):
            clock.now += LINE_SECONDS / 20
            progress.advanced([run], step, 1)
    lines = written(progress).splitlines()
    assert 3 <= len(lines) <= 5
    assert all(line.startswith("step ") and "\x1b" not in line for line in lines)


def test_on_a_terminal_there_is_a_bar() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    with LiveProgress(console) as progress:
        begin(progress, member())
        progress.advanced([member()], 10, 10)
        progress._bar.refresh()  # type: ignore[union-attr]
    assert "step 10 of 1\u202f000" in written(progress)


def test_the_first_signal_asks_and_the_second_interrupts() -> None:
    progress = plain()
    before = signal.getsignal(signal.SIGINT)
    with progress:
        progress.training = True
        signal.raise_signal(signal.SIGTERM)
        assert progress.stop_requested()
        assert progress.exit_code == 143
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_before_training_a_signal_interrupts_at_once() -> None:
    with Stopping() as stopping, pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    assert stopping.exit_code == 130


def test_a_notebook_has_one_line_that_goes_when_training_ends(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    from modgrok.experiments.progress import NotebookProgress, progress_display

    shown: list[str] = []
    handle = SimpleNamespace(update=lambda content, raw: shown.append(content["text/plain"]))

    def display(content: dict[str, str], raw: bool, display_id: bool) -> SimpleNamespace:
        handle.update(content, raw)
        return handle

    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    progress = progress_display()
    assert isinstance(progress, NotebookProgress)
    with progress:
        begin(progress, one := member())
        progress.advanced([one], 100, 100)
        assert not shown
        clock.now += 1
        progress.advanced([one], 200, 100)
    assert shown[0].startswith("step 200 of 1")
    assert shown[-1] == ""


def many_runs(monkeypatch: pytest.MonkeyPatch, batches: int, runs: int) -> tuple[ManyRuns, list[SimpleNamespace]]:
    """Batches of runs of 1 000 steps, each step as expensive as any other, that stop when they grok."""
    monkeypatch.setattr("modgrok.experiments.progress.work", lambda experiment, task: SimpleNamespace(cpu_seconds=1.0))

    def one(seed: int) -> SimpleNamespace:
        experiment = Experiment("n+m", 5, steps=1000, seed=seed, until=0).resolve()
        named = {"id": experiment.content_hash, "experiment": experiment}
        return SimpleNamespace(**named, task=None, step=0, run=SimpleNamespace(**named))

    made = [SimpleNamespace(members=[one(runs * i + j) for j in range(runs)]) for i in range(batches)]
    planned = SimpleNamespace(batches=made, stored=0, results=SimpleNamespace(runs=batches * runs))
    return ManyRuns(Console(file=io.StringIO(), force_terminal=False), planned), made


def test_the_time_left_of_many_runs_counts_slow_starts_and_early_ends(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten batches that take 5 s to start and 0.1 s a step, whose runs grok after a tenth of their 1 000 steps."""
    progress, batches = many_runs(monkeypatch, 10, 1)
    said, end = [], clock.now + 10 * (5 + 10)
    for batch in batches:
        [member] = batch.members
        progress.planned([batch])
        clock.now += 5
        for step in range(1, 101):
            clock.now += 0.1
            progress.advanced([member], step, 1)
        progress.ended(member.run, dataclasses.replace(RESULT, steps=100))
        said.append((progress.seconds_left, end - clock.now))
    for left, true in said[:-1]:
        assert left is not None
        assert true / 2 < left < 2 * true


def test_the_first_runs_to_end_say_little_about_the_others(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the 20 runs in each of three batches, 5 end after a tenth of their steps and 15 train to the last."""
    progress, batches = many_runs(monkeypatch, 3, 20)
    said, end = [], clock.now + 3 * 0.01 * (20 * 100 + 15 * 900)
    for batch in batches:
        progress.planned([batch])
        active = batch.members
        for step in range(10, 1001, 10):
            clock.now += 0.1 * len(active)
            progress.advanced(active, step, 10 * len(active))
            if step == 100:
                for member in active[:5]:
                    progress.ended(member.run, dataclasses.replace(RESULT, steps=100))
                active = active[5:]
            said.append((progress.seconds_left, end - clock.now))
        for member in active:
            progress.ended(member.run, dataclasses.replace(RESULT, steps=1000))
    for left, true in said[10:-10]:
        assert left is not None
        assert true / 2 < left < 2 * true
