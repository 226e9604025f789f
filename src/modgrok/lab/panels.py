"""Which panels of the page have something to say of a run."""

from modgrok.experiments import Experiment
from modgrok.tasks import Task

ALWAYS = ("curves", "sweep")
WEIGHTS = ("weights", "plane", "circle", "whatif", "ipr", "theory")
"""Panels of the paper's network, two layers on a modular table."""


def panels(experiment: Experiment, task: Task) -> list[str]:
    """Curves of every run; tables of functions of two variables; weights, waves and phases of two-layer networks."""
    chosen = list(ALWAYS)
    if is_shown_whole(experiment, task):
        chosen += WEIGHTS
        if task.arity == 2:
            chosen += ["answers", "path"]
    return chosen


def is_shown_whole(experiment: Experiment, task: Task) -> bool:
    """Whether a run has frames: a two-layer network whose inputs and answers all run over the same numbers."""
    two_layers = getattr(experiment, "network", "two-layer") == "two-layer"
    return two_layers and task.table is not None and set(task.table.shape) == {task.modulus}
