"""The settings of an experiment as flags, made from `Experiment` itself: its task in the place of an argument."""

import dataclasses
import inspect
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.sweep import DEFAULTS, EVALUATIONS


def settings_type(name: str, defaults: Mapping[str, Any] | None = None, without: tuple[str, ...] = ()) -> Any:
    """A dataclass with a flag for each setting but those left out, and other defaults where given."""
    hints = typing.get_type_hints(Experiment)
    fields: list[Any] = []
    for field in dataclasses.fields(Experiment):
        if field.name in without:
            continue
        shown = tyro.conf.arg(help=field.metadata["help"])
        if field.name == "task":
            shown = tyro.conf.arg(help=field.metadata["help"], metavar="EXPR")
            fields.append((field.name, Annotated[tyro.conf.Positional[str], shown]))
            continue
        default = (defaults or {}).get(field.name, field.default)
        fields.append((field.name, Annotated[hints[field.name], shown], dataclasses.field(default=default)))
    # Told what it is for, Tyro need not read the sources to find out.
    about = tyro.conf.arg(help=inspect.cleandoc(Experiment.__doc__ or ""))
    return Annotated[dataclasses.make_dataclass(name, fields, frozen=True), about]


def given(settings: Any) -> dict[str, Any]:
    """The settings by name, as `Experiment` takes them."""
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}


if TYPE_CHECKING:
    Settings = Experiment
    SweepSettings = Experiment
    CriticalSettings = Experiment
    LandscapeSettings = Experiment
else:
    _OF_COMMANDS = {
        "Settings": (),
        "SweepSettings": (DEFAULTS,),
        "CriticalSettings": (
            DEFAULTS | {"evaluations": EVALUATIONS},
            ("modulus", "sampling", "fraction", "seed", "split_seed"),
        ),
        "LandscapeSettings": (DEFAULTS, ("task", "fraction", "seed", "split_seed")),
    }

    def __getattr__(name: str) -> Any:
        """The settings of one command, made when it asks for them."""
        if name not in _OF_COMMANDS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return settings_type(name, *_OF_COMMANDS[name])
