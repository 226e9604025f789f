"""The input weights of a network in an order in which their waves can be seen."""

from typing import TYPE_CHECKING

import numpy as np

from modgrok.plot import style
from modgrok.plot.subject import Subject, analyzed
from modgrok.shapes import Float

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ordered_weights(subject: Subject) -> Float[np.ndarray, "N input"]:
    r"""$W^{(1)}$ with its neurons by frequency, then φ1, its columns along the task's coordinate, each row in [−1, 1].

    Values that have no place in the coordinate (0 in a product) come first in their block.
    """
    from modgrok.measures import raw_coordinate

    analysis = analyzed(subject)
    coordinate = analysis.coordinate or raw_coordinate(analysis.task.arity, analysis.task.modulus)
    waves = analysis.waves
    neurons = np.lexsort((waves.phases[:, 0], waves.frequency))
    blocks = [
        analysis.network.w_in.real[neurons, s][:, np.argsort(index, kind="stable")]
        for s, index in enumerate(coordinate.index)
    ]
    rows = np.concatenate(blocks, axis=1).astype(np.float64)
    largest = np.abs(rows).max(axis=1, keepdims=True)
    return rows / np.where(largest > 0, largest, 1.0)


def weights(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """The ordered weights as a map: waves show as stripes that grow finer downwards."""
    from modgrok.tasks.task import variable_names

    analysis = analyzed(subject)
    rows, arity = ordered_weights(analysis), analysis.task.arity
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
