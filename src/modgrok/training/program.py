"""What a compilation depends on: runs with equal programs and array shapes train in one batch; and what the programs
of a platform share, how batches run there and the sizes of blocks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from modgrok.networks import Architecture, Cost
from modgrok.tasks import Signature
from modgrok.training.losses import Objective
from modgrok.training.recording import Measure

Precision = Literal["float32", "highest", "float64"]

EXAMPLES = "examples"
"""The axis of devices that share a run's examples."""
BLOCK_ROWS = 30
"""What a block costs besides its examples, in examples: those of 128 take 1.1 times the time of those of 262, each."""


@dataclass(frozen=True)
class Platform:
    """A kind of device."""

    separate: bool
    """Whether each run takes its steps in a call of its own, in parallel threads; otherwise all take them together."""
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
OTHER = replace(GPU, compiler_options={})
PLATFORMS = {"cpu": CPU, "gpu": GPU}
"""By JAX's names."""


@dataclass(frozen=True)
class Program:
    """The static part of training one network; learning rates and the like are data."""

    architecture: Architecture
    signature: Signature
    loss: str
    scaling: str
    """How gradients become updates, by name; momentum and both weight decays are numbers, zero where absent."""
    features: frozenset[str]
    """Which wrappers around the update there are: `dropout`, `schedule`, `groups`, `decay_to_start`, `hold_norm`,
    `orthogonal`, `update_noise`, `weight_noise`, `grokfast_ema`, `grokfast_ma`."""
    batch_size: int | None
    """None: every step sees the whole training set."""
    precision: Precision
    loss_precision: Literal["float32", "float64"]
    platform: str
    """By JAX's name."""
    recorded: tuple[Measure, ...] = ()
    """Measures recorded besides losses, accuracies and norms."""
    codes: bool = False
    """Whether outputs are compared with given vectors instead of one-hot answers."""
    tolerance: float | None = None
    rule: Any = None
    """Labels inputs that are drawn afresh for every step; None if the training set is fixed."""
    loss_settings: tuple[tuple[str, Any], ...] = ()
    """Of a loss that has settings of its own, by name."""
    window: int = 0
    """Number of gradients in a moving average."""
    code: str = ""
    """Digest of the user's code, which may change between compilations."""
    shared: int = 1
    """CPU devices that share one run's blocks. Two give the same bits as one, which adds up the same two parts."""
    runs: int = 1
    """Runs that a GPU trains together; its kernels choose their tiles by the total work."""
    block_rows: int | None = None
    """Examples of every block where the number of blocks is data."""

    @property
    def on(self) -> Platform:
        """What is peculiar to the platform."""
        return PLATFORMS.get(self.platform, OTHER)

    @property
    def dtype(self) -> str:
        """Of weights and arithmetic."""
        return "float64" if self.precision == "float64" else "float32"

    @property
    def x64(self) -> bool:
        """Whether numbers of 64 bits occur."""
        return "float64" in (self.precision, self.loss_precision)

    @property
    def cost(self) -> Cost:
        return self.architecture.cost(self.signature)

    @property
    def objective(self) -> Objective:
        """Loss and correctness of outputs."""
        return Objective(self.loss, self.loss_precision, self.tolerance, self.loss_settings)

    @property
    def batch_norm(self) -> bool:
        """Whether outputs depend on batch statistics, so that the training set cannot be cut into blocks."""
        return bool(getattr(self.architecture, "batch_norm", False))

    @property
    def exact_gradient(self) -> bool:
        """Whether a step takes the gradient of the whole training set without noise, which an evaluation can reuse."""
        noisy = {"dropout", "weight_noise"} & self.features
        return self.batch_size is None and self.rule is None and not noisy

    @property
    def parts(self) -> int:
        """Number of partial sums over examples: one for each device, or two on a single device."""
        return max(2, self.shared)

    @property
    def dynamic_blocks(self) -> bool:
        """Whether the number of blocks that a training set fills is data, so that many lengths share a compilation."""
        return self.block_rows is not None

    def counted_block(self, examples: int) -> int | None:
        """The architecture's fastest length of a block for this many examples; None where their number is fixed."""
        if not self.on.separate or self.batch_size is not None or self.rule is not None or self.batch_norm:
            return None
        lengths = [min(rows, self._most_rows) for rows in self.architecture.block_rows]
        return min(lengths, key=lambda rows: self.blocks_of(rows, examples) * (rows + BLOCK_ROWS), default=None)

    def blocks(self, examples: int) -> tuple[int, int]:
        """Number of blocks and rows per block for this many examples: one block, or equally many in each part."""
        if self.block_rows is not None:
            return self.blocks_of(self.block_rows, examples), self.block_rows
        if self.divisible(examples):
            count = self.blocks_of(self._most_rows, examples)
            return count, -(-examples // count)
        return 1, examples

    def divisible(self, examples: int) -> bool:
        """Whether a step over this many examples takes more than one block, so that devices can share it."""
        return not self.batch_norm and self.batch_size is None and examples > self._most_rows

    def sharing(self, examples: int, most: int) -> int:
        """How many of at most `most` devices share a run with this many examples."""
        divided = self.architecture.divisible and self.divisible(examples)
        return max(1, min(most, self.blocks(examples)[0])) if divided else 1

    @property
    def _most_rows(self) -> int:
        return max(self.architecture.least_rows, self.on.block_floats // self.cost.activations)

    def blocks_of(self, rows: int, examples: int) -> int:
        """The fewest blocks of `rows` rows that hold the examples, equally many in each part."""
        return self.parts * -(-examples // (self.parts * rows))

    def evaluation_blocks(self, examples: int) -> tuple[int, int]:
        """The same for evaluations, which keep no activations for a backward pass."""
        most = max(self.on.evaluated_rows, self.on.evaluated_floats // self.cost.activations)
        rows = min(-(-examples // (self.on.evaluated_blocks * self.parts)), most)
        return self.blocks_of(rows, examples), rows

    def step_flops(self, rows: int) -> float:
        """FLOPs of one step: forward pass, backward pass (twice as many), and update."""
        return 3.0 * rows * self.cost.flops + 20 * self.cost.parameters
