"""Programs kept whole, so that a second start of `modgrok` on a CPU need not even trace them: that takes ten times as
long as to load them.

JAX finds what it has compiled before by what was traced. Here it is found by all that tracing follows from: program,
shapes of its arguments, sources of modgrok, versions of what they call, and what the environment tells JAX. A user's
own Python program may have measures, networks or losses of its own, which these do not name; it, and a GPU, whose
programs are compiled ahead, have JAX's cache alone.
"""

import contextlib
import hashlib
import os
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
from jax.experimental.compilation_cache import compilation_cache
from jax.experimental.serialize_executable import deserialize_and_load, serialize

import modgrok
from modgrok import signals
from modgrok.training.compilation_cache import enable_cache
from modgrok.training.program import Program

LOADERS = ThreadPoolExecutor(2)
"""Who load programs while something else is done: a start, and `advance`. A process that ends waits for them."""


def keep(function: Any, name: str, program: Program, devices: tuple[Any, ...]) -> Any:
    """The jitted function of a program, as one that is kept where that can be."""
    folder = enable_cache()
    named = signals.Process.is_program and program.rule is None
    if folder is None or not named or program.platform != "cpu":
        return function
    return Kept(function, name, program, devices, folder)


def prepare(function: Any, *others: Any) -> None:
    """Has what will be called with these, after its first argument, loaded while something else is done."""
    if isinstance(function, Kept):
        function.begin_to_load(others)


class Kept:
    """A jitted function that is loaded if it was compiled before. The form of its first argument, seed, weights or
    state, follows from the program and the others."""

    def __init__(self, function: Any, name: str, program: Program, devices: tuple[Any, ...], folder: Path) -> None:
        self.function, self.devices, self.folder = function, devices, folder
        self.known_by = name, _describe(program), [device.id for device in devices], _surroundings()
        self.loading: dict[Any, Future[Any]] = {}
        self.ready: dict[Any, Any] = {}

    def __call__(self, *arguments: Any) -> Any:
        shapes = _shapes(arguments[1:])
        if shapes not in self.ready:
            self.begin_to_load(arguments[1:])
            self.ready[shapes] = self.loading[shapes].result() or self._compile(self._path(shapes), arguments)
        return self.ready[shapes](*arguments)

    def begin_to_load(self, others: tuple[Any, ...]) -> None:
        if (shapes := _shapes(others)) not in self.loading:
            self.loading[shapes] = LOADERS.submit(self._load, self._path(shapes))

    def eval_shape(self, *arguments: Any) -> Any:
        return self.function.eval_shape(*arguments)

    def _path(self, shapes: tuple[Any, ...]) -> Path:
        structure, leaves = shapes
        known_by = repr((self.known_by, str(structure), [(shape, str(dtype)) for shape, dtype in leaves]))
        return self.folder / f"{hashlib.sha256(known_by.encode()).hexdigest()}.program"

    def _load(self, path: Path) -> Any:
        """None where there is none, or anything is wrong with it."""
        with contextlib.suppress(Exception):
            content = path.read_bytes()
            if hashlib.sha256(content[32:]).digest() == content[:32]:
                program, inward, outward = pickle.loads(content[32:])
                return deserialize_and_load(program, inward, outward, self.devices[0].client, self.devices)
        return None

    def _compile(self, path: Path, arguments: tuple[Any, ...]) -> Any:
        """Where it cannot be written, or JAX has no form for it to be kept in, it is compiled again next time."""
        with _without_cache():
            compiled = self.function.lower(*arguments).compile()
        with contextlib.suppress(OSError, NotImplementedError, ValueError):
            content = pickle.dumps(serialize(compiled))
            beside = path.with_suffix(f".{os.getpid()}")
            beside.write_bytes(hashlib.sha256(content).digest() + content)
            beside.replace(path)
        return compiled


def _shapes(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    leaves, structure = jax.tree.flatten(arguments)
    return structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves)


def _describe(program: Program) -> tuple[Any, ...]:
    """The same in every process, where the order of a set and the place of a function are not."""
    plain = replace(program, features=frozenset(), recorded=())
    return plain, sorted(program.features), [measure.name for measure in program.recorded]


@cache
def _surroundings() -> tuple[Any, ...]:
    """What else tracing follows from; versions of JAX, and the processor, have folders of their own."""
    sources = hashlib.sha256()
    for path in sorted(Path(modgrok.__file__).parent.rglob("*.py")):
        sources.update(path.read_bytes())
    told = sorted(item for item in os.environ.items() if item[0].startswith(("JAX_", "XLA_")))
    return sources.hexdigest(), sys.version, version("numpy"), version("optax"), told


@contextlib.contextmanager
def _without_cache() -> Iterator[None]:
    """Inside, JAX compiles afresh: what it loads from its cache on a CPU cannot be kept a second time."""
    before = jax.config.values["jax_enable_compilation_cache"]
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        jax.config.update("jax_enable_compilation_cache", before)
        compilation_cache.reset_cache()
