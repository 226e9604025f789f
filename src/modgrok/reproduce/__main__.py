"""`python -m modgrok.reproduce`: the command without its terminal dress, for machines that have little installed."""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from modgrok.errors import ModgrokError
from modgrok.reproduce.catalogue import CLAIMS, chosen_studies
from modgrok.reproduce.pipeline import check_out, reproduce
from modgrok.reproduce.plan import cost
from modgrok.reproduce.profile import profile_named
from modgrok.reproduce.progress import LineProgress
from modgrok.reproduce.request import Request


def parse(argv: Sequence[str]) -> Request:
    """The request from flags that are named as its fields."""
    parser = argparse.ArgumentParser(prog="python -m modgrok.reproduce", description=Request.__doc__)
    for field in dataclasses.fields(Request):
        flag = "--" + field.name.replace("_", "-")
        if isinstance(field.default, bool):
            parser.add_argument(flag, action="store_true")
        elif isinstance(field.default, tuple):
            parser.add_argument(flag, nargs="+", default=field.default)
        else:
            kind = str if isinstance(field.default, str) else Path
            parser.add_argument(flag, type=kind, default=field.default)
    settings = vars(parser.parse_args(argv))
    return Request(**settings | {"only": tuple(settings["only"])})


def main(argv: Sequence[str]) -> int:
    try:
        request = parse(argv)
        check_out(request.out)
        if request.plan:
            profile = profile_named(request.profile)
            for row in cost(chosen_studies(request.only, profile), profile):
                print(
                    f"{row.study:<16}{row.runs:>6} runs{row.run_steps:>12} "
                    f"run-steps{row.reference_steps:>12.0f} reference steps"
                    f"{row.cpu_minutes:>8.1f} CPU min{row.gpu_minutes:>7.2f} GPU min"
                )
            return 0
        with LineProgress() as progress:
            outcome = reproduce(request, progress)
    except KeyboardInterrupt:
        print("modgrok: stopped; the same command goes on from what is stored.", file=sys.stderr)
        return 130
    except ModgrokError as error:
        print(f"modgrok: {error}", file=sys.stderr)
        return 2
    for name, verdict in outcome.verdicts.items():
        print(f"{verdict.outcome:<24}{name:<22}{CLAIMS[name].section:<30}{verdict.sentence}")
    print(f"report: {outcome.report or 'none (numbers only)'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
