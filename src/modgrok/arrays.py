"""One source for NumPy and JAX: closed forms and measures run without JAX, and the same code traces under `jit`."""

from types import ModuleType
from typing import Any

import numpy as np


def namespace(x: Any) -> ModuleType:
    """The module whose functions work on `x`: NumPy for its own arrays, `jax.numpy` for everything else."""
    if isinstance(x, np.ndarray | np.generic):
        return np
    import jax.numpy

    return jax.numpy
