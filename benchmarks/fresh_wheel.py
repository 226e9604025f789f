"""The wheel in fresh environments: it trains, solves, serves the lab and reproduces a figure.

    make dist
    python benchmarks/fresh_wheel.py dist/*.whl python3.11 python3.12 python3.13 > benchmarks/results/fresh_wheel.md

Each interpreter gets an environment of its own from the package index; the first one also gets one with the lowest
versions that the wheel allows.
"""

import contextlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

TRAIN = ("train", "n + m", "--modulus", "23", "--width", "64", "--fraction", "0.7", "--lr", "0.1", "--steps", "300")
COMMANDS = {
    "train": (*TRAIN, "--json"),
    "solve": ("solve", "n * m", "--modulus", "97", "--form", "exact", "--json"),
    "analyze": ("analyze", "last", "--figure", "network.png", "--json"),
    "reproduce": ("reproduce", "--only", "fig2", "--profile", "tiny", "--json"),
}


def main(wheel: Path, *pythons: str) -> None:
    print("| Python | dependencies | jax | numpy | train | solve | analyze | reproduce --only fig2 | lab |")
    print("|---|---|---|---|---|---|---|---|---|")
    for python, lowest in [(python, False) for python in pythons] + [(pythons[0], True)]:
        with tempfile.TemporaryDirectory() as folder:
            print(row(wheel, python, lowest, Path(folder)), flush=True)
    print(f"\n{wheel.name} on {platform.system()} {platform.machine()}; seconds of each command, started anew.")


def row(wheel: Path, python: str, lowest: bool, folder: Path) -> str:
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    own = folder / "venv" / "bin" / "python"
    bounds = lower_bounds(wheel) if lowest else []
    pip = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, wheel.resolve(), *bounds], check=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MODGROK", "JAX"))}
    environment = inherited | {"MODGROK_CACHE": "off", "MPLBACKEND": "agg"}
    ask = "import platform, jax, numpy; print(platform.python_version(), jax.__version__, numpy.__version__)"
    versions = subprocess.run([own, "-c", ask], capture_output=True, text=True, check=True).stdout.split()
    cells = []
    for command in COMMANDS.values():
        began = time.monotonic()
        ran = subprocess.run(
            [own, "-m", "modgrok", *command], cwd=folder, env=environment, capture_output=True, text=True
        )
        if ran.returncode:
            print(ran.stderr, file=sys.stderr)
        cells.append(f"{time.monotonic() - began:.0f} s" if ran.returncode == 0 else "fails")
    with lab(own, folder, environment) as address, urllib.request.urlopen(address) as page:
        cells.append("serves" if page.status == 200 and b"<html" in page.read() else "fails")
    return f"| {versions[0]} | {'lowest' if lowest else 'newest'} | {' | '.join(versions[1:] + cells)} |"


def lower_bounds(wheel: Path) -> list[str]:
    """The wheel's requirements without extras, each at its lowest version."""
    with zipfile.ZipFile(wheel) as content:
        [name] = [name for name in content.namelist() if name.endswith("/METADATA")]
        lines = content.read(name).decode().splitlines()
    wanted = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    return [line.replace(">=", "==") for line in wanted if "extra" not in line]


@contextlib.contextmanager
def lab(python: Path, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """The address of a lab that runs inside."""
    serve = [python, "-m", "modgrok", "lab", "--no-browser", "--port", "0"]
    with subprocess.Popen(
        serve, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield next(found[0] for line in process.stdout if (found := re.search(r"http://[^\s\"]+", line)))
        finally:
            process.terminate()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
