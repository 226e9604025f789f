"""`modgrok doctor`: what an issue needs to say about this installation, on one screen."""

import os
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import modgrok
from modgrok.commands.arguments import InStore, facts, out, parse, print_json
from modgrok.experiments import Store
from modgrok.experiments.environment import commit
from modgrok.text import count

REQUIRED = ("jax", "jaxlib", "optax", "numpy", "scipy", "matplotlib", "safetensors")
OPTIONAL = ("ray", "torch", "pandas", "pyarrow")


@dataclass(frozen=True)
class Doctor(InStore):
    """Check this installation: versions, devices, the store and the compilation cache. Paste it into an issue."""


def main(argv: list[str]) -> None:
    """Look, print."""
    arguments = parse(Doctor, "doctor", argv)
    found = examine(Store(arguments.store).folder)
    if arguments.json:
        print_json(found)
        return
    out.print(facts({name: _words(value) for name, value in found.items()}, "modgrok doctor"))


def examine(store: Path) -> dict[str, Any]:
    """Facts by name, as JSON values."""
    import jax

    from modgrok.training.compilation_cache import enable_cache

    try:
        devices = [f"{device.device_kind} ({device.platform})" for device in jax.local_devices()]
    except RuntimeError as error:
        devices = [f"JAX finds none: {error}"]
    cache = enable_cache()
    return {
        "modgrok": modgrok.__version__,
        "commit": commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "devices": devices,
        "packages": {name: known for name in REQUIRED + OPTIONAL if (known := _version(name))},
        "store": str(store.resolve()),
        "store state": _state(store),
        "runs": sum(1 for _ in store.glob("*/experiment.json")) if store.is_dir() else 0,
        "compiled programs": "not kept" if cache is None else str(cache),
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(("MODGROK_", "JAX_"))
        },
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _state(folder: Path) -> str:
    """Whether runs can be written there."""
    if folder.exists() and not folder.is_dir():
        return "a file is in its place; choose another folder with MODGROK_STORE"
    nearest = next(one for one in (folder, *folder.resolve().parents) if one.exists())
    if not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
        return f"{nearest} cannot be written; choose another folder with MODGROK_STORE"
    free = os.statvfs(nearest)
    return f"can be written, {count(free.f_bavail * free.f_frsize // 2**30)} GiB free"


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {text}" for name, text in value.items()) or "none"
    return ", ".join(value) if isinstance(value, list) else "unknown" if value is None else str(value)
