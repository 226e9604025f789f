"""What is to be learnt: a modular function as its table of answers."""

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from modgrok.errors import ModgrokError
from modgrok.tasks import expression
from modgrok.tasks.catalogue import CATALOGUE
from modgrok.tasks.files import SUFFIXES, read_table
from modgrok.tasks.shape import describe_input, table_shape, variable_names
from modgrok.tasks.structure.verdict import Structure


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    r"""A function $T: \mathbb Z_p^S \to \mathbb Z_p$, kept as its table."""

    modulus: int
    """p ≥ 2, prime or not."""
    table: Int[np.ndarray, "*inputs"]
    """The answer at every input: T(n, m) is `table[n, m]`. Shape (p, …, p), read-only."""
    name: str
    """The expression as typed, or what else the task is called."""

    def __post_init__(self) -> None:
        shape = table_shape(self.modulus, self.table.ndim)
        if self.table.shape != shape:
            raise ModgrokError(
                f"A table of {len(shape)} variables modulo {self.modulus} has shape {shape}, not {self.table.shape}."
            )
        low, high = self.table.min(), self.table.max()
        if low < 0 or high >= self.modulus:
            raise ModgrokError(
                f"The answers modulo {self.modulus} lie in 0 … {self.modulus - 1}, and this table has "
                f"{low if low < 0 else high}; reduce it modulo {self.modulus} first."
            )
        table = self.table.astype(np.int64)
        table.setflags(write=False)
        object.__setattr__(self, "table", table)

    def __repr__(self) -> str:
        return f"Task({self.name!r}, modulus={self.modulus}, arity={self.arity})"

    @property
    def arity(self) -> int:
        """S, the number of variables."""
        return self.table.ndim

    @cached_property
    def structure(self) -> Structure:
        """How the table decomposes, found from the table alone."""
        from modgrok.tasks.structure import find_structure

        return find_structure(self.table)

    @classmethod
    def from_expression(cls, text: str, modulus: int) -> "Task":
        """The function that a text spells, such as `n^2 + m^2`; the grammar is in `modgrok.tasks.expression`."""
        return cls(modulus, expression.parse(text).table(modulus), text.strip())

    @classmethod
    def from_function(
        cls, function: Callable[..., Any], modulus: int, arity: int = 2, name: str | None = None
    ) -> "Task":
        """The function's values modulo p. It is called with Python integers, so that nothing overflows."""
        shape = table_shape(modulus, arity)
        answers = np.empty(shape, dtype=np.int64)
        for inputs in product(range(modulus), repeat=arity):
            answer = function(*inputs)
            try:
                answers[inputs] = operator.index(answer) % modulus
            except TypeError:
                raise ModgrokError(
                    f"A task's function must return integers, and at {describe_input(variable_names(arity), inputs)} "
                    f"it returned {answer!r}."
                ) from None
        return cls(modulus, answers, name or str(getattr(function, "__name__", "function")))

    @classmethod
    def from_table(cls, array: Any, name: str = "table") -> "Task":
        """The function whose answers are the entries; the modulus is the length of every axis."""
        try:
            table = np.asarray(array)
        except ValueError:
            raise ModgrokError("A table needs rows of equal length.") from None
        if table.ndim == 0 or len(set(table.shape)) > 1:
            raise ModgrokError(f"A table over Z_p has shape (p, …, p), one axis for each variable, not {table.shape}.")
        if not np.issubdtype(table.dtype, np.integer):
            raise ModgrokError(f"A table has integer entries, and this one has the type {table.dtype}.")
        return cls(table.shape[0], table.astype(np.int64), name)

    @classmethod
    def from_file(cls, path: str | Path) -> "Task":
        """The table in a `.npy` or `.csv` file."""
        table = read_table(Path(path))
        try:
            return cls.from_table(table, str(path))
        except ModgrokError as error:
            raise ModgrokError(f"{str(path)!r}: {error}") from None


def random_task(seed: int, modulus: int, arity: int = 2) -> Task:
    """A table of independent uniform answers, which nothing but memory can learn."""
    shape = table_shape(modulus, arity)
    answers = np.random.PCG64([seed, modulus, arity]).random_raw(modulus**arity) % np.uint64(modulus)
    return Task(modulus, answers.astype(np.int64).reshape(shape), f"random:{seed}")


def task(source: Any, modulus: int) -> Task:
    """A task from what describes it.

    A text is a name in the catalogue (`addition`), `random:SEED`, a path that ends in .npy or .csv, or else an
    expression; a callable, an array and a `Task` are taken as they are. A table's own modulus must be the one given.
    """
    found = _find(source, modulus)
    if found.modulus != modulus:
        raise ModgrokError(
            f"The table {found.name!r} is one modulo {found.modulus}, and modulo {modulus} was asked for."
        )
    return found


def _find(source: Any, modulus: int) -> Task:
    if isinstance(source, Task):
        return source
    if isinstance(source, Path):
        return Task.from_file(source)
    if isinstance(source, str):
        return _from_text(source, modulus)
    if callable(source):
        return Task.from_function(source, modulus)
    return Task.from_table(source)


def _from_text(text: str, modulus: int) -> Task:
    name = text.strip()
    if name in CATALOGUE:
        return Task(modulus, Task.from_expression(CATALOGUE[name].expression, modulus).table, name)
    if match := re.fullmatch("random:([0-9]{1,18})", name):
        return random_task(int(match[1]), modulus)
    if name.lower().endswith(SUFFIXES):
        return Task.from_file(name)
    if re.fullmatch("[a-z_]{3,}", name) and set(name) - set("nm"):
        close = get_close_matches(name, CATALOGUE, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the catalogue has {', '.join(CATALOGUE)}."
        raise ModgrokError(f"There is no function called {name!r}; {hint}")
    return Task.from_expression(text, modulus)
