"""Fast implementations of loss and gradient by (architecture, platform). The generic one serves all others."""

from importlib import import_module
from typing import TYPE_CHECKING

from modgrok.training.program import Program

if TYPE_CHECKING:
    from modgrok.training.kernels.generic import Kernel

ANY = "any"
KERNELS: dict[tuple[str, str], str] = {
    ("two-layer", "gpu"): "gpu",
    ("two-layer", ANY): "plain_xla",
    ("transformer", "gpu"): "fused_transformer",
}
"""The modules of kernels by architecture and platform, imported where they are needed: Pallas takes long."""


def kernel_for(program: Program) -> "Kernel":
    """The fastest kernel that can run this program."""
    for platform in (program.platform, ANY):
        if (module := KERNELS.get((program.architecture.name, platform))) is not None:
            kind: type[Kernel] = import_module(f"{__name__}.{module}").KERNEL
            if kind.applies(program):
                return kind(program)
    from modgrok.training.kernels import generic

    return generic.Kernel(program)
