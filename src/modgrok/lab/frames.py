"""Everything the panels draw of one network, packed into one compact binary message.

Layout: a little-endian uint32 with the length of the JSON header, the header (padded to a multiple of 8), then arrays
at the offsets that the header gives. Weights are 8-bit integers with one scale for every block of every neuron.
"""

import json
import math
import struct
from typing import Any

import numpy as np

from modgrok.experiments.group_analysis import on_group
from modgrok.experiments.stored_json import finite
from modgrok.lab import dissection, limits
from modgrok.lab.panels import has_table
from modgrok.measures import (
    circular_mean,
    circular_spread,
    ipr,
    neuron_vectors,
    neuron_waves,
    power_spectrum,
    readout_spectrum,
    representation_accuracies,
    representation_counts,
)
from modgrok.measures.principal import principal_plane
from modgrok.measures.spectrum import frequency_power
from modgrok.networks import Network, as_numpy
from modgrok.networks.scoring import output_blocks
from modgrok.shapes import Bool, Float, Int
from modgrok.tasks import Task
from modgrok.tasks.basis import Basis
from modgrok.tasks.task import HOLE

LARGEST = 1e9
"""Larger weights, which only a run that diverged has, are cut to this."""


def frame(
    network: Network,
    task: Task,
    train: Int[np.ndarray, "train"] | None,
    coordinate: Basis | None,
    header: dict[str, Any],
) -> bytes:
    """The message for one network; `train` are the flat indices trained on, `header` joins the header."""
    network = as_numpy(network)
    if not network.architecture.has_waves or not task.is_modular or task.structure.product is not None:
        on_vectors = network.architecture.has_waves and on_group(task)
        facts, drawn = _vectors(network, task) if on_vectors else embedding(network, task, coordinate)
        if drawn and dissection.has_circuit(network.architecture, task):
            attended, weights = dissection.picture(network)
            facts, drawn = facts | attended, drawn | weights
        header = header | facts | {"width": 0, "arity": task.arity}
        if not has_table(task) or _table_operations(network, task) > limits.TABLE_PRODUCTS:
            return pack(header, drawn)
        scores, tables = _table(network, task, train)
        return pack(header | scores, drawn | tables)
    network = _within_bounds(network)
    N, S, p = network.w_in.shape
    shown = np.arange(N)[:: -(-(network.w_in.size + network.w_out.size) // limits.FRAME_WEIGHTS)]
    waves = neuron_waves(network, coordinate)
    power = power_spectrum(network.w_in, coordinate)
    raw = power if _is_raw(coordinate, p) else power_spectrum(network.w_in)
    readout = readout_spectrum(network.w_out, coordinate)
    scales, blocks = _eight_bits(np.concatenate([network.w_in, network.w_out.T[:, None]], axis=1)[shown])
    arrays: dict[str, np.ndarray] = {
        "neurons": shown.astype(np.uint32),
        "scales": scales,
        "blocks": blocks,
        "input_spectrum": _shares(power.sum(axis=1))[shown],
        "output_spectrum": _shares(readout)[shown],
        "frequency": waves.frequency[shown].astype(np.uint32),
        "amplitudes": waves.amplitudes[shown].astype(np.float32),
        "phases": waves.phases[shown].astype(np.float32),
        "residual": waves.residual[shown].astype(np.float32),
        "explained": waves.explained[shown].astype(np.float32),
        "ipr": ipr(raw)[shown].astype(np.float32),
        "task_ipr": ipr(power)[shown].astype(np.float32),
    }
    if network.normalization is not None:
        arrays["mean"] = network.normalization.mean[shown].astype(np.float32)
        arrays["std"] = network.normalization.std[shown].astype(np.float32)
    header = header | {
        "width": N,
        "arity": S,
        "modulus": p,
        "length": p if coordinate is None else coordinate.length,
        "activation": network.activation,
        "hidden_scale": network.scales.hidden,
        "output_scale": network.scales.output,
        "phase_mean": finite(circular_mean(waves.residual)),
        "phase_spread": finite(circular_spread(waves.residual).deviation),
        "phase_resultant": finite(circular_spread(waves.residual).resultant),
        "ranking": _ranking(waves.frequency, waves.amplitudes),
    }
    if p**S * N * p <= limits.TABLE_PRODUCTS:
        scores, tables = _table(network, task, train)
        header |= scores
        arrays |= tables
    return pack(header, arrays)


def pack(header: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """Header and arrays as one message."""
    places, parts, offset = {}, [], 0
    for name, array in arrays.items():
        content = np.ascontiguousarray(array).tobytes()
        places[name] = {"type": array.dtype.name, "shape": list(array.shape), "offset": offset}
        padding = -len(content) % 8
        parts += [content, b"\0" * padding]
        offset += len(content) + padding
    text = json.dumps(header | {"arrays": places}, allow_nan=False).encode()
    text += b" " * (-(len(text) + 4) % 8)
    return struct.pack("<I", len(text)) + text + b"".join(parts)


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What `pack` packed."""
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    arrays = {}
    for name, place in header.pop("arrays").items():
        count = int(np.prod(place["shape"]))
        flat = np.frombuffer(message, place["type"], count, 4 + length + place["offset"])
        arrays[name] = flat.reshape(place["shape"])
    return header, arrays


def _table_operations(network: Network, task: Task) -> float:
    """Multiplications that the outputs over a whole table take."""
    return math.prod(task.sizes) * network.architecture.cost(task.signature).flops / 2


def _vectors(network: Network, task: Task) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a network on a group: how its neurons are dealt to representations, and how near each is to
    the closed form."""
    basis = task.structure.basis
    assert basis is not None
    network = _within_bounds(network)
    found = neuron_vectors(network, basis)
    counts, expected = representation_counts(found, basis)
    header = {
        "group": task.structure.group,
        "representation_names": basis.names,
        "representation_counts": counts.tolist(),
        "representation_expected": expected.tolist(),
    }
    if _table_operations(network, task) <= limits.TABLE_PRODUCTS:
        without, alone = representation_accuracies(network, task.table, found)
        header |= {f"representation_{name}": x for name, x in (("without", without), ("alone", alone))}
    arrays = {
        "neuron_representation": found.representation.astype(np.uint32),
        "neuron_share": found.share.astype(np.float32),
        "neuron_rank_one": found.rank_one.min(axis=1).astype(np.float32),
        "neuron_agreement": found.agreement.astype(np.float32),
    }
    return header, arrays


def _first_vectors(network: Network, task: Task) -> Float[np.ndarray, "value d"] | None:
    """The weights that read each value of the first variable; None where none read numbers."""
    signature = task.signature
    if not signature.sizes or signature.signs:
        return None
    read = network.architecture.input_weights(network.parameters, signature)
    return None if read is None else np.asarray(read)[:, 0].T[: signature.sizes[0]]


def embedding(network: Network, task: Task, coordinate: Basis | None) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a frame: the share of the vectors' power at each frequency, along the coordinate, where the
    task has one; every vector in the plane of the first two principal components, and their shares of the variance."""
    found = _first_vectors(network, task)
    if found is None or not np.isfinite(found).all():
        return {}, {}
    arrays: dict[str, np.ndarray] = {}
    if task.structure.coordinate is not None:
        along = coordinate and Basis(coordinate.length, coordinate.index[:1], coordinate.readout)
        power = frequency_power(found.T[:, None, :].astype(np.float64), along)
        power[0] = 0  # The mean, which says nothing of the numbers.
        arrays["embedding_spectrum"] = (power / (power.sum() or 1)).astype(np.float32)
    places, shares = principal_plane(found.astype(np.float64))
    arrays["embedding_plane"] = places.astype(np.float32)
    return {"embedding_shares": shares, "embedding_size": found.shape[1]}, arrays


def _is_raw(coordinate: Basis | None, modulus: int) -> bool:
    """Whether a coordinate leaves every number at its own place."""
    places = np.arange(modulus)
    return coordinate is None or (
        coordinate.length == modulus and all(np.array_equal(index, places) for index in coordinate.index)
    )


def _within_bounds(network: Network) -> Network:
    """The network with weights that can be squared and added up: those of a run that diverged are cut or zero."""
    w_in, w_out = (np.nan_to_num(w, nan=0).clip(-LARGEST, LARGEST) for w in (network.w_in, network.w_out))
    return network.replace(w_in=w_in, w_out=w_out)


def _eight_bits(blocks: Float[np.ndarray, "N B p"]) -> tuple[np.ndarray, np.ndarray]:
    scales = np.abs(blocks).max(axis=2) / 127
    safe = np.where(scales > 0, scales, 1)
    return scales.astype(np.float32), np.round(blocks / safe[..., None]).astype(np.int8)


def _shares(power: Float[np.ndarray, "N L"]) -> np.ndarray:
    """Square root of each frequency's share of a neuron's power, 0 … 255, k and L − k together."""
    L = power.shape[1]
    folded = power[:, : L // 2 + 1].copy()
    folded[:, 1 : (L + 1) // 2] *= 2
    total = folded.sum(axis=1, keepdims=True)
    return np.round(255 * np.sqrt(np.divide(folded, total, out=np.zeros_like(folded), where=total > 0))).astype(
        np.uint8
    )


def _ranking(frequency: Int[np.ndarray, "N"], amplitudes: Float[np.ndarray, "N B"]) -> list[tuple[int, int, float]]:
    """Frequencies that occur, with their number of neurons and share of all wave power, strongest first."""
    power = np.nan_to_num(np.square(amplitudes)).sum(axis=1)
    total = power.sum() or 1.0
    chosen = {int(k): frequency == k for k in np.unique(frequency) if k > 0}
    found = [(k, int(where.sum()), float(power[where].sum() / total)) for k, where in chosen.items()]
    return sorted(found, key=lambda row: -row[2])


def _table(
    network: Network, task: Task, train: Int[np.ndarray, "train"] | None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Scores on the trained inputs and on the others, and for two variables the answers and their margins; inputs that
    do not occur count nowhere."""
    answers = task.table.reshape(-1)
    guesses, margins, squares = [], [], []
    start = 0
    for block in output_blocks(network):
        out = np.array(np.nan_to_num(block, nan=0))
        right = np.maximum(answers[start : start + len(out)], 0)
        rows = np.arange(len(out))
        value = out[rows, right].copy()
        guesses.append(out.argmax(axis=1))
        out[rows, right] = -np.inf
        margins.append(value - out.max(axis=1))
        out[rows, right] = value - 1
        squares.append(np.square(out, dtype=np.float64).mean(axis=1))
        start += len(out)
    guess, margin, loss = (np.concatenate(parts) for parts in (guesses, margins, squares))
    occurs = answers != HOLE
    trained = np.zeros(len(answers), dtype=bool)
    if train is not None:
        trained[train] = True
    correct = guess == answers
    scores = {
        "accuracy": _mean(correct, occurs),
        "loss": _mean(loss, occurs),
        "train_accuracy": _mean(correct, trained),
        "test_accuracy": _mean(correct, occurs & ~trained),
        "train_loss": _mean(loss, trained),
        "test_loss": _mean(loss, occurs & ~trained),
        "sizes": list(task.table.shape),
        "answers_count": task.answers,
    }
    if task.arity != 2:
        return scores, {}
    shape = task.table.shape
    return scores, {
        "predictions": guess.astype(np.uint16).reshape(shape),
        "margins": margin.astype(np.float32).reshape(shape),
    }


def _mean(values: np.ndarray, where: Bool[np.ndarray, "input"]) -> float | None:
    return finite(values[where].mean()) if where.any() else None
