"""`python -m modgrok.reproduce`: the command without its terminal dress, for machines that have little installed."""

import argparse
import dataclasses
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Observer
from modgrok.experiments.interruption import Interruption
from modgrok.experiments.sweeps.execution import Plan
from modgrok.reproduce.pipeline import Request, planned, reproduce
from modgrok.text import count, duration


class Lines(Observer):
    """A line on stderr whenever a run has ended."""

    def __init__(self, runs: int, studies: dict[str, str], interruption: Interruption) -> None:
        self.runs, self.studies, self.interruption = runs, studies, interruption
        self.done = 0

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self.interruption.training = True

    def stop_requested(self) -> bool:
        return self.interruption.requested

    def ended(self, run: Any, result: Any) -> None:
        self.done += 1
        print(f"{self.done} of {count(self.runs, 'run')} · {self.studies[run.id]}", file=sys.stderr, flush=True)

    def remark(self, sentence: str) -> None:
        print(sentence, file=sys.stderr)


@contextmanager
def watch(planned: Plan, studies: dict[str, str]) -> Iterator[Lines]:
    """Training seen in lines, and stopped by signals where everything can be stored."""
    with Interruption() as interruption:
        yield Lines(planned.runs - planned.stored, studies, interruption)


def parse(argv: Sequence[str]) -> Request:
    """The request from flags that are named as its fields."""
    parser = argparse.ArgumentParser(prog="python -m modgrok.reproduce", description=Request.__doc__)
    paper, *fields = dataclasses.fields(Request)
    parser.add_argument(paper.name, nargs="?", default=paper.default)
    for field in fields:
        kind: dict[str, Any] = {"type": str if isinstance(field.default, str) or field.name == "address" else Path}
        if isinstance(field.default, bool):
            kind = {"action": "store_true"}
        elif isinstance(field.default, tuple):
            kind = {"nargs": "+"}
        parser.add_argument("--" + field.name.replace("_", "-"), default=field.default, **kind)
    settings = vars(parser.parse_args(argv))
    return Request(**settings | {"only": tuple(settings["only"])})


def main(argv: Sequence[str]) -> int:
    try:
        request = parse(argv)
        if request.plan:
            for row in planned(request):
                times = f"{duration(row.cpu_seconds)} on this CPU, {duration(row.gpu_seconds)} on an H200"
                print(f"{row.study:<20}{row.runs:>6} runs{row.run_steps:>12} run-steps, {times}")
            return 0
        outcome = reproduce(request, watch)
    except KeyboardInterrupt:
        print("modgrok: stopped; the same command goes on from what is stored.", file=sys.stderr)
        return 130
    except ModgrokError as error:
        print(f"modgrok: {error}", file=sys.stderr)
        return 2
    for name, verdict in outcome.verdicts.items():
        print(f"{verdict.outcome:<24}{name:<30}{verdict.sentence}")
    print(f"report: {outcome.report or 'none (numbers only)'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
