"""Random changes to one file of a run, finished or not, then every reading command and `train`.

Every command either says exactly what it says of the unchanged run, or refuses and names what it refuses; and training
ends with the bytes of a run that was never changed.
"""

import json
import random
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from attack import call, contents, files_of, main, train

from modgrok.errors import Damaged
from modgrok.experiments import Run, Store
from modgrok.experiments.run import STATE

SEED = 12


def attack(cases: int) -> dict[str, Any]:
    chance, outcomes, failures = random.Random(SEED), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        originals = {"finished": None, "unfinished": 6}
        for name, calls in originals.items():
            train(Store(Path(folder) / name), calls)
        reference = contents(next(iter(Store(Path(folder) / "finished"))))
        expected = {}
        for number in range(cases):
            name = chance.choice(list(originals))
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(Path(folder) / name, place)
            (run,) = Store(place)
            if name not in expected:
                expected[name] = {words: call(*words).out for words in commands(run)}
            path = chance.choice(list(files_of(run)))
            what = mutate(path, chance)
            case = f"case {number}, {name}, {path.relative_to(run.folder)}, {what}"
            refused, wrong = judge(run, path, expected[name])
            remarks = train(Store(place))[1]
            found, right = contents(run), dict(reference)
            if path.name == STATE:  # Only a longer run reads it, and this one is what it was.
                refused |= state_is_refused(run, right)
                found.pop(STATE, None)
                right.pop(STATE, None)
            if found != right:
                wrong.append("the run that was trained differs")
            refused = refused or bool(remarks)
            outcomes["refused by name" if refused else "provably unused"] += 1
            failures += [f"{case}: {reason}" for reason in wrong]
    return {"cases": cases, **outcomes, "failures": failures}


def state_is_refused(run: Run, reference: dict[str, bytes]) -> bool:
    """Whether a longer run would be told that this one's last state is damaged; True where there is none any more."""
    if not run.keeps_state or contents(run)[STATE] == reference[STATE]:
        return not run.keeps_state
    try:
        run.read_state()
    except Damaged:
        return True
    raise AssertionError("A damaged state is read.")


def commands(run: Run) -> list[tuple[str, ...]]:
    """Every command that reads a run."""
    store = ("--store", str(run.folder.parent))
    steps = [("analyze", run.id, "--step", str(step), "--json", *store) for step in run.snapshots]
    return [
        ("runs", "list", "--json", *store),
        ("runs", "show", run.id, "--json", *store),
        ("runs", "export", *store),
        ("analyze", run.id, "--json", *store),
        *steps,
    ]


def judge(run: Run, path: Path, expected: dict[tuple[str, ...], str]) -> tuple[bool, list[str]]:
    """Whether a command refused what it found, and what it did wrong."""
    refused, wrong = False, []
    for words, right in expected.items():
        answer = call(*words)
        if answer.fault is not None:
            wrong.append(f"{words[0]} {words[1]}: {answer.fault}")
        elif answer.out == right:
            continue
        elif "list" in words and (reason := json.loads(answer.out)["runs"][0].get("reason")):
            refused = True
            if run.id not in reason:
                wrong.append(f"the list does not name it: {reason}")
        elif answer.code == 2 and answer.err.count("\n") == 1 and (path.name in answer.err or run.id in answer.err):
            refused = True
        else:
            wrong.append(f"{words[0]} {words[1]} says something else: {(answer.out + answer.err)[:300]}")
    return refused, wrong


def mutate(path: Path, chance: random.Random) -> str:
    """Changes a file, and says how."""
    content = bytearray(path.read_bytes())
    kinds = ("bit", "byte", "cut", "delete", "insert", "zeros", "double", "gone")
    kind = chance.choice(kinds[:-1] if path.name == "result.json" else kinds)  # Without a result a run has not ended.
    at = chance.randrange(len(content))
    length = min(len(content) - at, chance.choice((1, 3, 16, 200)))
    if kind == "bit":
        content[at] ^= 1 << chance.randrange(8)
    elif kind == "byte":
        content[at] = (content[at] + chance.randrange(1, 256)) % 256
    elif kind == "cut":
        del content[at:]
    elif kind == "delete":
        del content[at : at + length]
    elif kind == "insert":
        content[at:at] = chance.randbytes(length)
    elif kind == "zeros":
        content[at : at + length] = bytes(length)
    elif kind == "double":
        content[at:at] = content[at : at + length]
    path.unlink() if kind == "gone" else path.write_bytes(content)
    return f"{kind} at {at}"


if __name__ == "__main__":
    main("random changes to a file of a run, then every reading command and train", attack, 500)
