"""One source for NumPy and JAX: closed forms and measures run without JAX, and the same code traces under `jit`."""

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np


def namespace(*arrays: Any) -> ModuleType:
    """The module whose functions work on these: NumPy if all are its own arrays, `jax.numpy` otherwise."""
    if all(isinstance(x, np.ndarray | np.generic) for x in arrays):
        return np
    import jax.numpy

    return jax.numpy


def without_gradient(x: Any) -> Any:
    """The same numbers, as constants to a derivative."""
    if namespace(x) is np:
        return x
    import jax

    return jax.lax.stop_gradient(x)


def when_jax_is_imported(action: Callable[[], None]) -> None:
    """Does something once JAX is there: now, or when somebody imports it, without importing it for that."""
    if "jax" in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _JaxWatcher(action))


class _JaxWatcher(importlib.abc.MetaPathFinder):
    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "jax":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def then_act(module: ModuleType) -> None:
                execute(module)
                self.action()

            spec.loader.exec_module = then_act  # type: ignore[method-assign]
        return spec
