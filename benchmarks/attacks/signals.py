"""Signals at random times of the first seconds of `modgrok train`, while it imports, compiles and trains.

Each ends the program with one sentence and 128 plus the signal's number, soon; and the same command ends as if nothing
had happened.
"""

import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from attack import PATIENCE, main

from modgrok.experiments import Store
from modgrok.experiments.store import check_intact

SEED = 12
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
DURING, SECONDS = 5.0, 5.0
"""Of a program's life, in which the signal comes; and after it, in which it ends."""
PROGRAM = f"""
import signal
for number in {[int(number) for number in NUMBERS]}:
    signal.signal(number, signal.SIG_DFL)
from modgrok.cli import main
main()
"""
"""In the background of a shell script a program ignores some signals, and so would those that it starts."""
SETTINGS = ("n + m", "--modulus", "31", "--width", "100", "--steps", "100000000", "--evaluations", "2000")


def attack(cases: int) -> dict[str, Any]:
    chance, outcomes, failures, slowest = random.Random(SEED), Counter[str](), list[str](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(cases):
            store = Path(folder) / f"{number // 4}"  # Some begin, some go on.
            kind, moment = chance.choice(NUMBERS), chance.uniform(0, DURING)
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, "train", *SETTINGS, "--store", str(store)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            wait_until_it_listens(process)
            time.sleep(moment)
            process.send_signal(kind)
            began = time.monotonic()
            try:
                _, err = process.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                _, err = process.communicate()
            slowest = max(slowest, time.monotonic() - began)
            outcome, wrong = judge(kind, process.returncode, err, time.monotonic() - began)
            outcomes[outcome] += 1
            failures += [f"case {number}, {kind.name} after {moment:.2f} s: {reason}" for reason in wrong]
            failures += [f"case {number}: {reason}" for reason in damaged(Store(store))]
    return {"cases": cases, **outcomes, "slowest_end": f"{slowest:.1f} s", "failures": failures}


def wait_until_it_listens(process: subprocess.Popen[str]) -> None:
    """Before that Python itself is starting, and the system ends it."""
    last = 1 << (NUMBERS[-1] - 1)
    while process.poll() is None:
        found = re.search(r"SigCgt:\s+(\w+)", Path(f"/proc/{process.pid}/status").read_text())
        if found and int(found[1], 16) & last:
            return
        time.sleep(0.01)


def judge(kind: signal.Signals, code: int, err: str, seconds: float) -> tuple[str, list[str]]:
    """What became of a program, and what is wrong with that."""
    wrong = [] if code == 128 + kind else [f"exit code {code}: {err[-300:]}"]
    said = [line for line in err.splitlines() if line.startswith("modgrok: ")]
    if len(said) != 1 or "Traceback" in err:
        wrong.append(f"it said {err[-300:]!r}")
    if seconds > SECONDS:
        wrong.append(f"it took {seconds:.1f} s to end")
    return ("with progress stored" if "Stopped at step" in err else "with nothing to store"), wrong


def damaged(store: Store) -> list[str]:
    found = [f"{run.folder} counts as remains" for run in store.remains()]
    for run in store:
        try:
            check_intact(run, snapshots=True)
        except Exception as error:
            found.append(str(error))
    return found


if __name__ == "__main__":
    main("signals (INT, TERM, HUP, QUIT) at random times of the first 5 seconds", attack, 200)
