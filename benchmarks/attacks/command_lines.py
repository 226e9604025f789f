"""Fuzzed command lines: words of the right grammar with values of the wrong kind, and words of no grammar at all.

Each answers, or refuses with exit code 2, without a traceback, in bounded time and memory. Commands that would train
get settings that end at once, or none that can be fulfilled.
"""

import contextlib
import os
import random
import resource
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from attack import Memory, call, main, train

from modgrok.cli import COMMANDS
from modgrok.experiments import Store
from modgrok.experiments.experiment import known_settings

SEED = 12
SECONDS, GIGABYTES = 5.0, 1.0
"""No command may take longer, of the processor's time, or more memory."""
MOST_BYTES = 8 << 30
"""Of addresses: a command that asks for more does not take this machine with it."""
NUMBERS = (
    "0",
    "1",
    "2",
    "-1",
    "3.5",
    "1e9",
    "1e400",
    "nan",
    "inf",
    "-inf",
    "9" * 20,
    "9" * 400,
    "9" * 5000,
    "2147483648",
)
TEXTS = (
    "",
    " ",
    "n + m",
    "n*m",
    "n +",
    "((((n",
    "n ^ 99999999",
    "m" * 3000,
    "random:3",
    "random:x",
    "α",
    "\udcff",
    "\x1b[31m",
    "[red]",
    "-",
    "--",
    "---",
    "/",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/proc/self/mem",
    "/nowhere/file.npy",
    ".",
    "table.npy",
    "deep.json",
    "last",
    "last@3",
    "auto",
    "None",
    "true",
    "{}",
    "seed=0:3",
    "seed=0:99999999999",
    "lr=1e-3:1e3:log",
    "fraction=nan",
    "x=1",
    "=",
)
SUBCOMMANDS = {"runs": ("list", "show", "export", "remove"), "sweep": ("list", "show", "file.toml")}
CHEAP = ("--modulus", "5", "--width", "4", "--steps", "2", "--evaluations", "2", "--snapshots", "1")
TRAINING = ("train", "sweep")
LEFT_OUT = ("critical", "landscape", "reproduce", "lab", "bench")
"""These train, serve or measure for long when they are not refused; they get a wrong flag always."""
FLAGS = (
    "--json",
    "--help",
    "--store",
    "--out",
    "--figure",
    "--step",
    "--top",
    "--task",
    "--form",
    "--modulus",
    "--width",
)


SETTINGS = tuple(f"--{name.replace('_', '-')}" for name in known_settings() if name != "task")
DEEP: dict[tuple[str, ...], tuple[str, ...]] = {
    ("train", "n + m", *CHEAP): (*SETTINGS, "--store"),
    ("train", *CHEAP): ("",),
    ("sweep", "n + m", *CHEAP): (*SETTINGS, "--vary", "--out", "--store"),
    ("sweep", "show"): ("last", "--outcome", "--figure", "--out", "--x", "--y", "--store"),
    ("classify",): ("--modulus",),
    ("classify", "n + m"): ("--modulus",),
    ("classify", "--modulus", "7"): ("",),
    ("solve", "n + m", "--modulus", "7"): ("--form", "--width", "--frequencies", "--activation", "--seed", "--save"),
    ("analyze", "last"): ("--step", "--top", "--figure", "--task", "--store"),
    ("analyze",): ("", "--step"),
    ("runs", "show"): ("", "--store"),
    ("runs", "export"): ("", "--out", "--format", "--store"),
    ("runs", "export", "--format", "tensorboard"): ("--out",),
    ("runs", "remove"): ("",),
}
"""Beginnings of command lines, and flags that belong there; no flag means that a value stands alone."""


def attack(cases: int) -> dict[str, Any]:
    memory = Memory()
    chance, codes, failures, slowest = random.Random(SEED), Counter[int](), list[str](), 0.0
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["MODGROK_STORE"] = str(Path(folder) / "store")
        train(Store())
        Path("table.npy").write_bytes(
            b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (9, 9)}"
        )
        Path("deep.json").write_text("[" * 100_000)
        Path("file.toml").write_text("experiment = 3")
        for number in range(cases):
            words = command_line(chance)
            began = time.process_time()
            answer = call(*words)
            seconds = time.process_time() - began
            slowest = max(slowest, seconds)
            codes[answer.code] += 1
            if answer.fault or seconds > SECONDS:
                shown = [word[:40] for word in words]
                failures.append(f"case {number}, {shown}: {answer.fault or f'{seconds:.1f} s'}")
    gigabytes = memory.gigabytes
    if gigabytes > GIGABYTES:
        failures.append(f"{gigabytes:.1f} GB of memory")
    outcomes = {"answered": codes[0], "refused": codes[2], "answered_in_part": codes[1]}
    return {
        "cases": cases,
        **outcomes,
        "slowest": f"{slowest:.1f} s of CPU",
        "memory": f"{gigabytes:.1f} GB",
        "failures": failures,
    }


def command_line(chance: random.Random) -> list[str]:
    """One flag of a command with any value, or a command with up to three words that are wrong in some way."""
    if chance.random() < 0.6:
        beginning = chance.choice(list(DEEP))
        flag = chance.choice(DEEP[beginning])
        return [*beginning, *filter(None, [flag]), chance.choice((chance.choice(NUMBERS), chance.choice(TEXTS)))]
    name = chance.choice([*COMMANDS, *COMMANDS, "nonsense", "", "-V", "--help"])
    words = [name]
    if name in SUBCOMMANDS and chance.random() < 0.7:
        words.append(chance.choice(SUBCOMMANDS[name]))
    elif name in COMMANDS and (name in TRAINING or chance.random() < 0.8):
        words.append(chance.choice(("n + m", chance.choice(TEXTS))))
        words += CHEAP if name in TRAINING else ()
    for _ in range(chance.randrange(1, 4)):
        words.append(chance.choice((*FLAGS, *SETTINGS, "--vary", "--nothing")))
        if chance.random() < 0.8:
            words.append(chance.choice((chance.choice(NUMBERS), chance.choice(TEXTS))))
    return [*words, "--nothing"] if name in LEFT_OUT else words


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    main("fuzzed command lines", attack, 1000)
