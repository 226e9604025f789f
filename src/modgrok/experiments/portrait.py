"""A picture of a trained network: its curves, its input weights in order, its phases, its spectrum."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from modgrok.errors import ModgrokError
from modgrok.experiments.analysis import Analysis
from modgrok.experiments.files import translate_os_errors
from modgrok.measures import raw_coordinate
from modgrok.tasks.task import variable_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TRAIN, TEST = "#e69f00", "#0072b2"
BINS = 48
FORMATS = (".png", ".svg", ".pdf")


def ordered_weights(analysis: Analysis) -> Float[np.ndarray, "N input"]:
    r"""$W^{(1)}$ with its neurons by frequency, then φ1, its columns along the task's coordinate, each row in [−1, 1].

    Values that have no place in the coordinate (0 in a product) come first in their block.
    """
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


def draw(analysis: Analysis, history: Mapping[str, np.ndarray] | None, title: str) -> "Figure":
    """The picture; without a history (a network from a file) it has no curves."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.2), layout="constrained")
    figure.suptitle(title, fontsize=12)
    curves, weights, phases, spectrum = figure.subplots(2, 2).ravel()
    if history is None or len(history["step"]) == 0:
        curves.set_axis_off()
        curves.text(0.5, 0.5, "no curves: a network from a file", ha="center", va="center", color="grey")
    else:
        _draw_curves(curves, history)
    _draw_weights(weights, analysis)
    _draw_residuals(phases, analysis)
    _draw_spectrum(spectrum, analysis)
    return figure


def save(figure: "Figure", path: Path) -> None:
    """Writes a figure in the format of the file's suffix."""
    if path.suffix.lower() not in FORMATS:
        raise ModgrokError(f"A figure is a {', '.join(FORMATS[:-1])} or {FORMATS[-1]} file, and {path} is none.")
    with translate_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=150)


def _draw_curves(axes: "Axes", history: Mapping[str, np.ndarray]) -> None:
    step = np.maximum(history["step"], 1)
    axes.set(xscale="log", xlabel="step", ylabel="accuracy", ylim=(-0.02, 1.02), title="Learning")
    losses = axes.twinx()
    losses.set(yscale="log", ylabel="loss (dashed)")
    for name, colour in (("train", TRAIN), ("test", TEST)):
        axes.plot(step, history[f"{name}_accuracy"], color=colour, label=name)
        losses.plot(step, history[f"{name}_loss"], color=colour, linestyle="--", linewidth=1)
    axes.legend(loc="center left", frameon=False)


def _draw_weights(axes: "Axes", analysis: Analysis) -> None:
    rows, p = ordered_weights(analysis), analysis.task.modulus
    limits = (0.0, float(rows.shape[1]), float(len(rows)), 0.0)
    image = axes.imshow(rows, cmap="PuOr", vmin=-1, vmax=1, aspect="auto", interpolation="nearest", extent=limits)
    for s in range(1, analysis.task.arity):
        axes.axvline(s * p, color="black", linewidth=0.8)
    axes.set_xticks([(s + 0.5) * p for s in range(analysis.task.arity)], list(variable_names(analysis.task.arity)))
    axes.set(ylabel="neuron, by frequency", title="Input weights, along the task's coordinate")
    axes.figure.colorbar(image, ax=axes, label="relative to the row's largest")


def _draw_residuals(axes: "Axes", analysis: Analysis) -> None:
    residual = analysis.waves.residual
    axes.hist(residual[np.isfinite(residual)], bins=BINS, range=(-np.pi, np.pi), color=TEST)
    axes.set_xticks([-np.pi, -np.pi / 2, 0, np.pi / 2, np.pi], ["−π", "−π/2", "0", "π/2", "π"])
    sum_of_phases = " + ".join(f"φ{s + 1}" for s in range(analysis.task.arity))
    label = f"{sum_of_phases} − φ{analysis.task.arity + 1}"
    axes.set(xlabel=label, ylabel="neurons", title="Phases: 0 in the closed form")


def _draw_spectrum(axes: "Axes", analysis: Analysis) -> None:
    from matplotlib.ticker import MaxNLocator

    counts = analysis.neurons_per_frequency
    axes.bar(np.arange(1, len(counts)), counts[1:], color=TEST, width=0.8)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(xlabel="frequency", ylabel="neurons", title="Spectrum")
