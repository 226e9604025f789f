"""Files that lie: entries that are missing, misspelled, of another type, huge or bottomless, under digests that fit;
and networks with wrong ranks, shapes, types and metadata. Every command on them answers or refuses with one sentence.
"""

import json
import random
import re
import shutil
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from attack import Memory, call, main, train

from modgrok.experiments import Experiment, Run, Store
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.record import Record
from modgrok.networks.tensors import tensor_bytes
from modgrok.sealed import UNSEALED, seal

SEED = 12
SECONDS, GIGABYTES = 5.0, 1.0
"""No command may take longer, of the processor's time, or more memory."""
DEEP = "[" * 50_000 + "]" * 50_000
VALUES = (
    "null",
    '"text"',
    "[]",
    "{}",
    "true",
    "-1",
    "1.5",
    "1e999",
    "NaN",
    "9" * 400,
    "9" * 5000,
    "1" + "0" * 12,
    DEEP,
)
JSON_FILES = ("experiment.json", "result.json", "sweep.json")
WEIGHTS = {"w_in": np.ones((4, 2, 11), np.float32), "w_out": np.ones((11, 4), np.float32)}
OWN = {"activation": "quadratic", "parametrization": "mean-field"}
NETWORKS: dict[str, tuple[dict[str, np.ndarray], Any]] = {
    "rank 2": (WEIGHTS | {"w_in": np.ones((4, 22), np.float32)}, OWN),
    "rank 0": (WEIGHTS | {"w_in": np.float32(1).reshape(())}, OWN),
    "other shapes": (WEIGHTS | {"w_out": np.ones((4, 11), np.float32)}, OWN),
    "width 0": ({"w_in": np.ones((0, 2, 11), np.float32), "w_out": np.ones((11, 0), np.float32)}, OWN),
    "no variables": ({"w_in": np.ones((4, 0, 11), np.float32), "w_out": np.ones((11, 4), np.float32)}, OWN),
    "modulus 1": ({"w_in": np.ones((4, 2, 1), np.float32), "w_out": np.ones((1, 4), np.float32)}, OWN),
    "whole numbers": ({name: w.astype(np.int32) for name, w in WEIGHTS.items()}, OWN),
    "truth values": ({name: w.astype(bool) for name, w in WEIGHTS.items()}, OWN),
    "two precisions": (WEIGHTS | {"w_in": np.ones((4, 2, 11))}, OWN),
    "no w_out": ({"w_in": WEIGHTS["w_in"]}, OWN),
    "nothing": ({}, OWN),
    "half complex": ({"w_in_real": WEIGHTS["w_in"], "w_out_real": WEIGHTS["w_out"]}, OWN),
    "complex of two shapes": (
        {f"{name}_{part}": w[: 1 + (part == "real")] for name, w in WEIGHTS.items() for part in ("real", "imag")},
        OWN,
    ),
    "a mean without a deviation": (WEIGHTS | {"mean": np.ones(4, np.float32)}, OWN),
    "long statistics": (WEIGHTS | {"mean": np.ones(9, np.float32), "std": np.ones(9, np.float32)}, OWN),
    "not a number": (WEIGHTS | {"w_out": np.full((11, 4), np.nan, np.float32)}, OWN),
    "infinities": (WEIGHTS | {"w_in": np.full((4, 2, 11), np.inf, np.float32)}, OWN),
    "zeros": ({name: 0 * w for name, w in WEIGHTS.items()}, OWN),
    **{f"metadata {text[:9]}": (WEIGHTS, text) for text in VALUES},
    "no activation": (WEIGHTS, {"parametrization": "mean-field"}),
    "activation null": (WEIGHTS, OWN | {"activation": None}),
    "activation list": (WEIGHTS, OWN | {"activation": ["relu"]}),
    "activation x^huge": (WEIGHTS, OWN | {"activation": "x^" + "9" * 5000}),
    "parametrization 3": (WEIGHTS, OWN | {"parametrization": 3}),
}


def attack(cases: int) -> dict[str, Any]:
    memory = Memory()
    chance, outcomes, failures, slowest = random.Random(SEED), Counter[str](), list[str](), 0.0
    with tempfile.TemporaryDirectory() as folder:
        original, place = Path(folder) / "original", Path(folder) / "store"
        run, _ = train(Store(original))
        Record(Sweep(Experiment("n + m", 11), ["seed=0:3"]), Store(original)).begin()
        networks = list(NETWORKS)
        chance.shuffle(networks)
        for number in range(cases):
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(original, place)
            if number % 2 and networks:
                what = lie_as_network(place / run.id, networks.pop())
            else:
                what = chance.choice((lie_in_json, lie_in_curves))(place, run.id, chance)
            refused = False
            for words in commands(Run(place / run.id)):
                began = time.process_time()
                answer = call(*words)
                seconds = time.process_time() - began
                slowest = max(slowest, seconds)
                refused |= answer.code == 2 or '"reason"' in answer.out
                if answer.fault or seconds > SECONDS or (answer.code and answer.err.count("\n") != 1):
                    said = answer.fault or f"{seconds:.1f} s, {answer.err[:300]}"
                    failures.append(f"case {number}, {what}, {' '.join(words[:2])}: {said}")
            outcomes["refused" if refused else "answered"] += 1
    gigabytes = memory.gigabytes
    if gigabytes > GIGABYTES:
        failures.append(f"{gigabytes:.1f} GB of memory")
    return {
        "cases": cases,
        **outcomes,
        "slowest": f"{slowest:.1f} s of CPU",
        "memory": f"{gigabytes:.1f} GB",
        "failures": failures,
    }


def commands(run: Run) -> list[tuple[str, ...]]:
    store = ("--store", str(run.folder.parent))
    file = str(run.folder / "network.safetensors")
    return [
        ("runs", "list", *store),
        ("runs", "list", "--json", *store),
        ("runs", "show", run.id, *store),
        ("runs", "export", run.id, *store),
        ("analyze", run.id, *store),
        ("analyze", file, "--task", "n + m", "--json"),
        ("sweep", "list", "--json", *store),
        ("sweep", "list", *store),
        ("sweep", "show", "last", "--json", *store),
    ]


def lie_in_json(store: Path, run: str, chance: random.Random) -> str:
    """Replaces, drops or misspells one entry, and seals the file anew."""
    name = chance.choice(JSON_FILES)
    (path,) = store.glob(f"*/*/{name}") if name == "sweep.json" else store.glob(f"{run}/{name}")
    content = json.loads(path.read_text()) | {"digest": UNSEALED}
    inner = chance.choice([content] + [part for part in content.values() if isinstance(part, dict)])
    key = chance.choice([key for key in inner if key != "digest"])
    kind, value = chance.choice(("replace", "replace", "drop", "misspell")), chance.choice(VALUES)
    entry = inner.pop(key)
    if kind == "replace":
        inner[key] = "PLACE"
    elif kind == "misspell":
        inner[f"{key}s"] = entry
    text = re.sub('"PLACE"', lambda _: value, json.dumps(content, indent=1))
    path.write_bytes(seal(text.encode()))
    return f"{name}, {key}, {kind}" + (f" by {value[:12]}" if kind == "replace" else "")


def lie_in_curves(store: Path, run: str, chance: random.Random) -> str:
    """Changes one entry of one line under checksums that fit."""
    path, crc = store / run / "curves.jsonl", zlib.crc32(run.encode())
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    row, value = chance.choice(rows), chance.choice(VALUES)
    key = chance.choice([key for key in row if key != "crc"])
    kind = chance.choice(("replace", "drop", "misspell"))
    entry = row.pop(key)
    if kind == "replace":
        row[key] = "PLACE"
    elif kind == "misspell":
        row[f"{key}s"] = entry
    text = b""
    for one in rows:
        body = json.dumps({k: v for k, v in one.items() if k != "crc"})[:-1].replace('"PLACE"', value).encode()
        crc = zlib.crc32(body, crc)
        text += body + f', "crc": "{crc:08x}"}}\n'.encode()
    path.write_bytes(text)
    return f"curves, {key}, {kind}" + (f" by {value[:12]}" if kind == "replace" else "")


def lie_as_network(folder: Path, name: str) -> str:
    """Another network in the place of the run's."""
    tensors, own = NETWORKS[name]
    text = own if isinstance(own, str) else json.dumps(own)
    metadata = {"modgrok": text, "settings": text, "place": f"{folder.name}@60"}
    (folder / "network.safetensors").write_bytes(tensor_bytes(tensors, metadata))
    return f"network, {name}"


if __name__ == "__main__":
    main("files that lie under fitting digests, then every reading command", attack, 100)
