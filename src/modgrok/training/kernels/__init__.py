"""Fast ways to the same loss and gradient: (architecture, platform) → kernel. The generic one serves all others."""

from collections.abc import Callable
from importlib import import_module
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

    def applies(self, program: Program) -> bool:
        """Whether it knows this program, of its architecture and platform."""

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


ANY = "any"
KERNELS: dict[tuple[str, str], str] = {("two-layer", "gpu"): "gpu", ("two-layer", ANY): "plain_xla"}
"""The modules of kernels by architecture and platform, imported where they are needed: Pallas takes long."""


def kernel_for(program: Program) -> Kernel:
    """The fastest kernel that knows this program."""
    for platform in (program.platform, ANY):
        if (module := KERNELS.get((program.architecture.name, platform))) is not None:
            kernel: Kernel = import_module(f"{__name__}.{module}").KERNEL
            if kernel.applies(program):
                return kernel
    from modgrok.training.kernels import generic

    return generic.KERNEL
