"""The settings of an experiment as flags, with the task as a positional argument."""

import dataclasses
from collections.abc import Mapping
from typing import Annotated, Any

from modgrok.commands.flags import Positional
from modgrok.experiments import Experiment
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.known_settings import brought

GROUPS = {
    "task": "task modulus",
    "data": "fraction sampling examples test_examples train_on split_seed wrong_labels",
    "network": "network init_scale dropout parent",
    "optimizer": "optimizer lr weight_decay decoupled warmup lr_end decay_to hold_norm orthogonal update_noise "
    "weight_noise grokfast",
    "training": "steps until batch_size loss seed precision loss_precision",
    "measuring": "threshold evaluations refine snapshots record",
}
"""The settings of every experiment by what they are about; brought ones stand with what brings them."""
KINDS = {"grokfast": "optimizer", "loss": "training"}


def headings() -> dict[str, str]:
    """The heading of every setting in help and documentation, in the order of the groups."""
    own = {name: heading for heading, names in GROUPS.items() for name in names.split()}
    others = brought()
    found = {name: KINDS.get(kind := others.kind_of(name), kind) for name in others.settings}
    return own | {name: found.get(name, "training") for name in known_settings() if name not in own}


def settings_type(name: str, defaults: Mapping[str, Any] | None = None, without: tuple[str, ...] = ()) -> Any:
    """A dataclass with a flag for each setting that is known now but those left out, and other defaults where given."""
    fields: list[Any] = []
    for one in known_settings().values():
        if one.name in without:
            continue
        about = {"help": one.help, "range": one.range, "choices": one.choices, "spell": one.spell}
        default = (defaults or {}).get(one.name, one.default)
        field = (
            dataclasses.field(metadata=about)
            if one.name == "task"
            else dataclasses.field(default=default, metadata=about)
        )
        kind: Any = Annotated[str, Positional("EXPR")] if one.name == "task" else one.type
        fields.append((one.name, kind, field))
    return dataclasses.make_dataclass(name, fields, frozen=True, namespace={"__doc__": Experiment.__doc__})


def given(settings: Any) -> dict[str, Any]:
    """The settings by name, as `Experiment` takes them."""
    return {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
