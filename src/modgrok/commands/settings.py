"""The settings of an experiment as flags, with the task as a positional argument."""

import dataclasses
import inspect
from collections.abc import Mapping
from typing import Annotated, Any

import tyro

from modgrok.experiments import Experiment
from modgrok.experiments.experiment import known_settings


def settings_type(name: str, defaults: Mapping[str, Any] | None = None, without: tuple[str, ...] = ()) -> Any:
    """A dataclass with a flag for each setting that is known now but those left out, and other defaults where given."""
    fields: list[Any] = []
    for one in known_settings().values():
        if one.name in without:
            continue
        if one.name == "task":
            shown = tyro.conf.arg(help=one.help, metavar="EXPR")
            fields.append((one.name, Annotated[tyro.conf.Positional[str], shown]))
            continue
        default = (defaults or {}).get(one.name, one.default)
        shown = tyro.conf.arg(help=one.help)
        fields.append((one.name, Annotated[one.type, shown], dataclasses.field(default=default)))
    # Told what it is for, Tyro need not read the sources to find out.
    about = tyro.conf.arg(help=inspect.cleandoc(Experiment.__doc__ or ""))
    return Annotated[dataclasses.make_dataclass(name, fields, frozen=True), about]


def given(settings: Any) -> dict[str, Any]:
    """The settings by name, as `Experiment` takes them."""
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
