"""Errors for the user: what was required, what came, what to do. The command line prints them and exits with 2."""

import importlib
from typing import Any


class ModgrokError(Exception):
    """A request that cannot be fulfilled as given; its message is one or two sentences for the person who asked."""


class Interrupted(ModgrokError):
    """Training was stopped before its end; everything done so far is stored. Call again to resume."""


class Unknown(ModgrokError):
    """A name that nothing here was registered under. What was stored with it is sound: who registers it can read it."""

    def __init__(self, sentence: str, what: str = "") -> None:
        super().__init__(sentence)
        self.what = what
        """Such as `network 'bilinear'`."""


class Absent(ModgrokError, AttributeError):
    """An object that names its parts was asked for one that it does not have."""


class Damaged(ModgrokError):
    """A file or a run's folder does not hold what modgrok wrote there."""


def import_extra(module: str, need: str, extra: str) -> Any:
    """A module that an extra installs; where it is missing, the error says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ModgrokError(f"{need}: pip install 'modgrok[{extra}]'.") from error
