"""Fast implementations of loss and gradient by (architecture, platform). The generic one serves all others."""

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.training.data import Batch, PaddedShape
from modgrok.training.program import Program


@runtime_checkable
class Kernel(Protocol):
    """Computes loss and gradient for an architecture on a platform."""

    guards: bool
    """Whether the loss is not a number wherever the gradient is not finite."""

    def applies(self, program: Program) -> bool:
        """Whether it can run this program, whose architecture and platform are its own."""

    def padded_shape(self, program: Program, inputs: Callable[[], Any], rows: int) -> PaddedShape:
        """The padded lengths of a run's arrays, from the number of its training inputs and, where they matter, the
        inputs."""

    def tables(self, program: Program, inputs: Any, padded: PaddedShape) -> Any:
        """Index arrays that the kernel needs besides the examples, built on the host; None if there are none."""

    def extra_floats(self, program: Program, padded: PaddedShape) -> int:
        """Floats that one run needs in memory besides weights and activations."""

    def loss_and_grad(
        self,
        program: Program,
        parameters: Parameters,
        batch: Batch,
        codes: Any,
        noise: Noise | None,
        count_correct: Any = None,
    ) -> tuple[Any, Parameters, Any]:
        """The weighted loss over the examples, its gradient, and the number of correct answers: 0 unless
        `count_correct` is true and the platform counts them in the same pass."""

    def outputs(self, program: Program, parameters: Parameters, inputs: Any) -> Any:
        """The network's outputs, without noise."""


ANY = "any"
KERNELS: dict[tuple[str, str], str] = {("two-layer", "gpu"): "gpu", ("two-layer", ANY): "plain_xla"}
"""The modules of kernels by architecture and platform, imported where they are needed: Pallas takes long."""


def kernel_for(program: Program) -> Kernel:
    """The fastest kernel that can run this program."""
    for platform in (program.platform, ANY):
        if (module := KERNELS.get((program.architecture.name, platform))) is not None:
            kernel: Kernel = import_module(f"{__name__}.{module}").KERNEL
            if kernel.applies(program):
                return kernel
    from modgrok.training.kernels import generic

    return generic.KERNEL
