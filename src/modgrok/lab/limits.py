"""What one page may ask for, each bound with the sentence that states it."""

import math

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.named_task import TABLE, is_table_file

MODULUS = 400
WIDTH = 8192
STEPS = 1_000_000
KEPT = 400
"""Snapshots of one run."""
WEIGHTS = 4_000_000
ENTRIES = 8_000_000
"""Of a table, so that its structure is found while its function is typed."""
REQUEST_BYTES = 1 << 16
RUNS_LISTED = 500
FRAME_WEIGHTS = 1_500_000
"""Beyond this many weights a frame shows every second, third, … neuron."""
TABLE_PRODUCTS = 2e10
"""Multiplications that the table of one frame may take."""
CIRCUIT_FLOATS = 2e7
"""Neurons and logits over all pairs of a transformer that is taken apart."""
REPLAY_FRAMES = 40
CHANGES = 32
"""What-if changes applied to one network."""


def check_size(experiment: Experiment) -> None:
    """Refuses what would freeze the page, and files as tasks: the page reaches nothing outside its store."""
    e = experiment
    if is_table_file(e.task):
        raise ModgrokError(
            "The page takes expressions, names of the catalog, group:S5, parity:30,3, add:10 and random:SEED; "
            "`modgrok train` takes table files."
        )
    if is_table_file(e.train_on):
        raise ModgrokError(
            "The page trains on a share of all inputs; `modgrok train` reads files given with --train-on."
        )
    if e.task.startswith(TABLE):
        raise ModgrokError("Train a table with `modgrok train FILE`; its runs can be opened here.")
    width = getattr(e.architecture, "width", None)
    for name, value, most in (
        ("modulus", e.modulus or 1, MODULUS),
        ("width", width or 1, WIDTH),
        ("number of steps", e.steps or 1, STEPS),
    ):
        if value > most:
            raise ModgrokError(
                f"On this page the {name} must be at most {most}, not {value}; `modgrok train` has no such limit."
            )
    if e.snapshots > KEPT or e.evaluations > 10 * KEPT:
        raise ModgrokError(f"On this page a run may have at most {KEPT} snapshots and {10 * KEPT} evaluations.")
    task = e.load_task()
    entries = math.prod(task.sizes) if task.table is not None else 0
    if entries > ENTRIES:
        raise ModgrokError(
            f"On this page a table must have at most {ENTRIES:,} entries, not {entries:,}; `modgrok train` has no such "
            f"limit."
        )
    weights = e.architecture.cost(task.signature).parameters
    if weights > WEIGHTS:
        raise ModgrokError(f"On this page a network must have at most {WEIGHTS:,} weights, not {weights:,}.")
