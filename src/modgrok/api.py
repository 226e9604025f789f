"""The commands as functions, with the same names, defaults and results.

A task is a text of any family, a callable, a table or a `Task`.
"""

import inspect
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import modgrok.closed_form as closed_form
from modgrok.disk import write_bytes
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Run, archive
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.given_settings import declare_settings, describe_source, described_settings
from modgrok.experiments.named_task import task_name
from modgrok.experiments.result import Result
from modgrok.experiments.store import Store, StoreLike, as_store
from modgrok.experiments.sweeps.critical import Critical, Effort, Search, critical_fractions
from modgrok.experiments.sweeps.engines import engine_named
from modgrok.experiments.sweeps.execution import Executor, run_sweep
from modgrok.experiments.sweeps.landscape import LandscapeRow, landscape_sweep
from modgrok.experiments.sweeps.landscape import landscape as landscape_rows
from modgrok.experiments.sweeps.record import find_sweep, stored_sweeps
from modgrok.experiments.sweeps.sweep import DEFAULTS, EVALUATIONS, Sweep
from modgrok.experiments.sweeps.table import Results, Table
from modgrok.experiments.train import train_all
from modgrok.networks import Network
from modgrok.networks.foreign import load as load_weights
from modgrok.setting import require_settings
from modgrok.tasks import Structure, Task, usual_modulus
from modgrok.tasks import task as find_task
from modgrok.tasks.choice import write_choice
from modgrok.text import abridged

if TYPE_CHECKING:
    from modgrok.reproduce.pipeline import Outcome, StudyCost

SEEDS = ("seed", "split_seed")
SEARCHED = ("fraction", *SEEDS)
"""Settings that the search for the critical fraction chooses."""


def load(name: str | Path | Mapping[str, Any] = "last", store: StoreLike = None, **options: Any) -> Run | Network:
    """Loads a stored run by its id, the beginning of it, or its name (`last` is the latest run), or the network in a
    file or state dict.

    A file is one that `Network.save` wrote, or weights of another program in .safetensors, .npz or .pt. These may be
    two matrices (with `variables`, `activation` and `parametrization` as in `Network.from_matrices`), layers with
    biases, or a `layout`: `transformerlens`, `nanda`, `pytorch`, `sequential`, or a mapping of names as in
    `modgrok.networks.layouts`, with the settings that shapes do not determine, such as `heads=4`.
    """
    if not isinstance(name, str | Path | Mapping):
        raise ModgrokError(f"load takes a run's id or name, a file or a state dict, not {abridged(name)}.")
    if isinstance(name, Path | Mapping) or Path(name).suffix:
        return load_weights(name, **options)
    if options:
        raise ModgrokError(f"A run knows its {min(options)}; leave it out.")
    return as_store(store).find(name)


def runs(store: StoreLike = None, search: str = "", **settings: Any) -> list[Run]:
    """Returns the stored runs, the latest first. Settings such as `optimizer="gd"`, and a text to `search` for in
    names, tags, notes and tasks, select some of them, of those that can be read here."""
    require_settings("An experiment", settings, known_settings())

    def fits(run: Run) -> bool:
        try:
            named = not search or run.labels.has(search) or search.lower() in run.task_name.lower()
            return named and all(getattr(run.experiment, name) == value for name, value in settings.items())
        except ModgrokError:
            return False

    return list(filter(fits, as_store(store))) if search or settings else list(as_store(store))


def pack(runs: Run | str | Table | Sequence[Run | str], path: str | Path, store: StoreLike = None) -> list[Run]:
    """Writes runs and the tables they trained on to a .zip file that `unpack` reads, and returns the runs. `runs` may
    be runs, their ids or names, ids or names of sweeps, or the table of a sweep."""
    named = runs["run"] if isinstance(runs, Table) else [runs] if isinstance(runs, Run | str) else runs
    place, found = as_store(store), []
    if not isinstance(named, Iterable):
        raise ModgrokError(f"pack takes runs, their ids or names, or the table of a sweep, not {abridged(runs)}.")
    for one in named:
        found += [one] if isinstance(one, Run) else _runs_of(one, place)
    archive.pack(found, Path(path))
    return found


def _runs_of(name: str, store: Store) -> list[Run]:
    """The run of that id or name, or those of a sweep that have been trained."""
    try:
        return [store.find(name)]
    except ModgrokError:
        if not any(name in (one["id"], one.get("label", {}).get("name")) for one in stored_sweeps(store)):
            raise
    results = Results(find_sweep(store, name).experiments, store, trusting=True)
    return [store.find(run) for run in results.outcomes]


def unpack(path: str | Path, store: StoreLike = None) -> list[Run]:
    """Adds the runs in a file that `pack` wrote to a store, after checking every digest; runs already in the store stay
    unchanged. Returns all runs of the file."""
    added, known = archive.unpack(Path(path), as_store(store))
    return [*added, *known]


def replay(run: Run | str, path: str | Path, store: StoreLike = None) -> None:
    """Writes a run as one .html page that replays it in any browser, without Python."""
    from modgrok.lab.library import Library
    from modgrok.lab.replay import replay as replay_text

    if Path(path).suffix.lower() != ".html":
        raise ModgrokError(f"Write a replay to an .html file, not to {path}.")
    found = as_store(store).find(run) if isinstance(run, str) else run
    write_bytes(Path(path), replay_text(Library(Store(found.folder.parent)), found).encode())


def classify(task: Any, modulus: int | None = None, **unknown: Any) -> Structure:
    """Finds the structure of a function, and so its closed form, from its table. The default modulus is 97."""
    require_settings("A classification", unknown, ["modulus"])
    return find_task(task, usual_modulus(task, modulus)).structure


def solve(task: Any, modulus: int | None = None, *, form: Any = None, **options: Any) -> Network:
    """Writes down the weights that compute a task: the exact form where there is one and no width is given. The default
    modulus is 97. Options are those of `modgrok.closed_form.solve`."""
    known = inspect.signature(closed_form.solve).parameters
    require_settings("A closed form", options, ["modulus", *(name for name in known if name not in ("task", "report"))])
    found = find_task(task, usual_modulus(task, modulus))
    return closed_form.solve(found, form or closed_form.usual_form(found, options.get("width")), **options)


def sweep(
    task: Any,
    modulus: int | None = None,
    *,
    vary: Any = None,
    store: StoreLike = None,
    engine: str = "local",
    address: str | None = None,
    train_on: Any = None,
    force: bool = False,
    **settings: Any,
) -> Table:
    """Trains all combinations of settings and returns their table. Stored runs are not trained again unless `force` is
    set. `record` and `train_on` are as in `train`.

    `vary` maps settings to values, one axis each, or is a list of axes as in `Sweep`. Tasks, including functions, can
    vary too; the table shows their own names, or the keys of a mapping:

        mg.sweep("n + m", 31, vary={"task": {"square": lambda n, m: (n + m) ** 2}, "seed": range(3)})
    """
    if vary is None:
        raise ModgrokError('Say what the sweep varies, for example vary={"seed": range(5)}.')
    vary, place = [vary] if isinstance(vary, str) else vary, as_store(store)
    axes = [{name: values} for name, values in vary.items()] if isinstance(vary, dict) else list(vary)
    names: dict[str, str] = {}
    given = described_settings(DEFAULTS | describe_source(task, modulus, place) | settings, train_on, place)
    base = Experiment.from_dict(given)
    for i, axis in enumerate(axes):
        if isinstance(axis, Mapping) and not isinstance(tasks := axis.get("task", ""), str):
            described, texts = _describe_tasks(tasks, modulus, place)
            axes[i] = axis = {**axis, "task": texts}
            names |= described
        if isinstance(axis, Mapping) and not isinstance(masks := axis.get("train_on", ""), str):
            axes[i] = {**axis, "train_on": [write_choice(one, base.load_task(place.tables)) for one in masks]}
    chosen = Sweep(base, axes)
    table = run_sweep(chosen, place, engine_named(engine, address), force=force)
    table["task"] = [names.get(e.task, name) for e, name in zip(chosen.experiments, table["task"], strict=True)]
    return table


def _describe_tasks(given: Any, modulus: int | None, store: Store) -> tuple[dict[str, str], list[str]]:
    """How the table is to call tasks by what experiments call them, and what experiments call each."""
    pairs = given.items() if isinstance(given, Mapping) else [(_own_name(one), one) for one in given]
    texts = [(describe_source(one, modulus, store, name)["task"], name) for name, one in pairs]
    return {text: name for text, name in texts if name}, [text for text, _ in texts]


def _own_name(task: Any) -> str:
    name = getattr(task, "__name__", "")
    return "" if name == "<lambda>" else name


def critical(
    task: Any,
    modulus: int | Sequence[int] | None = None,
    *,
    sampling: str | Sequence[str] = "random",
    effort: Effort | None = None,
    store: StoreLike = None,
    engine: str = "local",
    address: str | None = None,
    executor: Executor | None = None,
    **settings: Any,
) -> list[Critical]:
    """Estimates the critical fraction for each task of a list or mapping, each modulus and each sampling. `effort` sets
    how thoroughly to search. An `executor` replaces the engine and trains into its own store."""
    _leave_out(SEARCHED, settings)
    if not isinstance(effort, Effort | None):
        raise ModgrokError(f"effort must be a modgrok.Effort, such as Effort(seeds=12), not {abridged(effort)}.")
    if executor is None and (engine, address) != ("local", None):
        executor = Executor(store, engine_named(engine, address))
    place, many = executor.store if executor else as_store(store), {**DEFAULTS, "evaluations": EVALUATIONS}
    moduli = list(modulus) if isinstance(modulus, Iterable) else [modulus]
    samplings = [sampling] if isinstance(sampling, str) else list(sampling)
    searches = [
        Search(
            Experiment.from_dict(many | describe_source(one, p, place, name) | {"sampling": how} | settings),
            effort or Effort(),
        )
        for name, one in _several(task)
        for p in moduli
        for how in samplings
    ]

    def finish(experiments: Sequence[Experiment]) -> list[Result | None]:
        train_all(experiments, place)
        return Results(experiments, place, trusting=True).in_order

    found = critical_fractions(searches, executor.finish if executor else finish)
    return [replace(one, name=task_name(one.experiment.task, place.tables)) for one in found]


def _several(tasks: Any) -> list[tuple[str, Any]]:
    """The names and tasks of a list or a mapping; one task, which may be a table, alone."""
    if isinstance(tasks, Mapping):
        return list(tasks.items())
    listed = isinstance(tasks, list | tuple) and all(isinstance(t, str | Path | Task) or callable(t) for t in tasks)
    if listed and not tasks:
        raise ModgrokError("Give at least one task.")
    return [(_own_name(one), one) for one in (tasks if listed else [tasks])]


def landscape(
    functions: str | Sequence[str] = (),
    modulus: int | None = None,
    *,
    fraction: float | Sequence[float] = (0.3, 0.5, 0.7, 0.9),
    seeds: int = 3,
    store: StoreLike = None,
    engine: str = "local",
    address: str | None = None,
    **settings: Any,
) -> list[LandscapeRow]:
    """Trains many functions, and returns the structure of each beside how well it was learned."""
    _leave_out(SEEDS, settings)
    place, functions = as_store(store), [functions] if isinstance(functions, str) else functions
    fraction = fraction if isinstance(fraction, Iterable) else [fraction]
    base = Experiment.from_dict(DEFAULTS | {"task": "n + m", "modulus": modulus} | settings)
    chosen = landscape_sweep(base, functions, fraction, seeds)
    return landscape_rows(chosen, Executor(place, engine_named(engine, address)).run(chosen))


def reproduce_paper(paper: str | None = None, **request: Any) -> "Outcome | list[StudyCost]":
    """Reproduces a paper: trains, measures, draws, and judges its claims. Keywords are the flags of `modgrok
    reproduce`. With `plan=True` nothing is trained; the rows say what each study would train, and about how long that
    takes."""
    from modgrok.reproduce.pipeline import Request, planned, reproduce

    asked = Request.from_dict(request if paper is None else request | {"paper": paper})
    return planned(asked) if asked.plan else reproduce(asked, say=lambda sentence: print(sentence, file=sys.stderr))


def _leave_out(names: Sequence[str], settings: Mapping[str, Any]) -> None:
    """Raises where a setting is given that the search itself varies."""
    for name in names:
        if name in settings:
            raise ModgrokError(f"{name} is varied here and cannot be set; leave it out.")


declare_settings(sweep, DEFAULTS)
declare_settings(critical, {**DEFAULTS, "evaluations": EVALUATIONS}, SEARCHED)
declare_settings(landscape, DEFAULTS, ("task", *SEEDS))
