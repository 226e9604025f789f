r"""`parity:n,k`: the parity of k of n bits (Barak et al. 2022, Merrill et al. 2023).

Token 1 stands for the bit −1, so that the answer, the sum of k tokens modulo 2, stands for the product of k signs.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task

MOST_BITS = 10_000
CODES = np.array([[1.0], [-1.0]])
"""One output, whose sign is the product of the signs."""
TABLE_BITS = 16
"""Up to this many bits there is a table."""


@dataclass(frozen=True)
class Parity:
    r"""$\sum_{i \in \mathrm{bits}} x_i$ modulo 2."""

    bits: tuple[int, ...]

    def __call__(self, inputs: Any) -> Any:
        return inputs[..., np.array(self.bits)].sum(axis=-1) % 2


def parity(n: int, k: int, seed: int | None = None) -> Task:
    """The parity of the first k of n bits, or of k that a seed chooses."""
    if not 1 <= k <= n <= MOST_BITS:
        raise ModgrokError(f"A parity of k among n bits needs 1 ≤ k ≤ n ≤ {MOST_BITS:,}, not n = {n} and k = {k}.")
    bits = (
        range(k) if seed is None else np.sort(np.argsort(np.random.PCG64([seed, n]).random_raw(n), kind="stable")[:k])
    )
    rule = Parity(tuple(int(i) for i in bits))
    name = f"parity:{n},{k}" + ("" if seed is None else f",{seed}")
    sizes = (2,) * n
    if n > TABLE_BITS:
        return Task(name, sizes, 2, None, rule, codes=CODES, signs=True)
    return Task(name, sizes, 2, rule(np.moveaxis(np.indices(sizes), 0, -1)), codes=CODES, signs=True)


def _read(text: str, _: int | None) -> Task:
    match = re.fullmatch("parity:([0-9]{1,6}),([0-9]{1,6})(?:,([0-9]{1,18}))?", "".join(text.split()), re.IGNORECASE)
    if match is None:
        raise ModgrokError(f"A parity is written parity:n,k or parity:n,k,SEED, such as parity:40,3, not {text!r}.")
    return parity(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))


FAMILY = Family("parity", "parity:.*", _read, "parity:40,3, the parity of 3 of 40 bits; parity:40,3,SEED chooses them")
