"""Kernels in CUDA C++: NVRTC, which JAX's extra for CUDA installs, makes PTX of them, and XLA launches that."""

import ctypes
import importlib.util
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

HOPPER = "9.0"
"""The compute capability whose matrix units the kernels are written for."""
OPTIONS = ("--gpu-architecture=compute_90a", "--std=c++17", "-default-device")
VERSION = "8.1"
"""Of PTX: the first that knows all instructions of the kernels."""
SPECIAL = str.maketrans({"\\": r"\5C", '"': r"\22", "\n": r"\0A", "\t": r"\09"})
"""How a string in XLA's configuration writes them."""


@dataclass(frozen=True)
class Launch:
    """One kernel of a source, as it is launched for a number of runs."""

    name: str
    grid: tuple[int, int, int]
    threads: int
    memory: int
    """Bytes of shared memory."""
    inputs: tuple[str, ...]
    """By name, in the order of its arguments; outputs follow."""
    outputs: dict[str, tuple[tuple[int, ...], Any]]
    """Shape and dtype of one run's."""


TRIAL = Launch("trial", (1, 1, 1), 1, 0, ("x",), {"y": ((1,), jnp.float32)})
TRIAL_SOURCE = 'extern "C" __global__ void trial(const float* x, float* y) { y[0] = x[0] + 1; }'


@cache
def usable(platform: str) -> bool:
    """Whether these kernels run on this process's devices of a platform: one that adds 1 is tried."""
    if platform != "gpu" or jax.default_backend() != "gpu" or _compiler() is None:
        return False
    if jax.local_devices()[0].compute_capability != HOPPER:
        return False
    one = jnp.ones((1, 1), jnp.float32)
    try:
        found = jax.jit(lambda x: run((TRIAL,), TRIAL_SOURCE, 1, {"x": x})["y"])(one)
        return float(found[0, 0]) == 2
    except Exception as error:
        logging.getLogger("modgrok").warning("Kernels in CUDA do not run here, so others are used: %s", error)
        return False


def run(launches: tuple[Launch, ...], source: str, runs: int, arrays: dict[str, Any]) -> dict[str, Any]:
    """Launches the kernels one after another, each compiled alone, as the source allows with a macro of its name; every
    array has a leading axis of runs."""
    for launch in launches:
        shapes = [jax.ShapeDtypeStruct((runs, *shape), dtype) for shape, dtype in launch.outputs.values()]
        numbers = zip(("grid_x", "grid_y", "grid_z"), launch.grid, strict=True)
        sizes = {**dict(numbers), "block_x": launch.threads, "block_y": 1, "block_z": 1}
        sizes["shared_mem_bytes"] = launch.memory
        code = ptx(f"#define {launch.name.upper()}\n{source}").translate(SPECIAL)
        texts = {"name": launch.name, "kernel_type": "ptx", "kernel_data": code}
        fields = [f'{name} = "{text}"' for name, text in texts.items()]
        fields += [f"{name} = {number} : i32" for name, number in sizes.items()]
        call = jax.ffi.ffi_call(
            "__gpu$xla.gpu.ptx",
            shapes,
            custom_call_api_version=2,
            legacy_backend_config="{" + ", ".join(fields) + "}",
        )
        arrays = arrays | dict(zip(launch.outputs, call(*(arrays[name] for name in launch.inputs)), strict=True))
    return arrays


def over_runs(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Of a function of many runs' arrays, with a leading axis, the function of one run's whose `vmap` it is."""

    @jax.custom_batching.custom_vmap
    def of_one(*arrays: Any) -> tuple[Any, ...]:
        return tuple(found[0] for found in function(*(array[None] for array in arrays)))

    @of_one.def_vmap
    def _(runs: int, mapped: list[bool], *arrays: Any) -> tuple[tuple[Any, ...], tuple[bool, ...]]:
        whole = (
            array if along else jnp.broadcast_to(array, (runs, *array.shape))
            for array, along in zip(arrays, mapped, strict=True)
        )
        found = function(*whole)
        return found, (True,) * len(found)

    return of_one


@cache
def ptx(source: str) -> str:
    compiler = _compiler()
    assert compiler is not None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    compiler.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"modgrok.cu", 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*(option.encode() for option in OPTIONS))
    failed = compiler.nvrtcCompileProgram(program, len(OPTIONS), options)
    what = "ProgramLog" if failed else "PTX"
    getattr(compiler, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    getattr(compiler, f"nvrtcGet{what}")(program, buffer)
    compiler.nvrtcDestroyProgram(ctypes.byref(program))
    text = buffer.value.decode()
    if failed:
        raise RuntimeError(f"NVRTC did not compile the kernels: {text}")
    return for_drivers(text)


def for_drivers(text: str) -> str:
    """PTX in the version it needs: a driver refuses one that is newer than itself, as that of a newer NVRTC."""
    return re.sub(r"(?m)^\.version .*$", f".version {VERSION}", text, count=1)


@cache
def _compiler() -> Any:
    """NVRTC, or None where there is none."""
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or ()]
    installed = sorted((file for folder in folders for file in folder.rglob("libnvrtc.so.*")), reverse=True)
    for library, folder in [*((str(file), file.parent) for file in installed), ("libnvrtc.so", None)]:
        try:
            for part in folder.glob("libnvrtc-builtins.so*") if folder else ():
                ctypes.CDLL(str(part))
            return ctypes.CDLL(library)
        except OSError:
            continue
    return None
