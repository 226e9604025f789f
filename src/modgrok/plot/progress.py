"""Progress measures: losses without all but the key frequencies, and without those."""

from typing import Any

from modgrok.experiments import Run
from modgrok.experiments.analysis import progress_of, subject_of
from modgrok.measures.progress_measures import excluded_alone, network_progress
from modgrok.networks import Network
from modgrok.palette import GRAY, GREEN, PURPLE, TEST, TRAIN
from modgrok.plot import style
from modgrok.plot.phases import frequencies
from modgrok.plot.style import Axes
from modgrok.tasks import Task
from modgrok.text import count

LINES = {"train": TRAIN, "test": TEST, "restricted": GREEN, "excluded": PURPLE}


def progress(subject: Run | Network, task: Task | str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draws the restricted and the excluded loss of a run with snapshots beside its own loss, over the steps; for a
    network on a task, the loss without each single frequency."""
    return _on_the_way(subject, ax) if isinstance(subject, Run) and task is None else _of_network(subject, task, ax)


def _on_the_way(run: Run, ax: "Axes | None") -> "Axes":
    found = progress_of(run)
    with style.axes(ax) as panel:
        for name, color in LINES.items():
            panel.plot(found["step"], found[f"{name}_loss"], label=name, color=color)
        panel.set_xscale("symlog", linthresh=10)
        panel.xaxis.set_major_formatter(lambda step, _: count(round(step)))
        panel.set(yscale="log", xlabel="step", ylabel=_words(run.experiment.loss))
        panel.set_title(f"progress, {len(found['frequencies'])} of the frequencies are key")
        panel.legend()
    return panel


def _of_network(subject: Any, task: Any, ax: "Axes | None") -> "Axes":
    network, found = subject_of(subject, task)
    loss = network.architecture.loss
    losses = network_progress(network, found.table, loss=loss)
    with style.axes(ax) as panel:
        frequencies(excluded_alone(network, found.table, loss=loss), PURPLE, ax=panel)
        panel.axhline(losses["loss"], color=GRAY, linewidth=0.9, label="all frequencies")
        panel.axhline(losses["restricted_loss"], color=GREEN, linewidth=0.9, label="key frequencies alone")
        panel.set_ylabel(_words(loss))
        panel.set_title("loss without each frequency")
        panel.legend()
    return panel


def _words(loss: str | None) -> str:
    return "mean squared error" if loss == "mse" else "cross-entropy"
