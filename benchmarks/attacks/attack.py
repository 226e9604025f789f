"""What the attacks share: a small experiment, how its runs are compared, and the table of docs/reliability.md."""

import argparse
import contextlib
import io
import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from modgrok.experiments import Experiment, Observer, Run, Store

TABLE = Path(__file__).parents[2] / "docs" / "reliability.md"
HEAD = ("attack", "cases", "result")
PATIENCE = 600
"""Seconds after which a program hangs, however busy the machine."""
SMALL = Experiment("n + m", 11, width=16, fraction=0.8, lr=0.2, weight_decay=0.0, steps=60, evaluations=8, snapshots=3)


class Stopping(Observer):
    """Stops training after so many calls of the compiled program, and remembers remarks."""

    def __init__(self, calls: int | None = None) -> None:
        self.calls, self.remarks = calls, list[str]()

    def advanced(self, members: Any, step: int, run_steps: int) -> None:
        if self.calls is not None:
            self.calls -= 1

    def remark(self, sentence: str) -> None:
        self.remarks.append(sentence)

    def stop_requested(self) -> bool:
        return self.calls is not None and self.calls <= 0


class Memory:
    """What a process takes at most from here on, beyond what it had."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):  # where the kernel lets nobody begin anew
            Path("/proc/self/clear_refs").write_text("5")
        self.before = self._kilobytes("VmRSS")

    @property
    def gigabytes(self) -> float:
        return (self._kilobytes("VmHWM") - self.before) / 1e6

    @staticmethod
    def _kilobytes(name: str) -> int:
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(name))


def train(store: Store, calls: int | None = None, experiment: Experiment = SMALL) -> tuple[Run, list[str]]:
    """Trains on, at most so many calls, with a checkpoint after each; the run and what was said."""
    from modgrok.errors import Interrupted
    from modgrok.experiments import batch_training, run_writer
    from modgrok.experiments.train import train_stored

    batch_training.CHECKPOINT_SECONDS, run_writer.SHARE = 0.0, 1e9
    observer = Stopping(calls)
    with contextlib.suppress(Interrupted):
        train_stored([experiment], store, observer)
    return store.add(experiment), observer.remarks


def contents(run: Run) -> dict[str, bytes]:
    """All that a run is, by file, but for the time that it took, the sources' commit, and the digests of the files that
    say so."""
    found = {str(path.relative_to(run.folder)): path.read_bytes() for path in files_of(run)}
    for name in found:
        if name.endswith(".json"):
            found[name] = re.sub(rb'"(seconds|commit|digest)": [^,\n]*', b"", found[name])
    return found


def files_of(run: Run) -> Iterator[Path]:
    yield from sorted(path for path in run.folder.rglob("*") if path.is_file() and path.name != "lock")


class TooLong(BaseException):
    """The time allowed is over."""


class Answer(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str
    fault: str | None
    """What it should not have done: a traceback, or more than the time allowed."""


def call(*words: str) -> Answer:
    """A command line in this process; one that hangs is ended."""
    from modgrok import cli

    out, err, code, fault = io.StringIO(), io.StringIO(), 0, None

    def ring(*_: Any) -> None:
        raise TooLong(f"more than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(PATIENCE)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            cli.main(list(words))
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        fault = f"{type(error).__name__}: {error}"[:200]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if fault is None and (code not in (0, 1, 2) or "Traceback" in err.getvalue()):
        fault = f"exit code {code}: {err.getvalue()[-200:]}"
    return Answer(code, out.getvalue(), err.getvalue(), fault)


def main(name: str, attack: Callable[[int], dict[str, Any]], cases: int) -> None:
    """Runs an attack from the command line: its summary as JSON, and with --write its row of the table."""
    parser = argparse.ArgumentParser(description=f"{name}; see docs/reliability.md")
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--write", action="store_true", help="write the result into docs/reliability.md")
    asked = parser.parse_args()
    summary = attack(asked.cases)
    print(json.dumps({"attack": name} | summary, indent=1))
    if asked.write:
        write_row(name, summary)
    raise SystemExit(bool(summary["failures"]))


def write_row(name: str, summary: dict[str, Any]) -> None:
    """Puts an attack's row into the table: its name, how many cases there were, what became of them."""
    text = TABLE.read_text()
    outcome = ", ".join(
        f"{value:,} {key}" if type(value) is int else f"{key} {value}" for key, value in _shown(summary)
    )
    row = f"| {name} | {summary['cases']:,} | {outcome} |"
    start, *rows = [line for line in text.splitlines() if line.startswith("| ")]
    kept = {line.split(" | ")[0]: line for line in rows} | {row.split(" | ")[0]: row}
    head, _, rest = text.partition(start)
    tail = rest.rpartition("|\n")[2]
    TABLE.write_text("\n".join((head + start, "|---" * len(HEAD) + "|", *kept.values())) + "\n" + tail)


def _shown(summary: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in summary.items():
        if key not in ("cases", "failures"):
            yield key.replace("_", " "), value
    yield "failures", len(summary["failures"])
