"""The static and the traced part of an experiment: its program, and its rates."""

from dataclasses import replace
from typing import Any

import numpy as np

from modgrok.experiments.experiment import Experiment
from modgrok.tasks import Task
from modgrok.training.losses import LOSSES
from modgrok.training.optimizers import OPTIMIZERS, Rates
from modgrok.training.program import Program
from modgrok.training.recording import recorded_measures


def program_of(experiment: Experiment, task: Task, platform: str) -> Program:
    """The static part of a resolved experiment."""
    e, architecture = experiment, experiment.architecture
    assert e.loss is not None
    features = {
        "dropout": e.dropout > 0,
        "schedule": e.warmup > 0 or e.lr_end < 1,
        "groups": e.embedding_lr is not None or e.embedding_decay is not None,
        "decay_to_start": e.decay_to == "start",
        "hold_norm": e.hold_norm,
        "orthogonal": e.orthogonal,
        "update_noise": e.update_noise > 0,
        "weight_noise": e.weight_noise > 0,
        f"grokfast_{e.grokfast}": e.grokfast != "none",
    }
    program = Program(
        architecture,
        task.signature,
        e.loss,
        OPTIMIZERS[e.optimizer].scaling,
        frozenset(name for name, there in features.items() if there),
        e.batch_size,
        e.precision,
        e.loss_precision or ("float64" if e.precision == "float64" else "float32"),
        platform,
        recorded_measures(architecture, e.record),
        task.codes is not None,
        task.tolerance,
        task.rule if task.table is None and e.examples is None else None,
        tuple((one.name, getattr(e, one.name)) for one in LOSSES[e.loss].settings),
        e.grokfast_window or 0,
        e.code,
    )
    return replace(program, block_rows=program.counted_block(e.split.counts(task)[0]))


def rates_of(experiment: Experiment) -> Rates:
    """The numbers of a resolved experiment that may differ within a batch."""
    e = experiment
    assert isinstance(e.lr, float)
    decays = (0.0, e.weight_decay) if e.decoupled else (e.weight_decay, 0.0)
    rates: dict[str, Any] = {
        "lr": e.lr,
        "coupled_decay": decays[0],
        "decoupled_decay": decays[1],
        "dropout": e.dropout,
        "update_noise": e.update_noise,
        "weight_noise": e.weight_noise,
        "warmup": e.warmup,
        "lr_end": e.lr_end,
        "steps": e.steps,
        **{one.name: getattr(e, one.name) for one in OPTIMIZERS[e.optimizer].settings},
        **{name: getattr(e, name) for name in ("grokfast_lambda", "grokfast_alpha")},
        "lr_embedding": None if e.embedding_lr is None else e.embedding_lr / e.lr,
    }
    if e.embedding_decay is not None:
        # A decoupled decay is multiplied by the group's own rate afterwards.
        rates["decoupled_decay_embedding" if e.decoupled else "coupled_decay_embedding"] = e.embedding_decay
    dtype = "float64" if e.precision == "float64" else "float32"
    return {name: np.asarray(rate, dtype=dtype) for name, rate in rates.items() if rate is not None}
