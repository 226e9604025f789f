"""Properties of platforms that all their kernels share: how batches run there, and the sizes of blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Platform:
    """A kind of device."""

    separate: bool
    """Whether each run takes its steps in a call of its own, in parallel threads. Otherwise all runs of a batch take
    every step together."""
    counts_correct: bool
    """Whether the gradient pass also counts correct answers, so that evaluations look at the test set alone."""
    block_floats: int
    """Activations of one block of examples."""
    evaluated_floats: int
    """Activations of one evaluation block."""
    evaluated_rows: int
    """The fewest examples of such a block."""
    evaluated_blocks: int
    """The fewest such blocks in each part."""
    most_sharing: int = 1
    """The most devices that share one run."""
    most_runs: int | None = None
    """The most runs of a batch on one device; None if their activations decide."""
    padding: float = 1.0
    """The largest ratio of lengths among training sets of one batch; shorter ones are padded to the longest."""
    compiler_options: Mapping[str, Any] = field(default_factory=dict)


CPU = Platform(
    separate=True,
    counts_correct=True,
    block_floats=1 << 17,  # with their derivatives a megabyte, which stays in the cache
    evaluated_floats=1 << 17,
    evaluated_rows=256,
    evaluated_blocks=4,  # short ones, since not all of them are filled
    most_sharing=8,  # twelve or sixteen were no faster
    compiler_options={"xla_cpu_prefer_vector_width": 512},  # a twentieth faster where there are such vectors
)
GPU = Platform(
    separate=False,
    counts_correct=False,
    block_floats=1 << 29,
    evaluated_floats=1 << 22,
    evaluated_rows=512,
    evaluated_blocks=1,
    most_runs=512,  # by then it is busy, and smaller batches lose less when one is interrupted
    padding=1.4,
    compiler_options={
        # Without Triton products are as fast and compile in a third of the time. A command buffer around the loop over
        # steps saves the 10 µs in which the device would ask the host after each.
        "xla_gpu_enable_triton_gemm": False,
        "xla_gpu_enable_command_buffer": "FUSION,CUBLAS,CUBLASLT,CUSTOM_CALL,CUDNN,CONDITIONAL,WHILE",
    },
)
OTHER = Platform(
    separate=False,
    counts_correct=False,
    block_floats=GPU.block_floats,
    evaluated_floats=GPU.evaluated_floats,
    evaluated_rows=GPU.evaluated_rows,
    evaluated_blocks=GPU.evaluated_blocks,
    most_runs=GPU.most_runs,
    padding=GPU.padding,
)
PLATFORMS = {"cpu": CPU, "gpu": GPU}


def platform_named(name: str) -> Platform:
    """The platform of a given name, as JAX calls it."""
    return PLATFORMS.get(name, OTHER)
