"""Where a run was made: versions, device, commit."""

import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import modgrok


def environment(device: Any) -> dict[str, Any]:
    """Everything needed to judge or repeat a number."""
    versions = {name: importlib.metadata.version(name) for name in ("jax", "jaxlib", "optax")}
    return host_environment() | {"device": device.device_kind, "platform": device.platform} | versions


def host_environment() -> dict[str, Any]:
    """The same where nothing is trained."""
    return {
        "modgrok": modgrok.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": "cpu",
        "platform": "cpu",
        "commit": commit(),
        "numpy": importlib.metadata.version("numpy"),
    }


def commit() -> str | None:
    """The git commit of the sources, where they are in a repository; a copy without one is told by $MODGROK_COMMIT."""
    if told := os.environ.get("MODGROK_COMMIT"):
        return told
    source = Path(modgrok.__file__)
    try:
        # Installed elsewhere, the sources may lie in the folder of a repository that is not theirs.
        tracked = _git(source.parent, "ls-files", "--error-unmatch", source.name)
        head = _git(source.parent, "rev-parse", "HEAD")
    except (OSError, subprocess.TimeoutExpired):
        return None
    return head.stdout.strip() if tracked.returncode == 0 and head.returncode == 0 else None


def _git(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True, timeout=5)


def in_notebook() -> bool:
    """Whether this is a notebook kernel."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
