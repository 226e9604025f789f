"""`random:SEED`: tables of independent uniform answers, which nothing but memory can learn."""

import re

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task, table_shape


def random_task(seed: int, modulus: int, arity: int = 2) -> Task:
    """Independent uniform answers modulo p from the raw stream of PCG64([seed, p, S])."""
    shape = table_shape(modulus, arity)
    answers = np.random.PCG64([seed, modulus, arity]).random_raw(modulus**arity) % np.uint64(modulus)
    return Task(f"random:{seed}", shape, modulus, answers.astype(np.int64).reshape(shape))


def _read(text: str, modulus: int | None) -> Task:
    match = re.fullmatch("random:([0-9]{1,18})", text, re.IGNORECASE)
    if match is None or modulus is None:
        raise ModgrokError(f"A random table is written random:SEED, such as random:3, not {text!r}.")
    return random_task(int(match[1]), modulus)


FAMILY = Family("random", "random:.*", _read, "random:SEED, a table of random answers", reads_modulus=True)
