"""What is to be learned: the values of the inputs, the number of answers, and which answer belongs to which input."""

import dataclasses
import inspect
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.card import card, table_picture
from modgrok.errors import ModgrokError
from modgrok.shapes import Float, Int
from modgrok.tasks.structure.verdict import Structure

HOLE = -1
"""The entry of a table at an input that does not occur."""
MOST_ENTRIES = 50_000_000
SHOWN_ENTRIES = 10_000
"""Up to this many entries a notebook is told the structure of a table unasked."""
MOST_VARIABLES = MOST_ENTRIES.bit_length() - 1
"""More variables than this exceed `MOST_ENTRIES` even with two values each."""


@dataclass(frozen=True)
class Signature:
    """All that a network must know of a task."""

    sizes: tuple[int, ...]
    """Number of values of each input variable; () where inputs are real vectors."""
    outputs: int
    """How many numbers a network returns."""
    dimension: int = 0
    """Of real input vectors; 0 for tokens."""
    signs: bool = False
    """A network on real vectors sees 1 − 2·token instead of one-hot tokens."""


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    r"""A function $T: \prod_s \{0, …, \mathrm{sizes}_s - 1\} \to \{0, …, \mathrm{answers} - 1\}$, defined on all inputs
    or on some. It is stored as its table or, where there are too many inputs, as a rule."""

    name: str
    """The expression as typed, or what else the task is called."""
    sizes: tuple[int, ...]
    """Number of values of each variable."""
    answers: int
    """Number of possible answers."""
    table: Int[np.ndarray, "*sizes"] | Any
    """The answer at every input: T(n, m) is `table[n, m]`, `HOLE` where the input does not occur. Read-only. None where
    there is a rule instead (`enumerable` is false)."""
    rule: Callable[[Any], Any] | None = None
    """Inputs (…, S) to answers (…), in NumPy and in JAX."""
    vectors: Float[np.ndarray, "input d"] | None = None
    """Real inputs: input number i is row i, and sizes is (number of rows,)."""
    codes: Float[np.ndarray, "answers out"] | None = None
    """What outputs are compared with; None: one-hot vectors."""
    tolerance: float | None = None
    """With codes: an output is right where its mean square error is below this; None: where its own code is nearest."""
    signs: bool = False
    """See `Signature`."""

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1:
            raise ModgrokError(f"A task needs at least one variable with at least one value, not sizes {self.sizes}.")
        if self.answers < 2:
            raise ModgrokError(f"A task needs at least 2 possible answers, not {self.answers}.")
        if (self.table is None) == (self.rule is None):
            raise ModgrokError(f"A task has either a table or a rule, and {self.name!r} has both or neither.")
        if self.table is not None:
            object.__setattr__(self, "table", self._checked_table())
        for name in ("vectors", "codes"):
            if (given := getattr(self, name)) is not None:
                object.__setattr__(self, name, _own(given, given.dtype))
        if self.vectors is not None and self.sizes != self.vectors.shape[:1]:
            raise ModgrokError(
                f"Real inputs need one row for each input: sizes {self.sizes} do not fit shape {self.vectors.shape}."
            )
        if self.codes is not None and (self.codes.ndim != 2 or len(self.codes) != self.answers):
            raise ModgrokError(f"Codes need one row for each of {self.answers} answers, not shape {self.codes.shape}.")
        if self.tolerance is not None and (self.codes is None or not self.tolerance > 0):
            raise ModgrokError(f"tolerance must be positive and needs codes, not {self.tolerance}.")

    def _checked_table(self) -> Int[np.ndarray, "*sizes"]:
        """The table as read-only 64-bit integers: itself where it is that and nobody else's view, a copy otherwise."""
        check_entries(self.sizes)
        if self.table.shape != self.sizes:
            raise ModgrokError(
                f"A table over inputs of sizes {self.sizes} must have that shape, not {self.table.shape}."
            )
        low, high = int(self.table.min()), int(self.table.max())
        if low < HOLE or high >= self.answers:
            raise ModgrokError(
                f"The answers lie in 0 … {self.answers - 1} ({HOLE} where an input does not occur), and this table has "
                f"{low if low < HOLE else high}; reduce it modulo {self.answers} first."
            )
        if high == HOLE:
            raise ModgrokError(f"A task needs inputs, but the table of {self.name!r} has only holes.")
        return _own(self.table, np.int64)

    def __repr__(self) -> str:
        if self.is_modular:
            return f"Task({self.name!r}, modulus={self.modulus}, arity={self.arity})"
        sizes = f"sizes={self.sizes}" if self.arity <= 4 else f"arity={self.arity}"
        return f"Task({self.name!r}, {sizes}, answers={self.answers})"

    def _repr_html_(self) -> str:
        """For notebooks: the table in colors, and what is known of it."""
        rows: dict[str, Any] = {"variables": ", ".join(self.variables[:8]), "answers": self.answers}
        if self.enumerable:
            rows["inputs"] = len(self.present)
            rows |= {"holes": self.holes} if self.holes else {}
        if "structure" in self.__dict__ or (self.is_modular and self.table.size <= SHOWN_ENTRIES):
            rows["structure"] = f"{self.structure.kind.replace('_', ' ')}: {self.structure.reason}"
        flat = self.enumerable and self.vectors is None and self.arity == 2
        modulus = f" mod {self.modulus}" if self.is_modular else ""
        return card(f"{self.name}{modulus}", rows, table_picture(self.table, self.answers) if flat else "")

    @property
    def arity(self) -> int:
        """S, the number of variables."""
        return len(self.sizes)

    @property
    def variables(self) -> tuple[str, ...]:
        return variable_names(self.arity)

    @property
    def enumerable(self) -> bool:
        """Whether there is a table."""
        return self.rule is None

    @property
    def is_modular(self) -> bool:
        """Whether all variables and the answers run over one Z_p, so that there is a modulus."""
        return self.enumerable and self.vectors is None and set(self.sizes) == {self.answers}

    @property
    def modulus(self) -> int:
        """p of a function on Z_p."""
        if not self.is_modular:
            raise ModgrokError(
                f"{self!r} has no modulus, and what is asked for needs a function on one Z_p: every variable and the "
                f"answer with the same number of values."
            )
        return self.answers

    @property
    def signature(self) -> Signature:
        outputs = self.answers if self.codes is None else self.codes.shape[1]
        if self.vectors is not None:
            return Signature((), outputs, self.vectors.shape[1], self.signs)
        return Signature(self.sizes, outputs, 0, self.signs)

    @cached_property
    def present(self) -> Int[np.ndarray, "present"]:
        """The inputs that occur, as ascending indices into the raveled table."""
        if not self.enumerable:
            raise ModgrokError(f"The inputs of {self.name!r} are too many to enumerate.")
        return np.flatnonzero(self.table.reshape(-1) != HOLE)

    @property
    def holes(self) -> int:
        """How many inputs do not occur."""
        return math.prod(self.sizes) - len(self.present) if self.enumerable else 0

    @property
    def note(self) -> str:
        """A sentence about the inputs that do not occur; empty if all do."""
        if not self.holes:
            return ""
        first = np.unravel_index(int(np.argmin(self.table.reshape(-1))), self.sizes)
        where = describe_input(self.variables, tuple(int(i) for i in first))
        return (
            f"{self.name} has no answer at {self.holes:,} of {self.table.size:,} inputs, the first at {where}; "
            f"they are neither trained on nor tested."
        )

    @cached_property
    def structure(self) -> Structure:
        """How the table decomposes, found from the table alone."""
        from modgrok.tasks.structure import find_structure

        if self.is_modular:
            return find_structure(self.table)
        why = "its inputs are too many to enumerate" if not self.enumerable else "this one is not a function on one Z_p"
        return Structure("unknown", self.answers, f"Sums and products are sought in functions on Z_p, and {why}.")

    def unordered(self) -> "Task":
        """The same function with one order of each input, n1 ≤ n2 ≤ …; the other orders become holes."""
        axes = range(1, self.arity)
        if not self.enumerable or any(
            self.sizes[s] != self.sizes[0] or not np.array_equal(self.table, self.table.swapaxes(0, s)) for s in axes
        ):
            raise ModgrokError(
                f"Unordered inputs need a table that is symmetric in its variables; {self.name!r} is not."
            )
        values = np.ogrid[tuple(slice(size) for size in self.sizes)]
        table = self.table.copy()
        for one, next_one in pairwise(values):
            table[np.broadcast_to(one > next_one, self.sizes)] = HOLE
        table.setflags(write=False)
        return dataclasses.replace(self, table=table, name=f"{self.name}:unordered")

    @classmethod
    def from_expression(cls, text: str, modulus: int) -> "Task":
        """The function of an expression such as `n^2 + m^2`; see `modgrok.tasks.grammar`."""
        from modgrok.tasks.grammar import parse

        table = parse(text).table(modulus)
        table.setflags(write=False)
        return cls(text.strip(), table.shape, table.shape[0], table)

    @classmethod
    def from_function(
        cls, function: Callable[..., Any], modulus: int, arity: int | None = None, name: str | None = None
    ) -> "Task":
        """The function's values modulo p, `HOLE` where it returns None. It is called with Python integers, so that
        nothing overflows. The arity is that of its signature, 2 where it has none."""
        sizes = table_shape(modulus, _arity(function) if arity is None else arity)
        table = np.empty(sizes, dtype=np.int64)
        for inputs in product(*map(range, sizes)):
            try:
                answer = function(*inputs)
            except Exception as error:
                raise ModgrokError(
                    f"The task's function raised {type(error).__name__} ({error}) at "
                    f"{describe_input(variable_names(len(sizes)), inputs)}; return None where an input does not occur."
                ) from error
            try:
                table[inputs] = HOLE if answer is None else operator.index(answer) % modulus
            except TypeError:
                raise ModgrokError(
                    "A task's function must return integers (None where an input does not occur), and at "
                    f"{describe_input(variable_names(len(sizes)), inputs)} it returned {answer!r}."
                ) from None
        return cls(name or str(getattr(function, "__name__", "function")), sizes, sizes[0], table)

    @classmethod
    def from_table(cls, array: Any, name: str = "table", answers: int | None = None) -> "Task":
        """The function whose answers are the entries. Unless it is given, the number of answers is the length of the
        axes where they are all equal (the modulus), and else one more than the greatest entry."""
        try:
            table = np.array(array)
        except ValueError:
            raise ModgrokError("A table needs rows of equal length.") from None
        table.setflags(write=False)
        if table.ndim == 0:
            kind = "a number" if table.dtype.kind in "biufc" else f"of the type {type(array).__name__}"
            raise ModgrokError(
                f"A task is a text, a function, a table with one axis for each variable, or a Task, and this is {kind}."
            )
        if not np.issubdtype(table.dtype, np.integer):
            raise ModgrokError(f"A table needs integer entries, not {table.dtype}.")
        if answers is None:
            answers = table.shape[0] if len(set(table.shape)) == 1 or not table.size else int(table.max()) + 1
        if not table.size:
            raise ModgrokError(f"A table needs at least 2 answers, but one of shape {table.shape} has none.")
        return cls(name, table.shape, answers, table)

    @classmethod
    def from_file(cls, path: str | Path) -> "Task":
        """The table in a `.npy` or `.csv` file."""
        from modgrok.tasks.families.files import read_table

        table = read_table(Path(path))
        try:
            return cls.from_table(table, str(path))
        except ModgrokError as error:
            raise ModgrokError(f"{str(path)!r}: {error}") from None


def _own(array: np.ndarray, dtype: Any) -> np.ndarray:
    """A read-only array that changes with no other: itself where it is one, a copy otherwise."""
    if array.dtype == dtype and array.base is None and not array.flags.writeable:
        return array
    copy = array.astype(dtype)
    copy.setflags(write=False)
    return copy


def whole_modulus(modulus: Any) -> int:
    """p as a Python integer, where it is one and at least 2."""
    try:
        whole = operator.index(modulus)
    except TypeError:
        raise ModgrokError(f"modulus must be a whole number, not {modulus!r}.") from None
    digits = round(abs(whole).bit_length() * math.log10(2))
    shown = f"one of about {digits:,} digits" if digits > 20 else str(modulus)
    if isinstance(modulus, bool) or whole < 2:
        raise ModgrokError(f"modulus must be at least 2, not {shown}.")
    if whole > MOST_ENTRIES:
        raise ModgrokError(f"A table has at most {MOST_ENTRIES:,} entries, too few for the modulus {shown}.")
    return whole


def table_shape(modulus: int, arity: int) -> tuple[int, ...]:
    """(p, …, p), one axis for each variable, where p ≥ 2, S ≥ 1 and p^S fits in memory; an error otherwise."""
    p = whole_modulus(modulus)
    if arity < 1:
        raise ModgrokError(f"A task needs at least one variable, not {arity}.")
    if arity > MOST_VARIABLES or p**arity > MOST_ENTRIES:
        raise ModgrokError(
            f"A table has at most {MOST_ENTRIES:,} entries, and {arity} variables modulo {p} need "
            f"{p}^{arity}; take a smaller modulus or fewer variables."
        )
    return (p,) * arity


def check_entries(sizes: tuple[int, ...]) -> None:
    """An error where a table of these sizes would not fit in memory."""
    if len(sizes) > MOST_VARIABLES or math.prod(sizes) > MOST_ENTRIES:
        raise ModgrokError(f"A table has at most {MOST_ENTRIES:,} entries, too few for inputs of sizes {sizes}.")


def variable_names(arity: int) -> tuple[str, ...]:
    """What the variables are called where no expression says otherwise: n; n, m; n1, n2, n3, …"""
    return ("n", "m")[:arity] if arity <= 2 else tuple(f"n{s + 1}" for s in range(arity))


def describe_input(names: tuple[str, ...], values: tuple[int, ...]) -> str:
    """One input in words, such as `n=0, m=3`."""
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def _arity(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 2
    if any(parameter.kind == parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional and parameter.default is parameter.empty for parameter in parameters)
