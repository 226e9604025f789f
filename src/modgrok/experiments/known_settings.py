"""The settings that networks, optimizers, losses and families of tasks bring to an experiment that names them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.networks import ARCHITECTURES
from modgrok.setting import Setting, described
from modgrok.tasks.families.family import FAMILIES, family_of
from modgrok.training.losses import LOSSES
from modgrok.training.optimizers import GROKFAST, OPTIMIZERS

Declared = dict[str, Setting]
"""Settings by name, as an architecture, an optimizer, … declares them."""


@dataclass(frozen=True, eq=False)
class Brought:
    """All settings that something registered brings."""

    settings: Declared
    """As an experiment has them: None, or False for a switch, where they are left open."""
    owners: Mapping[str, Mapping[str, Declared]]
    """`network`, `optimizer`, … → its values → what each of them brings."""

    def read(self, chosen: Mapping[str, str]) -> Declared:
        """What the network, the optimizer, … of an experiment bring, given their names."""
        return {name: one for kind, value in chosen.items() for name, one in self.owners[kind].get(value, {}).items()}

    def kind_of(self, name: str) -> str:
        """What kind of thing brings a setting: a network, an optimizer, …"""
        return next(kind for kind, values in self.owners.items() if any(name in own for own in values.values()))


REGISTRIES: tuple[dict[str, Any], ...] = ARCHITECTURES, OPTIMIZERS, LOSSES, GROKFAST, FAMILIES
_last: list[Any] = [None, None]
"""The registries as they were when settings were last asked for, and what they brought."""


def brought() -> Brought:
    """What is registered now."""
    if _last[0] != REGISTRIES:
        _last[:] = tuple(map(dict, REGISTRIES)), _brought(*(registry.items() for registry in REGISTRIES))
    return _last[1]


def chosen_by(experiment: Any) -> dict[str, str]:
    """The names of the network, the optimizer, … of an experiment."""
    family = family_of(experiment.task)
    names = {kind: getattr(experiment, kind) for kind in ("network", "optimizer", "loss", "grokfast")}
    return {kind: value for kind, value in names.items() if value} | ({"task": family.name} if family else {})


def _brought(architectures: Any, optimizers: Any, losses: Any, grokfast: Any, families: Any) -> Brought:
    owners = {
        "network": {name: kind.brings() for name, kind in architectures},
        "optimizer": {name: _by_name(one.settings) for name, one in optimizers},
        "loss": {name: _by_name(one.settings) for name, one in losses},
        "grokfast": {name: _by_name(settings) for name, settings in grokfast},
        "task": {name: _by_name(family.settings) for name, family in families},
    }
    declared: dict[str, list[tuple[str, Setting]]] = {}
    for values in owners.values():
        for owner, settings in values.items():
            for name, one in settings.items():
                declared.setdefault(name, []).append((owner, one))
    return Brought({name: _merged(name, found) for name, found in declared.items()}, owners)


def _by_name(settings: Iterable[Setting]) -> Declared:
    return {one.name: one for one in settings}


def _merged(name: str, declared: list[tuple[str, Setting]]) -> Setting:
    """One setting of an experiment from all its declarations."""
    (first, one), *others = declared
    for owner, other in others:
        if set(other.kinds) - {type(None)} != set(one.kinds) - {type(None)}:
            raise ModgrokError(f"{owner} and {first} both have a setting {name}, of different types; rename one.")
    help = _help(declared)
    if all(each.switch for _, each in declared):
        return Setting(name, bool, False, help)
    return Setting(name, one.type | None, None, help, one.range, one.choices, one.spell)


def _help(declared: list[tuple[str, Setting]]) -> str:
    """The meaning of a setting, and its defaults."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for owner, one in declared:
        meaning, default = described(one.help, str(one.default).lower() if one.default is True else one.default)
        meanings.setdefault(meaning, {}).setdefault(default, []).append(owner)
    parts = []
    for meaning, defaults in meanings.items():
        if len(defaults) == 1:
            ((default, owners),) = defaults.items()
            parts.append(f"{meaning} ({', '.join(owners)}{f'; default: {default}' if default else ''})")
        else:
            named = (f"{default} for {', '.join(owners)}" for default, owners in defaults.items())
            parts.append(f"{meaning} (default: {', '.join(named)})")
    return f"{'; '.join(parts)}."
