"""Fast ways to the same loss and gradient: (architecture, platform) → kernel. The generic one serves all others."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from modgrok.networks import Noise
from modgrok.networks.architecture import Parameters
from modgrok.training.data import Batch, Room
from modgrok.training.program import Program


@runtime_checkable
class Kernel(Protocol):
    """A way from parameters and examples to loss and gradient, with what is peculiar to a platform inside."""

    guards: bool
    """Whether the loss is not a number wherever the gradient is not finite."""

    def room(self, program: Program, inputs: Callable[[], Any], rows: int) -> Room:
        """How long a run's arrays are, from its training inputs, where they matter, and how many there are."""

    def tables(self, program: Program, inputs: Any, room: Room) -> Any:
        """Arrays that are looked up besides the examples, made on the host; None where there are none."""

    def extra_floats(self, program: Program, room: Room) -> int:
        """Numbers that one run needs besides weights and activations."""

    def slope(
        self,
        program: Program,
        parameters: Parameters,
        batch: Batch,
        codes: Any,
        noise: Noise | None,
        judged: Any = None,
    ) -> tuple[Any, Parameters, Any]:
        """The weighted loss over the examples, its derivative with respect to the parameters, and how many examples are
        answered right: 0 unless the platform counts them, and `judged` is true."""

    def outputs(self, program: Program, parameters: Parameters, inputs: Any) -> Any:
        """What the network says to some inputs, without noise."""


def kernel_for(program: Program) -> Kernel:
    """The fastest kernel that knows this program."""
    from modgrok.training.kernels import generic, plain_xla

    if program.architecture.name != "two-layer" or program.codes:
        return generic.KERNEL
    if program.platform == "gpu":
        from modgrok.training.kernels import gpu  # whose Pallas takes long to import

        if gpu.applies(program):
            return gpu.KERNEL
    return plain_xla.KERNEL
