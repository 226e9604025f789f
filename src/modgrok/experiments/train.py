"""Training in one call, for the library: an experiment from its settings, trained into a store.

Stored runs are not trained again, and one process at a time trains a run. More steps of an experiment whose run has
ended go on from the state it ended in: a run that keeps snapshots keeps its last state too. The same experiment with
more steps is another run; it begins as a copy of the shorter one, with a checkpoint where that ended, and ends with the
weights that it would have had alone, bit for bit. Its curves are those of the shorter run so far, measured at that
run's steps. Where the learning rate falls toward the last step (`lr_end`), a longer run is another one from its first
step on, and nothing is taken over.
"""

import contextlib
import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from modgrok.errors import Damaged, ModgrokError
from modgrok.experiments.experiment import Experiment, settings_hash
from modgrok.experiments.given_settings import declare_settings, describe_source, described_settings, starting_settings
from modgrok.experiments.observer import Observer
from modgrok.experiments.planner import PlannedRun, RunBatch, plan_here
from modgrok.experiments.progress import progress_display
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.store import Store, as_store, start_afresh
from modgrok.networks import Network
from modgrok.sealed import exists
from modgrok.text import count
from modgrok.training.devices import precision_of, use_all_cores
from modgrok.training.recording import forgotten_if_failing

LENGTH = ("steps", "until")
"""Settings that only determine the length of a run."""


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
    """Trains one network and returns its run. A stored run returns at once, unless `force` is set.

    `task` is anything that `modgrok.task` takes, or a .toml or .json file with all settings. The default store is
    `$MODGROK_STORE`, or `runs/` here. `start` gives the initial weights and the network's settings: a trained network,
    a closed form, one from another program, or a file of one. `train_on` selects the training inputs: a mask of the
    table's shape, indices into the raveled table, rows (n, m), a file with one of these, or a `Split`. `record` lists
    measures by name, or functions of the network and its `modgrok.training.recording.Data`. The same call with more
    `steps` resumes where the shorter run ended. Terminals and notebooks show progress, unless an `observer` is given.
    Ctrl-C stores everything and raises `Interrupted`; call again to resume.
    """
    place = as_store(store)
    with forgotten_if_failing():
        given = described_settings(describe_source(task, modulus, place) | settings, train_on, place)
        if start is not None:
            given = starting_settings(start, given, place)
        return train_all([Experiment.from_dict(given)], place, observer, force=force)[0]


declare_settings(train)


def train_all(
    experiments: Sequence[Experiment],
    store: Store | str | Path | None = None,
    observer: Observer | None = None,
    *,
    force: bool = False,
) -> list[Run]:
    """Trains many networks, batching those of equal shape, and returns their runs in order."""
    if observer is not None and not isinstance(observer, Observer):
        raise ModgrokError(f"observer must be a modgrok.Observer whose methods hear of training, not {observer!r}.")
    use_all_cores()
    if observer is not None or threading.current_thread() is not threading.main_thread():
        return train_stored(experiments, as_store(store), observer, force=force)
    with progress_display() as display:
        return train_stored(experiments, as_store(store), display, force=force)


def train_stored(
    experiments: Sequence[Experiment],
    store: Store,
    observer: Observer | None = None,
    devices: Sequence[Any] | None = None,
    force: bool = False,
) -> list[Run]:
    """Trains what the store does not have yet, or everything with `force`, and returns all runs in the given order."""
    observer = observer or Observer()
    resolved = [store.register(experiment) for experiment in experiments]
    wanted = {e.content_hash: e for e in resolved}
    start_afresh([e for e in wanted.values() if force or e.has_unknown_code], store, observer)
    for name in wanted:
        store.repair(store.run(name), observer)
    if pending := [e for name, e in wanted.items() if store.run(name).result is None]:
        train_batches(plan_here(pending, store, devices), store, observer, devices)
    return [store.run(e.content_hash) for e in resolved]


def train_batches(
    batches: Iterable[RunBatch], store: Store, observer: Observer, devices: Sequence[Any] | None = None
) -> None:
    """Trains batches on the devices of this process, each spread over all of them."""
    import jax

    used = tuple(devices or jax.local_devices())
    waiting = [current for batch in batches for current in remaining(batch, store, observer)]
    observer.planned(waiting)
    while waiting:
        batch = waiting.pop(0)
        if not _train_locked(batch, store, observer, used):
            waiting = [*remaining(batch, store, observer), *waiting]


def remaining(batch: RunBatch, store: Store, observer: Observer) -> list[RunBatch]:
    """The unfinished runs of a batch, grouped by the step of their checkpoints. Damaged files are moved aside, and new
    runs continue from shorter runs of the same experiment."""
    for member in batch.members:
        store.repair(store.run(member.id), observer)
    _extend(batch.members, store, observer)
    standing: dict[int, list[PlannedRun]] = {}
    for member in batch.members:
        run = store.run(member.id)
        if run.result is None:
            standing.setdefault(step_of(run), []).append(member)
    return [
        replace(batch, members=tuple(replace(member, step=step) for member in members))
        for step, members in standing.items()
    ]


def step_of(run: Run) -> int:
    """Step of a run's checkpoint; 0 without one."""
    checkpoint = run.read_checkpoint()
    return checkpoint[0] if checkpoint else 0


def _extend(members: Iterable[PlannedRun], store: Store, observer: Observer) -> None:
    fresh = [m for m in members if m.experiment.snapshots > 0 and not _begun(store.run(m.id))]
    shorter = extended_runs(store) if fresh else {}
    for member in fresh if shorter else ():
        run = store.run(member.id)
        with store.lock(run, observer):
            try:
                if not _begun(run):
                    extend(run, member.experiment, shorter, observer)
            except Damaged as damage:
                observer.remark(f"{damage} Nothing is taken over from there.")


def _begun(run: Run) -> bool:
    return exists(run.folder / "experiment.json")


def _train_locked(batch: RunBatch, store: Store, observer: Observer, devices: tuple[Any, ...]) -> bool:
    """Trains a batch while holding the locks of its runs, acquired in the order of their ids so that processes cannot
    deadlock. Returns False, without training, if another process has advanced a run meanwhile."""
    from modgrok.experiments.batch_training import BatchTraining

    with contextlib.ExitStack() as locks:
        runs = [store.run(name) for name in sorted(member.id for member in batch.members)]
        for run in runs:
            locks.enter_context(store.lock(run, observer))
        if any(run.result is not None or step_of(run) != batch.step for run in runs):
            return False
        with precision_of(batch.program):
            BatchTraining(batch, store, observer, devices).run()
        return True


def extended_runs(store: Store) -> dict[str, list[Run]]:
    """Runs of a store that longer runs can continue, by their settings other than length."""
    found: dict[str, list[Run]] = {}
    for run in store:
        if run.keeps_state:
            try:
                found.setdefault(_without_length(run.settings["experiment"]), []).append(run)
            except ModgrokError:  # It is damaged, and whoever trains it says so.
                continue
    return found


def extend(run: Run, experiment: Experiment, shorter: dict[str, list[Run]], observer: Observer) -> None:
    """Starts a run as a copy of the longest shorter run of the same experiment. The caller holds the run's lock."""
    usable = [one for one in shorter.get(_without_length(experiment.as_dict()), ()) if _can_go_on(one, experiment)]
    if experiment.lr_end < 1 or experiment.has_unknown_code or not usable:
        return
    longest = max(usable, key=lambda one: one.result.steps)  # type: ignore[union-attr]
    step, state = longest.read_state()
    rows, snapshots = longest.rows(), {at: longest.snapshot(at) for at in longest.snapshots}
    writer = RunWriter(run)
    writer.begin(experiment, longest.settings["environment"] | {"continues": f"{longest.id}@{step}"})
    writer.append(rows)
    for at, network in snapshots.items():
        writer.keep(at, network)
    writer.checkpoint(step, state)
    observer.remark(
        f"Run {longest.id} is the same experiment with fewer steps; this one goes on where it ended, at step "
        f"{count(step)}, with its curves."
    )


def _can_go_on(shorter: Run, experiment: Experiment) -> bool:
    """Whether a longer experiment passes through the final state of a shorter run."""
    result = shorter.result
    assert experiment.steps is not None
    return (
        result is not None
        and result.status == "finished"
        and result.steps < experiment.steps
        and experiment.until in (None, shorter.experiment.until)
    )


def _without_length(settings: dict[str, Any]) -> str:
    return settings_hash({name: value for name, value in settings.items() if name not in LENGTH})
