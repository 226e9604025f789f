"""Seconds of `modgrok train "n + m" --lr 0.3 --steps 300` from its call to its end, with its programs compiled before.

`--against FOLDER` takes turns with other sources of modgrok, such as `src` of an older checkout. Both have their Python
compiled too, in a folder of their own, whatever this process was told to write.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = "import sys; sys.argv[0] = 'modgrok'; from modgrok.cli import main; main()"
ARGUMENTS = ["train", "n + m", "--modulus", "97", "--lr", "0.3", "--steps", "300"]


def start(source: Path, bytecode: str) -> float:
    """Trains in a fresh store."""
    with tempfile.TemporaryDirectory() as store:
        environment = os.environ | {
            "PYTHONPATH": str(source),
            "PYTHONPYCACHEPREFIX": bytecode,
            "PYTHONDONTWRITEBYTECODE": "",
            "MODGROK_STORE": store,
        }
        began = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", PROGRAM, *ARGUMENTS], env=environment, stdout=subprocess.DEVNULL, check=True
        )
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--against", type=Path)
    asked = parser.parse_args()
    own = Path(__file__).parents[1] / "src"
    sources = [own] if asked.against is None else [asked.against.resolve(), own]
    with tempfile.TemporaryDirectory() as bytecode:
        turns = [[start(source, bytecode) for source in sources] for _ in range(1 + asked.starts)][1:]
    for source, seconds in zip(sources, zip(*turns, strict=True), strict=True):
        name = "these sources" if source == own else "the others"
        shown = ", ".join(f"{value:.2f}" for value in seconds)
        print(f"{name}: median {statistics.median(seconds):.2f} s ({shown})")


if __name__ == "__main__":
    main()
