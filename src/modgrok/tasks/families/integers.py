"""`add:10`: plain sums of integers, without a modulus (Liu et al. 2022)."""

import re

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task, check_entries


def addition(count: int, arity: int = 2, codes: int | None = None) -> Task:
    """n + m for n, m = 0 … count − 1, with 2·count − 1 answers; of S variables S·(count − 1) + 1. With `codes` every
    answer stands for a fixed vector of that many normal numbers instead of a one-hot vector."""
    sizes = (count,) * arity
    check_entries(sizes)
    table = sum(np.ogrid[tuple(slice(size) for size in sizes)], start=np.zeros((1,) * arity, dtype=np.int64))
    name = f"add:{count}" if arity == 2 else f"add:{count},{arity}"
    answers = arity * (count - 1) + 1
    if codes is None:
        return Task(name, sizes, answers, table)
    vectors = np.random.default_rng(0).standard_normal((answers, codes))
    return Task(f"{name},codes={codes}", sizes, answers, table, codes=vectors)


def _read(text: str, _: int | None) -> Task:
    pattern = "add:([0-9]{1,9})(?:,([0-9]{1,2}))?(?:,codes=([1-9][0-9]{0,3}))?"
    match = re.fullmatch(pattern, "".join(text.split()), re.IGNORECASE)
    if match is None or int(match[1]) < 2 or int(match[2] or 2) < 1:
        raise ModgrokError(f"Plain addition of the integers 0 … 9 is written add:10, not {text!r}.")
    return addition(int(match[1]), int(match[2] or 2), int(match[3]) if match[3] else None)


FAMILY = Family(
    "add", "add:.*", _read, "add:10, plain sums of 0 … 9; add:10:unordered, each pair once; add:10,codes=30"
)
