"""From a frozen dataclass to flags, help and checks, and from a result to text or JSON: what all commands share."""

import json
import sys
from collections.abc import Sequence
from typing import Any, TypeVar

import tyro
from rich.console import Console

Arguments = TypeVar("Arguments")

err = Console(stderr=True)
"""Progress and remarks go here, so that stdout can be piped."""
out = Console()


def parse(settings: type[Arguments], command: str, argv: Sequence[str]) -> Arguments:
    """The command's settings from its flags; `--help` and bad flags end the program with 0 and 2."""
    return tyro.cli(settings, prog=f"modgrok {command}", args=list(argv), config=_CONFIG)


def print_json(result: dict[str, Any]) -> None:
    """Exactly one JSON object on stdout."""
    json.dump(result, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")


_CONFIG = (tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes)
