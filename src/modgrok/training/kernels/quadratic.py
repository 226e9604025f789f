"""The paper's network, quadratic and in two variables, for many runs on a GPU of the Hopper generation: quadratic.cu,
and the order in which it takes the examples."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from modgrok.networks import TwoLayer
from modgrok.shapes import Int32, Integer, UInt16
from modgrok.training.kernels import cuda
from modgrok.training.kernels.cuda import Launch
from modgrok.training.kernels.pallas_kernels import LOSSES
from modgrok.training.kernels.pallas_tools import HALF, SINGLE, round_up
from modgrok.training.program import Program

FOLDER = Path(__file__).parent
MOST_VALUES, MOST_OUTPUTS, MOST_NEURONS = 127, 120, 8192
"""Of a variable, of answers, and of the hidden layer: what shared memory and registers hold."""
ENOUGH = 1 << 25
"""Number of activations of all runs from which these kernels are faster; below, their longer start weighs more."""
PROCESSORS = 132
GROUPS, EACH = 3, 2
"""Groups of four warps in `residuals`, and the tiles that each holds."""
CHUNK = 64
"""Neurons that are copied into shared memory at a time."""
SLOTS = 64
"""Examples of a list."""
MEMORY = 220 << 10
"""Bytes of shared memory for what is copied."""
NOBODY = -1
"""The label of an example that is not there."""
SLOT_OF = np.array([0, 1, 8, 9])
"""Of 16 slots, those that one thread reads, from twice its number in the row on."""


class Lists(NamedTuple):
    """Which examples are multiplied when; offsets are those in shared memory."""

    pairs: Int32[Any, "pair 4"]
    """Offset of the first variable's columns, those of the second's in two halves, and two labels: neighbors share the
    first value, so that its columns are read once."""
    used: Int32[Any, "1"]
    """Number of tiles of 32 pairs."""
    firsts: Int32[Any, "value"]
    """Where the lists of each value begin, those of the second variable after those of the first, and the end."""
    sources: Int32[Any, "list slot"]
    """Where the residuals of its examples begin."""
    others: UInt16[Any, "list entry"]
    """Where the columns of their other variable lie, in the order in which threads read them; then the number of
    groups of 16 slots in use, the value, 1 for its first list plus 2 for its last, and the value of the next list."""


@dataclass(frozen=True)
class Geometry:
    """What the kernels are compiled for."""

    size: int
    """Values of a variable."""
    width: int
    outputs: int
    tiles: int
    """Of 64 examples."""
    lists: int
    """Of examples with one value."""
    hidden: float
    output: float
    """The network's prefactors."""
    loss: str
    runs: int

    @classmethod
    def of(cls, program: Program, tiles: int, lists: int, runs: int) -> "Geometry":
        network, signature = program.architecture, program.signature
        assert isinstance(network, TwoLayer)
        hidden, output, _ = network.scales(signature)
        shape = max(signature.sizes), network.width, signature.outputs, tiles, lists
        return cls(*shape, hidden, output, program.loss, runs)

    @property
    def rounds(self) -> int:
        """Number of times that all groups of `residuals` take their tiles."""
        return -(-self.tiles // (GROUPS * EACH))

    @property
    def spans(self) -> int:
        """Programs among which a run's rounds are divided: the number that finishes soonest."""

        def turns(spans: int) -> int:
            return -(-self.runs * spans // PROCESSORS) * -(-self.rounds // spans)

        return min(range(1, self.rounds + 1), key=turns)

    @property
    def parts(self) -> int:
        """Programs among which values are divided, where there are few runs; one, or equally many a variable."""
        parts = 1
        while parts < 16 and self.runs * parts * -(-self.width // 128) < 2 * PROCESSORS:
            parts *= 2
        return parts

    @property
    def answers(self) -> int:
        return round_up(self.outputs, 8)

    @property
    def line(self) -> int:
        """Bytes of a row of residuals that lie together in shared memory."""
        return 128 if self.answers > 32 else 64

    @property
    def pitch(self) -> int:
        return round_up(self.answers, self.line // 2)

    @property
    def chunks(self) -> int:
        return -(-self.width // CHUNK)

    @cached_property
    def source(self) -> str:
        numbers = {
            "SIZE": self.size,
            "WIDTH": self.width,
            "OUTPUTS": self.outputs,
            "ANSWERS": self.answers,
            "PITCH": self.pitch,
            "TILES": self.tiles,
            "LISTS": self.lists,
            "CHUNK": CHUNK,
            "SLOTS": SLOTS,
            "MEMORY": MEMORY,
            "GROUPS": GROUPS,
            "EACH": EACH,
            "SPANS": self.spans,
            "PARTS": self.parts,
            "HIDDEN": f"{self.hidden:.9e}f",
            "OUTPUT": f"{self.output:.9e}f",
            "COUNTED": f"{self.counted:.9e}f",
            "CROSS_ENTROPY": int(self.loss == "cross_entropy"),
        }
        macros = "".join(f"#define {name} {number}\n" for name, number in numbers.items())
        return macros + (FOLDER / "quadratic.cu").read_text()

    @property
    def cuda_source(self) -> str:
        return (FOLDER / "hopper.cuh").read_text() + _multiply(self.answers) + self.source

    @property
    def counted(self) -> float:
        """Weight of a residual in the gradient of a mean over the examples."""
        return 2 / self.outputs if self.loss == "mse" else 1.0

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        runs, padded, values = self.runs, CHUNK * self.chunks, 2 * self.size
        stage = CHUNK * (4 * values + 2 * self.answers)
        stages = min((MEMORY - 4 * padded) // stage, self.chunks + 1)
        of_list = SLOTS * (round_up(2 * self.answers, self.line) + 2) + 16
        columns = 4 * 128 * (values if self.parts == 1 else self.size + -(-self.size // (self.parts // 2)))
        table, inwards = ("table", ((values * padded,), SINGLE)), ("inwards", ((padded * self.answers,), HALF))
        left = ("left", ((64 * self.tiles + 1, self.pitch), HALF))
        gradients = {
            "d_columns": ((values, self.width), SINGLE),
            "d_readout": ((self.parts,) * (self.parts > 1) + (self.outputs, self.width), SINGLE),
        }
        return (
            Launch(
                "scale",
                (self.chunks, runs, 1),
                512,
                0,
                ("columns", "readout"),
                dict([table, inwards, ("bounds", ((2, padded), SINGLE))]),
            ),
            Launch(
                "residuals",
                (self.spans, runs, 1),
                128 * GROUPS,
                stages * stage + 4 * padded,
                ("table", "inwards", "bounds", "share", "pairs", "used"),
                dict([("losses", ((4 * self.tiles,), SINGLE)), left, ("of_run", ((2,), SINGLE))]),
            ),
            Launch(
                "gradients",
                (-(-self.width // 128), self.parts, runs),
                384,
                columns + min(8, (MEMORY - columns) // of_list) * of_list + 1024,
                ("readout", "table", "bounds", "share", "of_run", "left", "firsts", "sources", "others"),
                gradients,
            ),
        )


def applies(program: Program) -> bool:
    network, signature = program.architecture, program.signature
    assert isinstance(network, TwoLayer)
    fits = max(signature.sizes) <= MOST_VALUES and signature.outputs <= MOST_OUTPUTS
    fits &= network.width <= MOST_NEURONS and network.width % 4 == 0
    known = program.loss in LOSSES and program.loss_precision == "float32"
    large = network.width > 128 or signature.outputs > 64
    return len(signature.sizes) == 2 and network.activation == "quadratic" and fits and known and large


def tiles_for(rows: int, size: int) -> int:
    """A pair for each value may be half empty."""
    return -(-(rows + size) // 64)


def lists_for(inputs: Integer[np.ndarray, "example 2"], size: int) -> int:
    """One for each value at least; coarse, so that many training sets share a compilation."""
    counts = [np.bincount(values, minlength=size) for values in inputs.T]
    return round_up(sum(int(np.maximum(1, -(-count // SLOTS)).sum()) for count in counts), 32)


def lists(inputs: Integer[np.ndarray, "example 2"], labels: Integer[np.ndarray, "example"], kernels: Geometry) -> Lists:
    """Examples in the order of their first value, two by two; threads that read at once read different banks."""
    size, count = kernels.size, len(inputs)
    first, second = inputs[:, 0].astype(np.int64), size + inputs[:, 1].astype(np.int64)
    half = second // 2 % 2
    order = np.lexsort((half, _rank(first, half) // 2, first))
    of_first = np.bincount(first, minlength=size)
    within = np.empty(count, np.int64)
    within[order] = np.arange(count) - np.repeat(np.cumsum(of_first) - of_first, of_first)
    paired = of_first + of_first % 2
    at = (np.cumsum(paired) - paired)[first] + within
    pairs = np.full((32 * kernels.tiles, 4), NOBODY, np.int32)
    pairs[:, 0] = _offset(first.max() if count else np.int64(0))
    pairs[at // 2, 0] = _offset(first)
    seconds = np.full((32 * kernels.tiles, 2), _offset(np.int64(size)), np.int64)
    seconds[at // 2, at % 2] = _offset(second)
    pairs[:, 1] = (seconds[:, 0] | seconds[:, 1] << 16).astype(np.uint32).view(np.int32)
    pairs[at // 2, 2 + at % 2] = labels
    rows = at // 16 * 16 + at // 2 % 8 + at % 2 * 8
    firsts, sources, others = _by_value(
        np.concatenate([first, second]), np.concatenate([second, first]), size, kernels.lists
    )
    starts = np.append(rows, [64 * kernels.tiles]) * kernels.pitch * 2
    sources = np.where(sources < 0, count, sources % max(1, count))
    used = np.array([-(-int(paired.sum()) // 64)], np.int32)
    return Lists(pairs, used, firsts, starts[sources].astype(np.int32), others)


def gradients(program: Program, columns: Any, readout: Any, found: Lists, share: Any) -> tuple[Any, Any, Any]:
    """The loss, and the gradients of columns and readout."""

    def of_runs(columns: Any, readout: Any, share: Any, *lists: Any) -> tuple[Any, ...]:
        arrays = {"columns": columns, "readout": readout, "share": share} | dict(zip(Lists._fields, lists, strict=True))
        tiles, count = arrays["pairs"].shape[1] // 32, arrays["sources"].shape[1]
        kernels = Geometry.of(program, tiles, count, len(columns))
        made = cuda.run(kernels.launches, kernels.cuda_source, len(columns), arrays)
        parts = made["d_readout"]  # A sum over a single part would copy it.
        return made["losses"].sum(axis=1), made["d_columns"], parts if kernels.parts == 1 else parts.sum(axis=1)

    loss, d_columns, d_readout = cuda.over_runs(of_runs)(columns, readout, jnp.asarray(share), *found)
    return loss, d_columns.reshape(columns.shape), d_readout


def _by_value(
    values: Integer[np.ndarray, "entry"], others: Integer[np.ndarray, "entry"], size: int, lists: int
) -> tuple[Any, Any, Any]:
    """Where the lists of each value begin, their entries, and `Lists.others`. Slots that threads read at once get
    values of different banks, as far as there are such."""
    counts = np.bincount(values, minlength=2 * size)
    of_value = np.maximum(1, -(-counts // SLOTS))
    firsts = np.append(0, np.cumsum(of_value))
    value_of = np.repeat(np.arange(2 * size), of_value)
    # A value's examples are dealt to its lists in turn, bank by bank.
    bank = others & 3
    order = np.lexsort((bank, values))
    dealt = np.empty(len(values), np.int64)
    dealt[order] = np.arange(len(values)) - np.repeat(np.cumsum(counts) - counts, counts)
    at = firsts[values] + dealt % of_value[values]
    steps = np.maximum(1, -(-np.bincount(at, minlength=len(value_of)) // 16))
    rank = _rank(at, bank)
    slot = rank // 4 * 16 + SLOT_OF[rank % 4] + 2 * bank
    late = rank >= 4 * steps[at]
    taken = np.arange(SLOTS)[None, :] >= 16 * steps[:, None]
    taken[at[~late], slot[~late]] = True
    free = np.argsort(taken, axis=1, kind="stable")
    slot[late] = free[at[late], _rank(at[late])]
    sources = np.full((lists, SLOTS), -1, np.int64)
    sources[at, slot] = np.arange(len(values))
    start = np.where(value_of < size, size, 0)[:, None]
    # Rows of no example, in the slot's own bank.
    rows = np.minimum(start + (np.arange(SLOTS)[None, :] % 8 // 2 - start) % 4, start + size - 1)
    rows[at, slot] = others
    in_order = np.arange(0, SLOTS, 16)[:, None, None] + 2 * np.arange(4)[None, :, None] + SLOT_OF[None, None, :]
    entries, used = np.zeros((lists, SLOTS + 8), np.uint16), len(value_of)
    entries[:used, :SLOTS] = (_offset(rows) >> 5)[:, in_order.ravel()]
    numbers = np.arange(used)
    first_or_last = (firsts[value_of] == numbers) + 2 * (firsts[value_of + 1] == numbers + 1)
    after = np.append(value_of[1:], 0)
    entries[:used, SLOTS : SLOTS + 4] = np.stack([steps, value_of, first_or_last, after], axis=1)
    return firsts.astype(np.int32), sources, entries


def _offset(row: Any) -> Any:
    """Where a value's columns begin in shared memory: pieces of 32 bytes change places with the value."""
    return row * (4 * CHUNK) + ((row & 3) << 5)


def _rank(*keys: Any) -> Any:
    """The number of every entry among those of equal keys."""
    order = np.lexsort(keys[::-1])
    ordered = np.stack([key[order] for key in keys])
    new = np.append(True, (np.diff(ordered, axis=1) != 0).any(axis=0))[: len(order)]
    starts = np.flatnonzero(new)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return ranks


def _multiply(answers: int) -> str:
    """The product of a group's operands in registers and a matrix in shared memory, added to sums in registers: an
    instruction that names all of them."""
    count = answers // 2
    sums = ", ".join(f"%{n}" for n in range(count))
    operands = ", ".join(f"%{count + n}" for n in range(4))
    written = ", ".join(f'"+f"(d[{n}])' for n in range(count))
    read = ", ".join(f'"r"(a[{n}])' for n in range(4))
    return f"""
template <int TRANSPOSED>
INLINE void multiply(float (&d)[{count}], const unsigned* a, Descriptor b, bool add) {{
  asm volatile(
      "{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{count + 5}, 0;\\n"
      "wgmma.mma_async.sync.aligned.m64n{answers}k16.f32.f16.f16 "
      "{{{sums}}}, {{{operands}}}, %{count + 4}, p, 1, 1, %{count + 6};\\n}}"
      : {written} : {read}, "l"(b), "r"((int)add), "n"(TRANSPOSED));
}}
"""
