"""What a run's id covers of code that modgrok does not bring: a registered network, loss, optimizer, activation or kind
of task, and the measures that are recorded.

Covered are the compiled functions themselves, without docstrings and line numbers, and all they reach in the user's own
modules: defaults, closures, globals, other functions and classes. Libraries count by name. Whatever has an attribute
`version` counts by that instead. An object whose content cannot be compared makes the code unknown: such a run is
trained again each time it is asked for.
"""

import dataclasses
import dis
import functools
import hashlib
import re
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from modgrok.networks import ARCHITECTURES
from modgrok.networks.activation import ACTIVATIONS
from modgrok.tasks.families.family import FAMILIES, Family, family_of
from modgrok.training.losses import LOSSES
from modgrok.training.optimizers import OPTIMIZERS, SCALINGS

UNKNOWN = "?"
"""How the code of an experiment ends that holds something whose content cannot be compared."""
REGISTRIES: dict[str, Mapping[str, Any]] = {
    "network": ARCHITECTURES,
    "activation": ACTIVATIONS,
    "loss": LOSSES,
    "optimizer": OPTIMIZERS,
    "scaling": SCALINGS,
    "task": FAMILIES,
}
BUILT_IN = {kind: dict(registry) for kind, registry in REGISTRIES.items()}
SIMPLE = (bool, int, float, complex, str, bytes, range, slice, PurePath, re.Pattern, np.generic, np.dtype, type(None))
GENERATED = {"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__replace__"}
"""Methods that a dataclass writes itself, from fields that are read."""
ABOUT = "module qualname doc dict weakref annotations annotate_func annotate annotations_cache static_attributes"
ABOUT_CLASS = {f"__{word}__" for word in f"{ABOUT} firstlineno abstractmethods match_args dataclass_params".split()}


HAS_DOCSTRING = 0x4000000
"""Flag of code whose first constant is a docstring; before Python 3.13 that or None is a function's first."""


def user_code(experiment: Any) -> str:
    """The digest of an experiment's code, empty where all of it is modgrok's; it ends with ? where some is unknown."""
    digest = Digest()
    for name, one in _used(experiment).items():
        digest.read(name)
        digest.read(one)
    return str(digest) if digest.parts else ""


def unknown_parts(experiment: Any) -> list[str]:
    """What cannot be compared in the code of an experiment, in words."""
    digest = Digest()
    for one in _used(experiment).values():
        digest.read(one)
    return digest.unknown


def family_code(family: Family | None) -> str:
    """The same for a kind of task alone."""
    digest = Digest()
    if family is not None and BUILT_IN["task"].get(family.name) is not family:
        digest.read(family)
    return str(digest) if digest.parts else ""


def _used(experiment: Any) -> dict[str, Any]:
    """What an experiment uses that is not modgrok's own, by kind and name."""
    from modgrok.training.recording import MEASURES

    family, optimizer = family_of(experiment.task), OPTIMIZERS[experiment.optimizer]
    names = {
        "network": experiment.network,
        "activation": experiment.architecture.settings().get("activation"),
        "loss": experiment.loss,
        "optimizer": experiment.optimizer,
        "scaling": optimizer.scaling,
        "task": family.name if family else None,
    }
    chosen = ((kind, name, REGISTRIES[kind].get(name)) for kind, name in names.items() if name)
    used = {f"{kind} {name}": one for kind, name, one in chosen if one is not BUILT_IN[kind].get(name)}
    for measure in MEASURES.values():
        asked = measure.usual or measure.name in experiment.record
        if asked and measure.applies(experiment.architecture) and not _of_library(measure.function):
            used[f"measure {measure.name}"] = measure.function
    return used


class Digest:
    """Reads values and the code they reach, each object once."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.unknown: list[str] = []
        self._seen: dict[int, tuple[int, Any]] = {}

    def __str__(self) -> str:
        text = "\0".join(self.parts).encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).hexdigest()[:16] + (UNKNOWN if self.unknown else "")

    def read(self, value: Any) -> None:
        kind = type(value)
        if isinstance(value, SIMPLE) and not isinstance(value, Enum):
            self._write(kind.__name__, repr(value))
            return
        if id(value) in self._seen:
            self._write("again", str(self._seen[id(value)][0]))
            return
        self._seen[id(value)] = len(self._seen), value
        if isinstance(value, type | FunctionType) and isinstance(version := getattr(value, "version", None), str | int):
            self._write("version", value.__qualname__, str(version))
        elif isinstance(value, ModuleType):
            self._write("module", value.__name__)
        elif _is_named(value) or (isinstance(value, type) and _of_library(value)):
            self._write("library", value.__module__, value.__qualname__)
        elif isinstance(value, type):
            self._read_class(value)
        elif isinstance(value, FunctionType):
            self._read_function(value)
        else:
            self._read_object(value)

    def _read_function(self, function: FunctionType) -> None:
        code = function.__code__
        self._write("function", function.__name__)
        self._read_code(code)
        self.read((function.__defaults__, function.__kwdefaults__))
        for cell in function.__closure__ or ():
            try:
                self.read(cell.cell_contents)
            except ValueError:
                self._write("empty")
        if _of_library(function):
            return
        for name in sorted(_names(code, "LOAD_GLOBAL", "LOAD_NAME") & function.__globals__.keys()):
            self._write("global", name)
            found = function.__globals__[name]
            self.read(found)
            if isinstance(found, ModuleType) and not _of_library(found):
                for attribute in sorted(_names(code, "LOAD_ATTR", "LOAD_METHOD") & vars(found).keys()):
                    self.read(vars(found)[attribute])

    def _read_code(self, code: CodeType) -> None:
        self._write("code", code.co_code.hex(), *code.co_names, *code.co_varnames, *code.co_freevars)
        always = sys.version_info < (3, 13) and not code.co_name.startswith("<")
        has_docstring = always or bool(code.co_flags & HAS_DOCSTRING)
        for number, constant in enumerate(code.co_consts):
            if isinstance(constant, CodeType):
                self._read_code(constant)
            elif number > 0 or not has_docstring:
                self.read(constant)

    def _read_class(self, kind: type) -> None:
        self._write("class", kind.__name__)
        self.read(kind.__bases__)
        skipped = ABOUT_CLASS | (GENERATED if dataclasses.is_dataclass(kind) else set())
        for name, value in sorted(vars(kind).items()):
            if name not in skipped and name != "_abc_impl":
                self._write("attribute", name)
                if name == "__dataclass_fields__":
                    self.read([(field.name, str(field.type), field.default) for field in value.values()])
                else:
                    self.read(value)

    def _read_object(self, value: Any) -> None:
        """Instances, containers, and what wraps a function."""
        kind = type(value)
        self._write("object", kind.__module__, kind.__qualname__)
        if isinstance(value, Enum):
            self._write(value.name)
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self._write(str(value.dtype), str(value.shape), hashlib.sha256(value.tobytes()).hexdigest())
        elif isinstance(value, tuple | list):
            for one in value:
                self.read(one)
        elif isinstance(value, set | frozenset):
            self._write(*sorted(_alone(one, self.unknown) for one in value))
        elif isinstance(value, Mapping):
            for one in value.items():
                self.read(one)
        elif isinstance(value, functools.partial):
            self.read((value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            self.read((value.__func__, value.__self__))
        elif isinstance(value, staticmethod | classmethod):
            self.read(value.__func__)
        elif isinstance(value, property):
            self.read((value.fget, value.fset, value.fdel))
        elif isinstance(value, functools.cached_property):
            self.read(value.func)
        elif dataclasses.is_dataclass(value):
            self.read([getattr(value, field.name) for field in dataclasses.fields(value)])
        elif hasattr(value, "__wrapped__"):
            self.read(value.__wrapped__)  # and what else a wrapper such as jax.custom_vjp is made of
            self.read([one for one in getattr(value, "__dict__", {}).values() if isinstance(one, FunctionType)])
        elif kind.__module__.startswith(("jax", "jaxlib")) and hasattr(value, "__array__"):
            self.read(np.asarray(value))
        elif callable(value) and _of_library(value) and getattr(value, "__name__", None):
            self._write(str(value.__name__))
        elif not _of_library(kind) and hasattr(value, "__dict__"):
            self.read((kind, vars(value)))
        else:
            self.unknown.append(f"an object of {kind.__module__}.{kind.__qualname__}")

    def _write(self, *texts: str) -> None:
        self.parts += texts


def _alone(value: Any, unknown: list[str]) -> str:
    digest = Digest()
    digest.read(value)
    unknown += digest.unknown
    return str(digest)


def _is_named(value: Any) -> bool:
    """Whether something is what a library has under its own name, and not made by a function of it."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not _of_library(value):
        return False
    return getattr(sys.modules.get(module), name, None) is value


def _names(code: CodeType, *instructions: str) -> set[str]:
    """The names that a function and those inside it read with some instructions."""
    own = {one.argval for one in dis.get_instructions(code) if one.opname in instructions}
    return own.union(*(_names(inside, *instructions) for inside in code.co_consts if isinstance(inside, CodeType)))


def _of_library(value: Any) -> bool:
    """Whether something is of modgrok, Python or an installed package, and counts by its name."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(name, str):
        return True  # built into Python
    root = name.partition(".")[0]
    if root in sys.stdlib_module_names or root in ("modgrok", "builtins"):
        return True
    file = getattr(sys.modules.get(name), "__file__", None) or ""
    return "site-packages" in file or "dist-packages" in file
