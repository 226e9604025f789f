"""Where a run was made: versions, device, commit."""

import importlib.metadata
import platform
import subprocess
from pathlib import Path
from typing import Any

import modgrok


def environment(device: Any) -> dict[str, Any]:
    """What a reader needs to know to judge or repeat a number."""
    return {
        "modgrok": modgrok.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": device.device_kind,
        "platform": device.platform,
        "commit": commit(),
    } | {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "optax", "numpy")}


def commit() -> str | None:
    """The git commit of the sources, where they are in a repository."""
    folder = Path(modgrok.__file__).parent
    try:
        found = subprocess.run(["git", "-C", folder, "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() if found.returncode == 0 else None
