"""What kernels in Pallas (Triton) are written with: tiles, indices, loops, rounding to 16 bits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from modgrok.shapes import Array, Float16, Float32

HALF, SINGLE, INTEGER = jnp.float16, jnp.float32, jnp.int32
HALF_MAX = 65504.0


@dataclass(frozen=True)
class Tile:
    """The tile that a program processes at a time."""

    rows: int
    columns: int
    warps: int = 4
    stages: int = 1
    """Pipeline stages: how far a loop loads ahead."""

    def within(self, columns: int) -> "Tile":
        """The same tile, no wider than this many columns need."""
        return Tile(self.rows, min(self.columns, next_power(columns)), self.warps, self.stages)


def power_below(bound: Float32[Array, "*shape"], exponent: int) -> Float32[Array, "*shape"]:
    """The power of two that scales a positive number to between half of 2^exponent and it; 1 if it is 0 or infinite."""
    of_bound = (jax.lax.bitcast_convert_type(bound, INTEGER) >> 23) & 255
    usable = (of_bound > 0) & (of_bound < 255)
    scale = jnp.where(usable, jnp.clip(exponent + 253 - of_bound, 27, 227), 127)
    return jax.lax.bitcast_convert_type(scale << 23, SINGLE)


def to_half(x: Float32[Array, "*shape"]) -> Float16[Array, "*shape"]:
    """Rounds to 16 bits; finite numbers that would overflow become the largest one."""
    too_large = (jnp.abs(x) > HALF_MAX) & (jnp.abs(x) < jnp.inf)
    return jnp.where(too_large, jnp.where(x > 0, HALF_MAX, -HALF_MAX), x).astype(HALF)


def padded_width(width: int) -> int:
    """Number of neurons, padded to whole tiles."""
    return round_up(width, 128) if width > 128 else next_power(width)


def round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


def next_power(number: int) -> int:
    """The next power of two, at least 16, the size of a matrix unit."""
    return max(16, 1 << (number - 1).bit_length())


def span(length: int) -> Any:
    return jnp.arange(length, dtype=INTEGER)


def cells(rows: Any, columns: Any) -> tuple[Any, Any]:
    return rows[:, None], columns[None, :]


def both(rows: Any, columns: Any) -> Any:
    return rows[:, None] & columns[None, :]


def loop(count: Any, body: Callable[[Any, Any], Any], start: Any) -> Any:
    return jax.lax.fori_loop(0, count, lambda n, carry: body(jnp.asarray(n, INTEGER), carry), start)


def array(shape: tuple[int, ...], dtype: Any = SINGLE) -> Any:
    return jax.ShapeDtypeStruct(shape, dtype)


def plus(a: Any, b: Any, total: Any, trans_a: bool = False, trans_b: bool = False) -> Any:
    """A product added to a sum, which the matrix units do in one."""
    return triton.dot(a, b, trans_a=trans_a, trans_b=trans_b) + total


def interpreted() -> bool:
    """Whether the kernels run in Pallas's interpreter, as they do without a GPU."""
    return jax.default_backend() == "cpu"


def launch(kernel: Callable[..., None], shapes: Any, grid: tuple[int, ...], tile: Tile) -> Any:
    parameters = triton.CompilerParams(num_warps=tile.warps, num_stages=tile.stages)
    return pl.pallas_call(kernel, out_shape=shapes, grid=grid, compiler_params=parameters, interpret=interpreted())
