"""The paper's network, quadratic and in two variables, for many runs on a GPU of the Hopper generation: how
quadratic.cu is compiled and launched."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jax.numpy as jnp

from modgrok.networks import TwoLayer
from modgrok.training.kernels import cuda
from modgrok.training.kernels.cuda import Launch
from modgrok.training.kernels.pallas_kernels import LOSSES
from modgrok.training.kernels.pallas_tools import HALF, SINGLE, round_up
from modgrok.training.kernels.value_lists import CHUNK, SLOTS, Lists
from modgrok.training.program import Program

FOLDER = Path(__file__).parent
MOST_VALUES, MOST_OUTPUTS, MOST_NEURONS = 127, 120, 8192
"""Of a variable, of answers, and of the hidden layer: what shared memory and registers hold."""
ENOUGH = 1 << 25
"""Number of activations of all runs from which these kernels are faster; below, their longer start weighs more."""
PROCESSORS = 132
"""Multiprocessors of an H100 or H200, which each run one program at a time."""
GROUPS, EACH = 3, 2
"""Groups of four warps in `residuals`, and the tiles that each holds."""
MEMORY = 220 << 10
"""Bytes of shared memory for what is copied."""


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
                dict([("losses", ((4 * self.tiles,), SINGLE)), left, ("rhos", ((), SINGLE))]),
            ),
            Launch(
                "gradients",
                (-(-self.width // 128), self.parts, runs),
                384,
                columns + min(8, (MEMORY - columns) // of_list) * of_list + 1024,
                ("readout", "table", "bounds", "share", "rhos", "left", "firsts", "sources", "others"),
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
