"""The runs of a store as the page sees them: lists, curves, frames, theory, measures. Nothing here imports JAX."""

import math
import shlex
from collections import OrderedDict
from collections.abc import Callable, Collection
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from modgrok.closed_form import available, solve
from modgrok.errors import ModgrokError, Unknown
from modgrok.experiments import Experiment, Run, Store
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.group_analysis import on_group
from modgrok.experiments.named_task import TABLE
from modgrok.experiments.store import RUN_NAME
from modgrok.experiments.stored_json import finite
from modgrok.lab import dissection
from modgrok.lab.assets import base64_of
from modgrok.lab.form import describe, natural_rate
from modgrok.lab.frames import frame
from modgrok.lab.limits import RUNS_LISTED
from modgrok.lab.panels import has_waves, panels
from modgrok.lab.what_if import change, closed_form
from modgrok.measures import average_ipr, distance_to_closed_form, distance_to_table
from modgrok.measures.cosets import coset_order
from modgrok.networks import Network
from modgrok.tasks import Task
from modgrok.tasks.basis import Basis
from modgrok.tasks.basis.named_groups import group_name

CACHE_BYTES = 200 << 20
OUTCOME = ("status", "steps", "grokked_at", "test_accuracy")
UNREADABLE = (ModgrokError, ArithmeticError, LookupError, OSError, RecursionError, TypeError, ValueError)
"""What reading a damaged run may raise."""
FRAMED = {"answers", "weights", "embedding", "representations"}
"""Panels that draw frames."""
SUMMARY = ("task", "modulus", "network", "optimizer", "parent")


class Library:
    """Reads a store, and remembers what was costly to compute."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._frames: OrderedDict[Any, bytes] = OrderedDict()
        self._size = 0
        self._measures: dict[Any, dict[str, Any]] = {}
        self._lock = Lock()

    def find(self, name: str) -> Run:
        """The run of that full name; a name that is no run's reaches no file."""
        run = Run(self.store.folder / name)
        if not RUN_NAME.fullmatch(name) or not (run.folder / "experiment.json").exists():
            raise ModgrokError(f"There is no run {name[:40]!r} in this store.")
        return run

    def runs(self) -> dict[str, Any]:
        """The latest runs, with the settings in which any two of them differ, and how many there are in all."""
        found = list(self.store)
        rows = [self._summary(run) for run in found[:RUNS_LISTED]]
        settings = [row["settings"] for row in rows if "settings" in row]
        for name in {name for chosen in settings for name in chosen}:
            if len({str(chosen.get(name)) for chosen in settings}) == 1:
                for chosen in settings:
                    del chosen[name]
        return {"total": len(found), "runs": rows}

    def _summary(self, run: Run) -> dict[str, Any]:
        try:
            experiment, result = run.experiment, run.result
            chosen = {name: getattr(experiment, name) for name in SUMMARY}
            chosen["settings"] = experiment.as_dict()
            outcome = {name: None if result is None else result[name] for name in OUTCOME}
        except UNREADABLE as error:
            status = "unknown" if isinstance(error, Unknown) else "damaged"
            return {"run": run.id, "status": status, "reason": str(error) or type(error).__name__}
        return {"run": run.id, **chosen, **outcome, "status": outcome["status"] or "unfinished"}

    def details(self, run: Run, experiment: Experiment | None = None) -> dict[str, Any]:
        """Settings, curves, stored steps and the task's table; of a run without a folder yet, from its experiment."""
        experiment = experiment or run.experiment
        task = experiment.load_task(self.store.tables)
        shown = panels(experiment, task)
        coordinate = task.structure.coordinate if FRAMED & set(shown) else None
        return {
            "run": run.id,
            "status": run.status,
            "settings": experiment.as_dict(),
            "result": run.result and run.result.as_dict(),
            "rows": run.rows(),
            "snapshots": frame_steps(run) if FRAMED & set(shown) else [],
            "command": command(experiment),
            "panels": shown,
            "parent": self._parent(experiment),
            "auto": {"lr": natural_rate(experiment)},
            "keys": _keys(run) if "circuit" in shown and run.status != "unfinished" and frame_steps(run) else None,
            "task": {
                "name": task.name,
                **describe(task),
                "closed_form_ipr": _closed_form_ipr(task, experiment.architecture) if "weights" in shown else None,
                "cosets": _cosets(task) if "answers" in shown and on_group(task) else None,
                "length": None if coordinate is None else coordinate.length,
                "index": None if coordinate is None else [index.tolist() for index in coordinate.index],
                "readout": None if coordinate is None else coordinate.readout.tolist(),
                "table": base64_of(task.table.astype("<i2").tobytes()) if "answers" in shown else None,
                "trained": base64_of(_trained(experiment, task).tobytes()) if "answers" in shown else None,
            },
        }

    def _parent(self, experiment: Experiment) -> dict[str, Any] | None:
        """Where a fork began: the parent's run and step, and its curves up to there while the store has them; None for
        weights that were given."""
        name, fork, place = experiment.parent.partition("@")
        if not fork:
            return None
        step = int(place.partition(":")[0])
        try:
            rows = [row for row in self.find(name).rows() if row["step"] <= step]
        except UNREADABLE:
            rows = []
        return {"run": name, "step": step, "rows": rows}

    def frame(self, run: Run, step: int, coordinate: str, changes: list[str]) -> bytes:
        """The frame of a stored step, after what-if changes if there are any."""

        def make() -> bytes:
            task, chosen = run.task, _chosen(run, coordinate)
            train, _ = run.experiment.split.divide(task)
            network = change(network_at(run, step), task, chosen, changes)
            return frame(network, task, train, chosen, {"step": step, "changes": changes, "coordinate": coordinate})

        return self._remember((run.id, step, coordinate, *changes), make)

    def theory(self, run: Run, form: str, coordinate: str) -> bytes:
        """The frame of the closed form beside a run."""

        def make() -> bytes:
            task, chosen = run.task, _chosen(run, coordinate)
            train, _ = run.experiment.split.divide(task)
            network = closed_form(task, form, network_at(run, frame_steps(run)[-1]))
            return frame(
                network, task, train, chosen, {"step": None, "changes": [], "coordinate": coordinate, "form": form}
            )

        if not has_waves(run.experiment, run.task) or form not in available(run.task.structure, run.task.arity):
            raise ModgrokError(f"{run.task.name} has no closed form {form[:20]!r} beside this network.")
        return self._remember((run.id, "theory", form, coordinate), make)

    def measures(self, run: Run, step: int) -> dict[str, Any]:
        """Of a stored step how far it is from its nearest closed form, in weights, and from the table, in outputs; of a
        transformer its progress measures."""
        key = run.id, step, *frame_steps(run)[-1:]
        if key not in self._measures:
            network, task, experiment = network_at(run, step), run.task, run.experiment
            if dissection.has_circuit(experiment.architecture, task):
                train, _ = experiment.split.divide(task)
                loss = experiment.resolve().loss or "mse"
                numbers = dissection.progress(network, task, train, _keys(run), loss)
            else:
                weights = distance_to_closed_form(network, task.structure.coordinate)
                numbers = {"w_in": weights.w_in, "w_out": weights.w_out, "both": weights.both}
                numbers |= {"outputs": distance_to_table(network, task.table)}
            self._measures[key] = {
                name: None if isinstance(x, float) and not math.isfinite(x) else x for name, x in numbers.items()
            }
        return self._measures[key]

    def _remember(self, key: Any, make: Callable[[], bytes]) -> bytes:
        with self._lock:
            if key in self._frames:
                self._frames.move_to_end(key)
                return self._frames[key]
        made = make()
        with self._lock:
            if key not in self._frames:
                self._frames[key] = made
                self._size += len(made)
            while self._size > CACHE_BYTES and len(self._frames) > 1:
                self._size -= len(self._frames.popitem(last=False)[1])
        return made


def _keys(run: Run) -> tuple[int, ...]:
    """The key frequencies of a transformer, at the last of its steps that can be shown."""
    return dissection.keys_of(network_at(run, frame_steps(run)[-1]), run.task)


@lru_cache(maxsize=64)
def _cosets(task: Task) -> dict[str, Any] | None:
    """Values of both variables in the order of the cosets of a subgroup, and the answers in that of the first."""
    basis = task.structure.basis
    assert basis is not None
    assert basis.product is not None
    if (found := coset_order(basis.product)) is None:
        return None
    rows, columns = (np.argsort(index)[order] for index, order in zip(basis.index, found.orders, strict=True))
    return {
        "rows": rows.tolist(),
        "columns": columns.tolist(),
        "answers": basis.readout[found.orders[0]].tolist(),
        "size": len(found.subgroup),
        "subgroup": group_name(found.subgroup),
    }


def frame_steps(run: Run) -> list[int]:
    """The steps whose weights can be shown: the snapshots, or the end alone where none were kept."""
    steps = run.snapshots
    result = run.result
    if result is not None and result["steps"] not in steps and (run.folder / "network.safetensors").exists():
        steps.append(result["steps"])
    return steps


def network_at(run: Run, step: int) -> Network:
    """The weights of a step that can be shown."""
    result = run.result
    if result is not None and step == result["steps"] and step not in run.snapshots:
        return run.network
    return run.snapshot(step)


def command(experiment: Experiment) -> str:
    """The shortest command line that trains exactly this experiment."""
    experiment = experiment.resolve()
    given: dict[str, Any] = {"task": experiment.task, "modulus": experiment.modulus}
    if experiment.network != Experiment.network:  # Not every network can read every task.
        given["network"] = experiment.network
    if experiment.task.startswith(TABLE):  # Only its store can load it, so nothing is left open.
        given |= {"lr": experiment.lr, "steps": experiment.steps}
    while missing := _first_difference(Experiment(**given), experiment, given):
        given[missing] = getattr(experiment, missing)
    words = ["modgrok", "train", given.pop("task")]
    for name, value in given.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", *_words(name, value)]
    return shlex.join(words)


def _words(name: str, value: Any) -> list[str]:
    """A value as it follows its flag; a flag that is off unless it is given stands alone."""
    if value is True and known_settings()[name].switch:
        return []
    return [str(part) for part in value] if isinstance(value, tuple) else [str(value)]


def _first_difference(found: Experiment, wanted: Experiment, given: Collection[str]) -> str | None:
    """The first setting, of those not given, in which a resolved experiment is not the wanted one."""
    resolved = found.resolve()
    names = (name for name in known_settings() if name not in given)
    return next((name for name in names if getattr(resolved, name) != getattr(wanted, name)), None)


@lru_cache(maxsize=64)
def _closed_form_ipr(task: Task, architecture: Any) -> dict[str, float | None] | None:
    """The mean ratio of a closed form with random phases, in both coordinates."""
    if task.structure.coordinate is None:
        return None
    w_in = solve(task, "waves", width=max(architecture.width, 2 * task.arity)).w_in
    ratios = {"ipr": average_ipr(w_in).mean, "task_ipr": average_ipr(w_in, task.structure.coordinate).mean}
    return {name: finite(x) for name, x in ratios.items()}


def _trained(experiment: Experiment, task: Task) -> np.ndarray:
    train, _ = experiment.split.divide(task)
    return np.isin(np.arange(task.table.size), train).astype(np.uint8)


def _chosen(run: Run, coordinate: str) -> Basis | None:
    return run.task.structure.coordinate if coordinate == "task" else None
