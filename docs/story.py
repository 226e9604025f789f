"""Trains the runs of the story and writes its replay, in about a minute on two cores.

    python docs/story.py

One run of n + m mod 59 at a quarter of its table and its control, the same network on random answers: their weights at
the steps where something moves, rounded to 6 bits, and the margin of every cell. And the curves and last answers of
four other functions. Numbers that the prose states are measured on the unrounded weights, except those under the
eraser, which the page computes from what it has.
"""

import dataclasses
import gzip
import math
import tempfile
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Observer, Run, Store
from modgrok.experiments.train import train_stored
from modgrok.lab import story
from modgrok.lab.frames import pack
from modgrok.measures import circular_spread, neuron_waves, waves_only
from modgrok.networks import Network, as_numpy, predictions
from modgrok.networks.scoring import output_blocks
from modgrok.shapes import Float, Int

RUN = Experiment(
    "n + m", 59, width=128, fraction=0.25, optimizer="adamw", lr=0.1, steps=5000, evaluations=150, snapshots=150
)
CONTROL = dataclasses.replace(RUN, task="random:0")
"""The same cells with random answers: there is nothing but memory to learn."""
OTHERS = (
    Experiment("n * m", 59, width=128, fraction=0.4, lr=0.1, steps=3000, evaluations=60, snapshots=0),
    Experiment("n^2 + m^2", 59, width=128, fraction=0.5, lr=0.1, steps=3000, evaluations=60, snapshots=0),
    Experiment("n^2 + m^2 + n*m", 59, width=256, fraction=0.8, lr=0.1, steps=3000, evaluations=60, snapshots=0),
    Experiment("n^3 + n*m^2 + m", 59, width=500, fraction=0.9, lr=0.1, steps=2000, evaluations=60, snapshots=0),
)
FRAMES, CONTROL_FRAMES = 28, 5
LEVELS = 31
"""Weights are whole numbers from −31 to 31 with a scale for every block of every neuron."""
CURVES = ("step", "train_accuracy", "test_accuracy")
MEMORIZED = 0.99
PURE = 0.9
"""A neuron is pure where one wave explains this share of its weights."""


def make(store: Store) -> bytes:
    """The replay of the story; runs that the store does not hold are trained."""
    train_stored([experiment.resolve() for experiment in (RUN, CONTROL, *OTHERS)], store, Observer())
    run, control = store.find(RUN.id), store.find(CONTROL.id)
    # Off its examples the control is asked for n + m: does the eraser make sums of anything?
    asked = np.where(_trained(control).reshape(run.task.table.shape), control.task.table, run.task.table)
    header, arrays = _weights(run, run.task.table, FRAMES)
    controlled, extra = _weights(control, asked, CONTROL_FRAMES)
    controlled["measured"] = {name: controlled["measured"][name] for name in CURVES[:2]}
    last = as_numpy(run.network)
    header |= {
        **{name: getattr(run.experiment, name) for name in ("task", "modulus", "width", "fraction", "optimizer")},
        **{"lr": run.experiment.lr, "weight_decay": run.experiment.weight_decay, "pure": PURE},
        "arity": last.arity,
        "activation": last.activation,
        "hidden_scale": last.scales.hidden,
        "output_scale": last.scales.output,
        "control": controlled,
        "others": [],
    }
    arrays |= {f"control_{name}": array for name, array in extra.items()}
    arrays["trained"] = _trained(run).astype(np.uint8)
    for other in OTHERS:
        found = store.find(other.id)
        header["others"].append(_outcome(found))
        arrays[f"right_{other.resolve().task}"] = np.packbits(_right(as_numpy(found.network), found.task.table))
        arrays[f"trained_{other.resolve().task}"] = np.packbits(_trained(found))
    return gzip.compress(pack(header, arrays), 9, mtime=0)


def _weights(run: Run, table: Int[np.ndarray, "p p"], frames: int) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Steps and measures of a run, and at these steps its weights, and its margins where `table` has the answers."""
    measured = _measure(run, table)
    steps = _moving(measured, frames)
    networks = [as_numpy(run.snapshot(int(step))) for step in steps]
    blocks = np.stack([np.concatenate([net.w_in, net.w_out.T[:, None]], axis=1) for net in networks])
    scales = np.abs(blocks).max(axis=-1) / LEVELS
    header = {
        "steps": [int(step) for step in steps],
        "measured": {name: _short(values) for name, values in measured.items()},
    }
    return header, {
        "scales": scales.astype(np.float32),
        "blocks": np.round(blocks / np.where(scales > 0, scales, 1)[..., None]).astype(np.int8),
        "margins": np.stack([_seven_bits(_margins(net, table)) for net in networks]),
        "answers": table.astype(np.uint8),
    }


def _measure(run: Run, table: Int[np.ndarray, "p p"]) -> dict[str, np.ndarray]:
    """The curves of a run, and at every snapshot what they hide: phases, purity, and the answers of its waves alone."""
    coordinate = run.task.structure.coordinate
    _, test = run.experiment.split.divide(run.task)
    found: dict[str, list[float]] = {name: [] for name in ("spread", "pure", "explained", "waves_only")}
    for step in run.snapshots:
        network = run.snapshot(step)
        waves = neuron_waves(network, coordinate)
        right = _right(as_numpy(waves_only(network, coordinate)), table)
        found["spread"].append(circular_spread(waves.residual).deviation)
        found["pure"].append(float(np.mean(waves.explained > PURE)))
        found["explained"].append(float(np.mean(waves.explained)))
        found["waves_only"].append(float(right.reshape(-1)[test].mean()))
    rows = np.searchsorted(run.history["step"], run.snapshots)
    return {name: np.asarray(run.history[name])[rows] for name in CURVES} | {k: np.array(v) for k, v in found.items()}


def _moving(measured: dict[str, np.ndarray], frames: int) -> Int[np.ndarray, "frame"]:
    """Steps at equal distances along what a viewer sees change: logarithmic time, both accuracies, phases, purity;
    one of them is where the examples are memorized."""
    time = np.log1p(measured["step"])
    path = np.stack(
        [2 * time / time[-1], *(measured[name] for name in (*CURVES[1:], "explained")), measured["spread"] / math.pi]
    )
    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(path, axis=1), axis=0))])
    wanted = np.linspace(0, length[-1], frames)
    places = np.abs(length[:, None] - wanted).argmin(axis=0)
    memorized = np.argmax(measured["train_accuracy"] >= MEMORIZED)
    places[np.argmin(np.abs(places - memorized))] = memorized
    return measured["step"][np.unique(places)].astype(int)


def _margins(network: Network, table: Int[np.ndarray, "p p"]) -> Float[np.ndarray, "input"]:
    """Output at the right answer less the largest of the others, of every input."""
    out = np.concatenate(list(output_blocks(network)))
    rows, right = np.arange(len(out)), table.reshape(-1)
    value = out[rows, right].copy()
    out[rows, right] = -np.inf
    return value - out.max(axis=1)


def _seven_bits(margins: Float[np.ndarray, "input"]) -> Int[np.ndarray, "input"]:
    """Margins as −127 … 127 whose sign, right or wrong, survives."""
    rounded = np.round(127 * margins / np.abs(margins).max())
    return np.where(rounded == 0, np.where(margins > 0, 1, -1), rounded).astype(np.int8)


def _right(network: Network, table: Int[np.ndarray, "p p"]) -> np.ndarray:
    return np.asarray(predictions(network)).reshape(table.shape) == table


def _trained(run: Run) -> np.ndarray:
    train, _ = run.experiment.split.divide(run.task)
    return np.isin(np.arange(run.task.table.size), train)


def _outcome(run: Run) -> dict[str, Any]:
    result = run.result
    assert result is not None
    names = ("task", "width", "fraction")
    return {
        **{name: getattr(run.experiment, name) for name in names},
        "curves": {name: _short(np.asarray(run.history[name])) for name in CURVES},
        "structure": run.task.structure.kind,
    }


def _short(values: np.ndarray) -> list[float]:
    return [int(x) if float(x).is_integer() else round(float(x), 5) for x in values]


def main() -> None:
    """Writes the replay where the page looks for it."""
    with tempfile.TemporaryDirectory() as folder:
        content = make(Store(folder))
    story.REPLAY.write_bytes(content)
    print(f"{story.REPLAY.name}: {len(content)} bytes")


if __name__ == "__main__":
    main()
