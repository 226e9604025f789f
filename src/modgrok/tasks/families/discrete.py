"""`discrete:n^m`, roots and logarithms modulo a prime: what expressions cannot say: exponents are no variables."""

import re
from collections.abc import Callable

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Int
from modgrok.tasks.arithmetic import discrete_logarithm, first_places, is_prime, logarithms, powers, roots
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task, table_shape

Table = Int[np.ndarray, "p p"]


def square_root_of_sum(modulus: int) -> Table:
    """The smaller r with r² = n + m; a hole where there is none."""
    n = np.arange(modulus)
    return first_places(n * n % modulus, modulus)[(n[:, None] + n) % modulus]


def logarithm_of_product(modulus: int) -> Table:
    """x with g^x = nm for the smallest primitive root g; a hole where nm = 0."""
    n = np.arange(modulus)
    return discrete_logarithm(modulus)[0][n[:, None] * n % modulus]


FUNCTIONS: dict[str, Callable[[int], Table]] = {
    "n^m": powers,
    "root(n+m)": square_root_of_sum,
    "log(n*m)": logarithm_of_product,
    "n^(1/m)": roots,
    "log_n(m)": logarithms,
}


def _read(text: str, modulus: int | None) -> Task:
    assert modulus is not None  # the family reads it
    name = re.sub(r"\s", "", text).lower().removeprefix("discrete:")
    if name not in FUNCTIONS:
        raise ModgrokError(f"Discrete functions are {', '.join(f'discrete:{f}' for f in FUNCTIONS)}, not {text!r}.")
    if not is_prime(modulus):
        raise ModgrokError(f"Discrete powers, roots and logarithms need a prime modulus, not {modulus}.")
    return Task(f"discrete:{name}", table_shape(modulus, 2), modulus, FUNCTIONS[name](modulus))


FAMILY = Family(
    "discrete",
    "discrete:.*",
    _read,
    f"discrete:n^m modulo a prime; {', '.join(name for name in FUNCTIONS if name != 'n^m')} too",
    reads_modulus=True,
)
