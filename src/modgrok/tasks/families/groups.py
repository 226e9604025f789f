r"""`group:NAME`: products in finite groups.

group:S5  A4  D4  Q8  Z6     symmetric, alternating, dihedral (order 2n), dicyclic (of that order), cyclic
group:Z2xZ3                  direct products
group:table.csv              any Cayley table; it must be one of a group
group:S5:conjugation         x y x⁻¹
group:S5:xyx                 x y x
group:S3,codes=30            every answer is a fixed vector of 30 normal numbers instead of a one-hot vector
"""

import re
from pathlib import Path

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.basis.group import Cayley, check_group, conjugation
from modgrok.tasks.basis.named_groups import cayley_table
from modgrok.tasks.families.family import Family
from modgrok.tasks.families.files import SUFFIXES, read_table
from modgrok.tasks.task import Task

CODES = ",codes="


def xyx(table: Cayley) -> Cayley:
    """x y x at [x, y]."""
    return table[table, np.arange(len(table))[:, None]]


OPERATIONS = {"product": lambda table: table, "conjugation": conjugation, "xyx": xyx}


def _read(text: str, _: int | None) -> Task:
    described, comma, codes = text.partition(CODES)
    if comma and not re.fullmatch("[1-9][0-9]{0,3}", codes):
        raise ModgrokError(f"Elements as vectors of 30 numbers are written group:S3{CODES}30, not {text!r}.")
    name, colon, operation = described.partition(":")[2].rpartition(":")
    if not colon:
        name, operation = operation, "product"
    if operation.lower() not in OPERATIONS:
        raise ModgrokError(f"The operations on a group are {', '.join(OPERATIONS)}, not {operation!r}.")
    if name.lower().endswith(SUFFIXES):
        table = Task.from_table(read_table(Path(name)), name).table
        try:
            check_group(table)
        except ModgrokError as error:
            raise ModgrokError(f"{name!r} is not the table of a group. {error}") from None
    else:
        table = cayley_table(name.strip())
    answers = OPERATIONS[operation.lower()](table)
    vectors = np.random.default_rng(0).standard_normal((len(table), int(codes))) if codes else None
    return Task(text, table.shape, len(table), answers, codes=vectors)


FAMILY = Family("group", "group:.*", _read, "group:S5, products in a group; group:S5:conjugation, group:S5:xyx")
