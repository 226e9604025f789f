"""More steps of an experiment whose run has ended: they go on from the state it ended in.

A run that keeps snapshots keeps its last state too. The same experiment with more steps is another run; it begins as a
copy of the shorter one, with a checkpoint where that ended, and ends with the weights that it would have had alone, bit
for bit. Its curves are those of the shorter run so far, measured at that run's steps. Where the learning rate falls
towards the last step (`lr_end`), a longer run is another one from its first step on, and nothing is taken over.
"""

from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, settings_hash
from modgrok.experiments.observer import Observer
from modgrok.experiments.run import Run
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.store import Store
from modgrok.text import count

LENGTH = ("steps", "until")
"""Settings that only determine the length of a run."""


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
