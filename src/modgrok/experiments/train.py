"""Training in one call, for the library: an experiment from its settings, trained into a store."""

import contextlib
import inspect
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, known_settings
from modgrok.experiments.interruption import Interruption
from modgrok.experiments.observer import Observer, Speaking
from modgrok.experiments.progress import progress_display
from modgrok.experiments.run import Run
from modgrok.experiments.settings_file import is_settings_file, read_settings_file
from modgrok.experiments.store import Store, as_store
from modgrok.networks import Network
from modgrok.networks.foreign import load
from modgrok.tasks import Split, Task, reads_modulus
from modgrok.tasks import task as find_task
from modgrok.tasks.choice import write_choice
from modgrok.training.recording import record


def train(
    task: Any,
    modulus: int | None = None,
    *,
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    start: Network | str | Path | None = None,
    train_on: Any = None,
    force: bool = False,
    **settings: Any,
) -> Run:
    """Trains one network and returns its run; a run that the store already has returns at once, unless `force` is set.

    `task` is anything that `modgrok.task` takes, or a .toml or .json file with all settings, and the store is `runs/`
    or `$MODGROK_STORE` unless given. Training begins with the weights of `start`, a trained network, a closed form or
    one brought along, or the file of one, and takes its settings from it. `train_on` says which inputs are trained on:
    a mask of the table's shape, indices into the raveled table, rows (n, m), a file with one of these, or a `Split`.
    `record` names measures, or holds functions of the network and its `modgrok.training.recording.Data`. The same call
    with more `steps` goes on from where the shorter run ended. Progress is shown in terminals and notebooks; an
    `observer` hears of it instead. Ctrl-C raises `Interrupted` with everything stored: the same call goes on from
    there.
    """
    place = as_store(store)
    given = described_settings(describe_source(task, modulus, place) | settings, train_on, place)
    if start is not None:
        given = starting_settings(start, given, place)
    return train_all([Experiment.from_dict(given)], place, observer, force=force)[0]


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
    signature, defaults, keyword = inspect.signature(function), defaults or {}, inspect.Parameter.KEYWORD_ONLY
    known = known_settings().values()
    listed = [one for one in known if one.name not in (*signature.parameters, *without)]
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    made = [
        inspect.Parameter(one.name, keyword, default=defaults.get(one.name, one.default), annotation=one.type)
        for one in listed
    ]
    function.__signature__ = signature.replace(parameters=[*own, *made])
    lines = "\n".join(f"        {one.name}: {one.help}" for one in listed)
    function.__doc__ = f"{function.__doc__.rstrip()}\n\n    Settings:\n{lines}\n    "


declare_settings(train)


def train_all(
    experiments: Sequence[Experiment],
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    *,
    force: bool = False,
) -> list[Run]:
    """Trains many networks, those of equal shape at once, and returns their runs in order."""
    from modgrok.experiments.trainer import train_stored
    from modgrok.training.devices import use_all_cores

    if observer is not None and not isinstance(observer, Observer):
        raise ModgrokError(f"observer must be a modgrok.Observer whose methods hear of training, not {observer!r}.")
    use_all_cores()
    if observer is not None or threading.current_thread() is not threading.main_thread():
        return train_stored(experiments, as_store(store), observer, force=force)
    if (display := progress_display()) is not None:
        with display:
            return train_stored(experiments, as_store(store), display, force=force)
    with Interruption() as interruption:
        return train_stored(experiments, as_store(store), _Stopping(interruption), force=force)


class _Stopping(Speaking):
    def __init__(self, interruption: Interruption) -> None:
        self.interruption = interruption

    def advanced(self, members: Sequence[Any], step: int, run_steps: int) -> None:
        self.interruption.training = True

    def stop_requested(self) -> bool:
        return self.interruption.requested


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
