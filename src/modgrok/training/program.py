"""What a compilation depends on: two runs with equal programs and equal array shapes train in one batch."""

from dataclasses import dataclass
from typing import Literal

Family = Literal["sgd", "adam"]
Loss = Literal["mse", "cross_entropy"]

EXAMPLES = "examples"
"""The axis of devices that share a run's examples."""
CACHE_FLOATS = 1 << 17
"""Activations that one block of the CPU path holds: with their derivatives a megabyte, which stays in the cache."""


@dataclass(frozen=True)
class Program:
    """The static part of training one network; learning rates and the like are data."""

    modulus: int
    arity: int
    width: int
    activation: str
    parametrization: str
    loss: Loss
    family: Family
    """Whether gradients are scaled by Adam; momentum and both weight decays are numbers, zero where absent."""
    nesterov: bool
    batch_size: int | None
    """None: every step sees the whole training set."""
    dropout: bool
    batch_norm: bool
    precision: Literal["float32", "float64"]
    platform: str
    """`cpu` works in cache-sized blocks and scatters gradients; others take the whole batch at once and gather them."""
    shared: int = 1
    """How many CPU devices work on one run, each on its part of the blocks. Two find what one would, bit for bit, since
    one adds up the same two parts."""

    @property
    def gathers(self) -> bool:
        """Whether gradients are summed by look-up: fast and deterministic on a GPU, where scattering is neither."""
        return self.platform != "cpu" and self.batch_size is None

    @property
    def padded_answers(self) -> int:
        """Width of the output products: a multiple of 8 lets a GPU use its matrix units."""
        return self.modulus if self.platform == "cpu" else -(-self.modulus // 8) * 8

    @property
    def padded_width(self) -> int:
        """Width of the hidden layer while it is computed with: rows of whole cache lines, where that wastes little."""
        return self.width if self.platform != "cpu" or self.width < 128 else -(-self.width // 16) * 16

    @property
    def parts(self) -> int:
        """In how many parts sums over examples are made: each device its own, or one device two."""
        return max(2, self.shared)

    def blocks(self, examples: int) -> tuple[int, int]:
        """How many blocks of how many rows hold that many examples: one, or as many in each part."""
        if self.platform != "cpu" or self.batch_norm or self.batch_size is not None:
            return 1, examples
        length = max(64, CACHE_FLOATS // self.width)
        count = 1 if examples <= length else self.blocks_of(length, examples)
        return count, -(-examples // count)

    def blocks_of(self, rows: int, examples: int) -> int:
        """The fewest blocks of so many rows that hold the examples, as many in each part."""
        return self.parts * -(-examples // (self.parts * rows))
