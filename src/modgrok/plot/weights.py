"""The input weights of a network in an order in which their waves can be seen."""

from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.analysis import Analysis
from modgrok.experiments.group_analysis import GroupAnalysis
from modgrok.measures import power_spectrum, raw_coordinate
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.plot.subject import Subject, measured
from modgrok.shapes import Float
from modgrok.tasks.task import variable_names


def ordered_weights(subject: Subject) -> Float[np.ndarray, "N input"]:
    r"""Input weights with their neurons by frequency, then φ1, their columns along the task's coordinate, each row in
    [−1, 1].

    Values that have no place in the coordinate (0 in a product) come first in their block.
    """
    found = measured(subject)
    if isinstance(found, GroupAnalysis) or (not isinstance(found, Analysis) and found.weights is None):
        kind, name = found.network.architecture.name, found.task.name
        raise ModgrokError(f"This picture shows weights along numbers modulo p, but {kind} on {name} has none.")
    coordinate = found.coordinate or raw_coordinate(found.task.arity, found.task.modulus)
    read: Any
    if isinstance(found, Analysis):
        read, order = found.network.w_in.real, (found.waves.phases[:, 0], found.waves.frequency)
    else:
        read = found.weights
        power = power_spectrum(read, coordinate).sum(axis=1)[:, 1 : coordinate.length // 2 + 1]
        order = (-power.max(axis=1), power.argmax(axis=1))
    neurons = np.lexsort(order)
    blocks = [read[neurons, s][:, np.argsort(index, kind="stable")] for s, index in enumerate(coordinate.index)]
    rows = np.concatenate(blocks, axis=1).astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return rows / np.where(largest > 0, largest, 1.0)


def weights(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Draws the sorted weights as a map: waves appear as stripes that grow finer downward."""
    found = measured(subject)
    rows, arity = ordered_weights(found), found.task.arity
    width = rows.shape[1] / arity
    with style.axes(ax) as panel:
        extent = (0.0, float(rows.shape[1]), float(len(rows)), 0.0)
        image = panel.imshow(rows, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", extent=extent)
        for s in range(1, arity):
            panel.axvline(s * width, color="black", linewidth=0.8)
        panel.set_xticks([(s + 0.5) * width for s in range(arity)], list(variable_names(arity)))
        panel.set_xlabel("value, along the task's coordinate")
        panel.set_ylabel("neuron, by frequency")
        panel.set_title("input weights")
        panel.figure.colorbar(image, ax=panel, label="relative to the row's largest")
    return panel
