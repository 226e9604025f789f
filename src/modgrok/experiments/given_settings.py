"""Settings from what a person gives: a task as text, function, table or file, chosen inputs, a network to start from.

Files are TOML or JSON, flat as keywords are.
"""

import contextlib
import inspect
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, known_settings
from modgrok.experiments.store import Store
from modgrok.networks import Network
from modgrok.networks.foreign import load
from modgrok.sealed import parse_json
from modgrok.setting import Setting
from modgrok.tasks import Split, Task, reads_modulus
from modgrok.tasks import task as find_task
from modgrok.tasks.choice import write_choice
from modgrok.training.recording import record

SUFFIXES = (".toml", ".json")
UNREAD = (".yaml", ".yml")


def describe_source(source: Any, modulus: int | None, store: Store, name: str = "") -> dict[str, Any]:
    """The settings `task` and `modulus` of anything that describes a task. Tables that no text spells go to the store,
    by the name given here or by their own."""
    if isinstance(source, str | Path):
        own = read_settings_file(Path(source)) if is_settings_file(source) else {"task": str(source)}
        return own | ({} if modulus is None else {"modulus": modulus})
    if modulus is None and callable(source):
        raise ModgrokError("A function is trained modulo some number; give modulus=97, for example.")
    found = source if modulus is None and isinstance(source, Task) else None
    found = found or (Task.from_table(source) if modulus is None else find_task(source, modulus))
    if found.table is None or found.vectors is not None or found.codes is not None:
        raise ModgrokError(f"{found!r} is trained from its text; only tables can be stored without one.")
    p = found.modulus if found.is_modular else None
    with contextlib.suppress(ModgrokError):
        if np.array_equal(find_task(found.name, p).table, found.table):
            return {"task": found.name} | ({"modulus": p} if reads_modulus(found.name) else {})
    named = replace(found, name=name) if name else found
    return {"task": str(store.add_table(named))} | ({} if p is None else {"modulus": p})


def described_settings(settings: dict[str, Any], train_on: Any, store: Store) -> dict[str, Any]:
    """Settings in which functions to record have become names, and a choice of training inputs a text."""
    if "record" in settings:
        settings = settings | {"record": _measure_names(settings["record"])}
    return settings if train_on is None else settings | _split_settings(train_on, settings, store)


def starting_settings(start: Network | str | Path, settings: dict[str, Any], store: Store) -> dict[str, Any]:
    """The settings of a run that begins with given weights: what the network says, unless these say otherwise."""
    network = start if isinstance(start, Network) else load(start)
    if network.dtype.kind == "c":
        raise ModgrokError("Training takes real weights, and those to start from are complex; solve with another form.")
    own = {key: value for key, value in network.architecture.settings().items() if value is not None}
    if reads_modulus(settings["task"]):
        own["modulus"] = network.modulus
    return {"network": network.architecture.name} | own | settings | {"parent": store.add_network(network)}


def _split_settings(train_on: Any, settings: dict[str, Any], store: Store) -> dict[str, Any]:
    """The settings behind a choice of training inputs."""
    if isinstance(train_on, Split):
        names = {"seed": "split_seed", "wrong": "wrong_labels", "chosen": "train_on"}
        given = {names.get(field.name, field.name): getattr(train_on, field.name) for field in fields(Split)}
        return {name: value for name, value in given.items() if value is not None}
    task = Experiment.from_dict({**settings, "train_on": ""}).load_task(store.tables)
    return {"train_on": write_choice(train_on, task)}


def _measure_names(given: Any) -> tuple[str, ...]:
    """The names of measures, one or several; a function becomes a measure under its own name."""
    listed = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    for one in listed:
        if callable(one):
            name = getattr(one, "__name__", "")
            if name in ("", "<lambda>"):
                raise ModgrokError("A measure needs a name; write it with def, or register it with modgrok.record.")
            record(name)(one)
    return tuple(one.__name__ if callable(one) else one for one in listed)


def declare_settings(function: Any, defaults: Mapping[str, Any] | None = None, without: Sequence[str] = ()) -> None:
    """Every setting of an experiment as a keyword of the function, for `help` and completion; but those left out, and
    with other defaults where given."""
    signature, keyword = inspect.signature(function), inspect.Parameter.KEYWORD_ONLY
    listed = chosen_settings(defaults, (*signature.parameters, *without))
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    made = [inspect.Parameter(one.name, keyword, default=one.default, annotation=one.type) for one in listed]
    function.__signature__ = signature.replace(parameters=[*own, *made])
    lines = "\n".join(f"        {one.name}: {one.help}" for one in listed)
    function.__doc__ = f"{function.__doc__.rstrip()}\n\n    Settings:\n{lines}\n    "


def chosen_settings(defaults: Mapping[str, Any] | None = None, without: Collection[str] = ()) -> list[Setting]:
    """All settings that are known now but those left out, with other defaults where given."""
    chosen = [one for one in known_settings().values() if one.name not in without]
    return [replace(one, default=(defaults or {}).get(one.name, one.default)) for one in chosen]


def is_settings_file(text: str | Path) -> bool:
    """Whether a task's text is the path of a file with all settings; YAML counts, and is refused with a sentence."""
    return str(text).lower().endswith((*SUFFIXES, *UNREAD))


def read_settings_file(path: Path) -> dict[str, Any]:
    """The settings by name: all that the file holds, or its table `experiment`, as a run's own file has it."""
    content = read_mapping(path)
    if content.get("vary"):
        raise ModgrokError(
            f"{path} varies settings: `modgrok sweep {path}` trains all combinations, from Python "
            "modgrok.run_sweep(modgrok.Sweep.from_file(…))."
        )
    found = content.get("experiment", content)
    if not isinstance(found, dict) or "task" not in found:
        raise ModgrokError(f'{path} needs a task among its settings, for example task = "n + m".')
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}


def read_mapping(path: Path) -> dict[str, Any]:
    """What a .toml or .json file holds."""
    if path.suffix.lower() in UNREAD:
        raise ModgrokError(f"Settings are read from a .toml or .json file, not from {path.name}; write them as TOML.")
    kind = path.suffix.lower()[1:].upper()
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if kind == "TOML" else parse_json(text)
    except OSError as error:
        raise ModgrokError(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError) as error:
        raise ModgrokError(f"{path} is not a {kind} file: {error}.") from error
    if not isinstance(found, dict):
        raise ModgrokError(f"{path} must hold settings by name, not {type(found).__name__}.")
    return found
