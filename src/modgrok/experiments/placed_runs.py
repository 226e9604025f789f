"""Puts a planned batch on devices."""

from typing import Any

import numpy as np

from modgrok.experiments.planner import RunBatch
from modgrok.experiments.programs import rates_of
from modgrok.training.batch import LiveBatch, RunInputs, place, spread
from modgrok.training.data import run_data


def place_batch(batch: RunBatch, devices: tuple[Any, ...], sharing: int | None = None) -> LiveBatch:
    """The runs of a batch, ready to train; a single run may be shared by `sharing` devices."""
    program, used = spread(batch.program, len(batch.members), batch.padded_shape.rows, devices, sharing)
    runs = [
        RunInputs(
            run_data(program, member.task, member.examples, batch.padded_shape),
            rates_of(member.experiment),
            np.uint32(member.experiment.seed),
            np.asarray(member.experiment.init_scale, program.dtype),
        )
        for member in batch.members
    ]
    return place(program, runs, used)
