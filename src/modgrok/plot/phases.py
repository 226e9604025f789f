"""The waves of all neurons: how their phases add up, and which frequencies they have."""

from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.analysis import Analysis
from modgrok.experiments.group_analysis import GroupAnalysis, on_group
from modgrok.palette import TEST
from modgrok.plot import style
from modgrok.plot.representations import representations
from modgrok.plot.style import Axes
from modgrok.plot.subject import Subject, measured, with_waves
from modgrok.shapes import Float

BINS = 60


def angle_histogram(
    angles: Float[np.ndarray, "neuron"], density: bool = False
) -> tuple[Float[np.ndarray, "bin"], Float[np.ndarray, "edge"]]:
    """How many angles (or which share of them per radian) lie in each of `BINS` parts of the circle; NaN in none."""
    known = angles[~np.isnan(angles)]
    heights, edges = np.histogram(known, BINS, (-np.pi, np.pi), density=density and len(known) > 0)
    return heights.astype(float), edges


def phases(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Histogram of φ1 + φ2 − φ3 over the neurons; 0 in the closed form."""
    analysis = with_waves(subject)
    heights, edges = angle_histogram(analysis.waves.residual)
    with style.axes(ax) as panel:
        circle(heights, edges, analysis.task.arity, ax=panel)
        panel.set_ylabel("neurons")
        panel.set_title("phases: 0 in the closed form")
    return panel


def circle(heights: Any, edges: Any, arity: int = 2, color: str = TEST, *, ax: "Axes | None" = None) -> "Axes":
    """A histogram of φ1 + φ2 − φ3 that was counted already."""
    with style.axes(ax) as panel:
        panel.stairs(heights, edges, fill=True, color=color)
        panel.set_xticks([-np.pi, -np.pi / 2, 0, np.pi / 2, np.pi], ["−π", "−π/2", "0", "π/2", "π"])
        panel.set_xlim(-np.pi, np.pi)
        names = [f"φ{'₁₂₃₄₅₆₇₈₉'[i]}" for i in range(arity + 1)]
        panel.set_xlabel(f"{' + '.join(names[:-1])} − {names[-1]}")
    return panel


def spectrum(subject: Subject, *, ax: "Axes | None" = None) -> "Axes":
    """Draws how many neurons have each frequency, or each representation on a group. For networks without such neurons,
    it draws the share of the input weights' power instead."""
    found = measured(subject)
    if isinstance(found, GroupAnalysis):
        return representations(found, ax=ax)
    with style.axes(ax) as panel:
        if isinstance(found, Analysis):
            frequencies(found.neurons_per_frequency[1:], ax=panel)
            panel.locator_params(axis="y", integer=True)
            panel.set_ylabel("neurons")
        elif found.spectrum is None:
            raise ModgrokError(f"The network {found.network.architecture.name} has no spectrum on {found.task.name}.")
        else:
            frequencies(found.spectrum[1:], ax=panel)
            panel.set_ylabel("share of the power of input weights")
            if on_group(found.task) and (basis := found.task.structure.basis) is not None:
                panel.set_xticks(range(1, len(basis.names)), basis.names[1:])
                panel.set_xlabel("representation, by dimension")
        panel.set_title("spectrum")
    return panel


def frequencies(heights: Any, color: str = TEST, width: int | float = 0.8, *, ax: "Axes | None" = None) -> "Axes":
    """Bars at the frequencies 1, 2, 3, …"""
    with style.axes(ax) as panel:
        panel.bar(range(1, len(heights) + 1), heights, color=color, width=width)
        panel.set_xlim(0, len(heights) + 1)
        panel.set_xlabel("frequency")
        panel.locator_params(axis="x", integer=True)
    return panel
