"""Which panels of the page have something to say of a run."""

import numpy as np

from modgrok.experiments import Experiment
from modgrok.experiments.group_analysis import on_group
from modgrok.lab.dissection import has_circuit
from modgrok.tasks import Task

ALWAYS = ("curves", "sweep")
WEIGHTS = ("weights", "plane", "circle", "whatif", "ipr", "theory")
"""Panels of the paper's network, two layers on a modular table."""


def panels(experiment: Experiment, task: Task) -> list[str]:
    """Curves of every run; tables of functions of two variables; weights, waves and phases of two-layer networks; the
    embedding of others, and of transformers the circuit; on groups representations and vectors."""
    chosen = list(ALWAYS)
    if has_table(task):
        chosen.append("answers")
    if has_embedding(experiment, task):
        chosen.append("embedding")
    if has_circuit(experiment.architecture, task):
        chosen.append("circuit")
    if has_vectors(experiment, task):
        chosen.append("representations")
    if has_waves(experiment, task):
        chosen += WEIGHTS
        if task.arity == 2:
            chosen += ["path", "network"]
    return chosen


def has_table(task: Task) -> bool:
    """Whether right and wrong can be drawn over two variables."""
    return task.arity == 2 and task.table is not None and task.vectors is None and task.codes is None


def has_embedding(experiment: Experiment, task: Task) -> bool:
    """Whether the network has weights for every number, and they are not drawn otherwise."""
    if not task.signature.sizes or task.signature.signs or has_waves(experiment, task) or has_vectors(experiment, task):
        return False
    shapes = experiment.architecture.shapes(task.signature)
    empty = {name: np.broadcast_to(0.0, shape) for name, shape in shapes.items()}
    return experiment.architecture.input_weights(empty, task.signature) is not None


def has_waves(experiment: Experiment, task: Task) -> bool:
    """Whether weights can be drawn along numbers: of a two-layer network whose inputs and answers all run over the same
    ones, unless they are the elements of a group that is not cyclic."""
    on_numbers = task.is_modular and task.codes is None and task.structure.product is None
    return experiment.architecture.has_waves and on_numbers


def has_vectors(experiment: Experiment, task: Task) -> bool:
    """Whether neurons have representations and vectors: of a two-layer network on a group that is not cyclic."""
    return experiment.architecture.has_waves and on_group(task)
