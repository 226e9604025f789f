"""Signals at random times of the first seconds of `modgrok train`, while it imports, compiles and trains.

Each ends the program with one sentence and 128 plus the signal's number, soon; and the same command ends as if nothing
had happened.
"""

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from attack import main

from modgrok.experiments import Store
from modgrok.experiments.store import check_intact

SEED = 12
NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
WITHIN = 5.0
"""Seconds of a program's life in which the signal comes, and then those in which it ends."""
BORN = 0.1
"""Before that Python itself is starting, and the system ends it."""
PROGRAM = "from modgrok.cli import main; main()"
SETTINGS = ("n + m", "--modulus", "31", "--width", "100", "--steps", "100000000", "--evaluations", "2000")


def attack(cases: int) -> dict[str, Any]:
    chance, outcomes, failures, slowest = random.Random(SEED), Counter[str](), list[str](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(cases):
            store = Path(folder) / f"{number // 4}"  # Some begin, some go on.
            kind, moment = chance.choice(NUMBERS), chance.uniform(0, WITHIN)
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, "train", *SETTINGS, "--store", str(store)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=_listen,
            )
            time.sleep(moment)
            process.send_signal(kind)
            began = time.monotonic()
            try:
                _, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                _, err = process.communicate()
            slowest = max(slowest, time.monotonic() - began)
            outcome, wrong = judge(kind, moment, process.returncode, err, time.monotonic() - began)
            outcomes[outcome] += 1
            failures += [f"case {number}, {kind.name} after {moment:.2f} s: {reason}" for reason in wrong]
            failures += [f"case {number}: {reason}" for reason in damaged(Store(store))]
    return {"cases": cases, **outcomes, "slowest_end": f"{slowest:.1f} s", "failures": failures}


def _listen() -> None:
    """A program in the background of a shell script ignores some signals, and so would those that it starts."""
    for number in NUMBERS:
        signal.signal(number, signal.SIG_DFL)


def judge(kind: signal.Signals, moment: float, code: int, err: str, seconds: float) -> tuple[str, list[str]]:
    """What became of a program, and what is wrong with that."""
    if moment < BORN and code in (-kind, 1) and "modgrok:" not in err:
        return "ended before modgrok began", []
    wrong = [] if code == 128 + kind else [f"exit code {code}: {err[-300:]}"]
    said = [line for line in err.splitlines() if line.startswith("modgrok: ")]
    if len(said) != 1 or "Traceback" in err:
        wrong.append(f"it said {err[-300:]!r}")
    if seconds > WITHIN:
        wrong.append(f"it took {seconds:.1f} s to end")
    return ("with progress stored" if "goes on from there" in err else "with nothing to store"), wrong


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
