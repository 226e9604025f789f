"""Pictures over the table of a function of two variables: which inputs are answered rightly, and any other map."""

from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments import Run
from modgrok.experiments.analysis import subject_of
from modgrok.networks import Network, predictions
from modgrok.palette import EMPTY, PURPLE, TEST, TRAIN
from modgrok.plot import style
from modgrok.plot.phases import frequencies
from modgrok.plot.style import Axes
from modgrok.shapes import Float, Integer
from modgrok.tasks import Task

STATES = {"train, right": TRAIN, "train, wrong": "#f9e4b7", "test, right": TEST, "test, wrong": "#c4dcec"}
"""What may be said of an input, and its color: pale where the answer is wrong."""


def answer_states(
    network: Network, task: Task, train: Integer[np.ndarray, "train"] | None = None
) -> Integer[np.ndarray, "n m"]:
    """For every input its place in `STATES`, −1 where there is none; without a training set all inputs are test."""
    if task.arity != 2 or task.table is None:
        raise ModgrokError(f"The table of answers needs a task of two variables; {task.name!r} has {task.arity}.")
    states = np.where(predictions(network) == task.table, 2, 3)
    if train is not None:
        states.reshape(-1)[train] -= 2
    return np.where(task.table < 0, -1, states)


def answers(subject: Run | Network, task: Task | str | None = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draws which inputs a network answers right, with training inputs marked: a run's, or a network's on a task."""
    network, found = subject_of(subject, task)
    train = None if network is subject else subject.experiment.split.divide(found)[0]
    states = answer_states(network, found, train)
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    with style.axes(ax, 4.8, 3.6) as panel:
        colors = ListedColormap([EMPTY, *STATES.values()])
        over_inputs(states, ax=panel, cmap=colors, vmin=-1.5, vmax=len(STATES) - 0.5)
        panel.set_ylabel("$n$")
        present = [(name, color) for i, (name, color) in enumerate(STATES.items()) if (states == i).any()]
        present += [("no such input", EMPTY)] if (states < 0).any() else []
        patches = [Patch(color=color, label=name) for name, color in present]
        panel.legend(handles=patches, loc="center left", bbox_to_anchor=(1.0, 0.5))
        panel.set_title("answers")
    return panel


def over_inputs(values: Any, *, ax: "Axes | None" = None, **image: Any) -> "Axes":
    """A map over (n, m) with both axes from 0 up, framed."""
    with style.axes(ax, 3.4, 3.2) as panel:
        panel.imshow(values, **{"origin": "lower"} | image)
        panel.spines[["top", "right"]].set_visible(True)
        panel.set_xlabel("$m$", labelpad=1)
    return panel


def signed(values: Any) -> dict[str, Any]:
    """Colors of a map whose values have a sign: white is 0."""
    largest = float(np.abs(values).max())
    return {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest}


def few_digits(values: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    """A map for the eye: in steps of a hundredth of its largest value, zeros where it is rounding error."""
    largest = float(abs(values).max())
    return values if largest == 0 else np.round(values / largest, 2) * largest + 0.0


def maps_and_spectrum(panels: Any, maps: dict[str, Any], spectrum: Any) -> None:
    """A row of maps over all inputs, and in the last panel the shares of the frequencies 1, 2, 3, …"""
    for panel, (name, values) in zip(panels, maps.items(), strict=False):
        if not np.any(values):
            over_inputs(values, ax=panel, cmap="Greys", vmin=0, vmax=1)
            panel.text(0.5, 0.5, "exactly 0", transform=panel.transAxes, ha="center", va="center")
        else:
            over_inputs(values, ax=panel, **signed(values))
            style.color_bar(panel)
        panel.set_title(name, loc="center", pad=5)
        panel.tick_params(labelleft=panel is panels[0])
    last = panels[-1]
    frequencies(spectrum, PURPLE, width=1, ax=last)
    last.set_box_aspect(1)
    last.set_title("spectrum of $W^{(1)}$", loc="center", pad=5)
    last.set_ylabel("share of power")
    last.yaxis.set_label_position("right")
    last.yaxis.tick_right()
    last.spines["left"].set_visible(False)
    last.spines["right"].set_visible(True)
