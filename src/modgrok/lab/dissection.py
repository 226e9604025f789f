"""What the page draws of a one-layer transformer on a circle: its progress measures, waves and attention."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.lab import limits
from modgrok.measures.circuit import Circuit
from modgrok.measures.progress_measures import (
    cross_entropy,
    embedding_and_readout,
    excluded_logits,
    frequency_norms,
    key_frequencies,
    restricted_logits,
    squared_error,
    sum_power,
)
from modgrok.networks import Architecture, Network
from modgrok.shapes import Int
from modgrok.tasks import Task
from modgrok.tasks.basis import Basis


def has_circuit(architecture: Architecture, task: Task) -> bool:
    """Whether `Circuit` takes the network apart, on a task whose values and answers lie once each on a circle."""
    made: Any = architecture
    if made.name != "transformer" or made != type(made)(width=made.width, heads=made.heads, hidden=made.hidden):
        return False
    along = task.structure.coordinate if task.arity == 2 and task.is_modular and task.codes is None else None
    if along is None or len(np.unique(along.readout)) < along.length:
        return False
    once = all(np.array_equal(np.sort(index[index >= 0]), np.arange(along.length)) for index in along.index)
    return once and task.modulus**2 * (task.modulus + (made.hidden or 4 * made.width)) <= limits.CIRCUIT_FLOATS


def keys_of(network: Network, task: Task) -> tuple[int, ...]:
    """The key frequencies of a network, by its readout from the neurons."""
    along = _coordinate(task)
    return key_frequencies(embedding_and_readout(network)[1][along.readout])


def progress(
    network: Network, task: Task, train: Int[np.ndarray, "train"], keys: Sequence[int], loss: str
) -> dict[str, Any]:
    """Restricted loss over all pairs and excluded loss over the training pairs, both in the loss that was trained; and
    which share of the power each frequency 1, 2, … has: in the embedding, and as waves of the sum in the logits."""
    along = _coordinate(task)
    first, second = (np.argsort(index)[-along.length :] for index in along.index)
    trained = np.isin(np.arange(task.table.size), train).reshape(task.table.shape)[np.ix_(first, second)]
    logits = Circuit(network).logits[np.ix_(first, second, along.readout)]
    places = np.arange(along.length)
    answers = (places[:, None] + places) % along.length
    measured = squared_error if loss == "mse" else cross_entropy
    power = np.square(frequency_norms(embedding_and_readout(network)[0][first]))
    return {
        "restricted": measured(restricted_logits(logits, keys), answers),
        "excluded": measured(excluded_logits(logits, keys), answers, trained),
        "embedding": np.nan_to_num(power / (power.sum() or 1)).round(4).tolist(),
        "logits": np.nan_to_num(sum_power(logits)).round(4).tolist(),
    }


def picture(network: Network) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Header and arrays of a frame: the attention of every head at every pair, 0 … 255, and each head's frequency."""
    circuit = Circuit(network)
    heads = [{"frequency": k, "explained": float(np.nan_to_num(share))} for k, share in circuit.heads()]
    return {"heads": heads}, {"attention": np.round(255 * np.nan_to_num(circuit.attention)).astype(np.uint8)}


def _coordinate(task: Task) -> Basis:
    assert task.structure.coordinate is not None
    return task.structure.coordinate
