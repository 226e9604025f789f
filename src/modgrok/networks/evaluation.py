"""Loss and accuracy of a network over inputs or over a whole table, in blocks that bound the memory."""

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Inexact, Integer

from modgrok.errors import ModgrokError
from modgrok.networks.network import Network, Normalization, grid, hidden, outputs, read_out

BLOCK_BYTES = 1 << 26


@dataclass(frozen=True)
class Score:
    """How well a network answers a set of inputs."""

    loss: float
    """Mean squared distance to the one-hot answer, averaged over inputs and outputs."""
    accuracy: float
    """Share of inputs whose largest output is the right answer."""


def score(network: Network, inputs: Integer[np.ndarray, "input S"], answers: Integer[np.ndarray, "input"]) -> Score:
    """Mean squared error and accuracy on the given inputs."""
    if len(inputs) == 0:
        raise ModgrokError("A score needs at least one input, and the set of inputs is empty.")
    return _score(network, ((inputs[part], answers[part]) for part in _blocks(network, len(inputs))))


def score_table(network: Network, table: Integer[np.ndarray, "*inputs"]) -> Score:
    """Mean squared error and accuracy over all p^S inputs of a table."""
    flat = table.reshape(-1)
    return _score(
        network,
        ((grid(network.modulus, network.arity, part.start, part.stop), flat[part]) for part in _table_blocks(network)),
    )


def output_blocks(network: Network) -> Iterator[Inexact[np.ndarray, "input p"]]:
    """Outputs over all p^S inputs, block after block in the order of a raveled table."""
    for part in _table_blocks(network):
        yield outputs(network, grid(network.modulus, network.arity, part.start, part.stop))


def predictions(network: Network) -> Integer[np.ndarray, "*inputs"]:
    """The table of answers that the network gives."""
    return _as_table(network, [out.argmax(axis=1) for out in output_blocks(network)])


def hidden_map(network: Network, neuron: int) -> Inexact[np.ndarray, "*inputs"]:
    r"""$h^{(1)}_k$ of one neuron over all inputs (third row of the paper's figure of preactivations)."""
    norm = network.normalization
    part = slice(neuron, neuron + 1)
    single = dataclasses.replace(
        network,
        w_in=network.w_in[part],
        w_out=network.w_out[:, part],
        normalization=None if norm is None else Normalization(norm.mean[part], norm.std[part]),
    )
    return _as_table(network, [hidden(single, grid(network.modulus, network.arity))[:, 0]])


def output_map(network: Network, answer: int) -> Inexact[np.ndarray, "*inputs"]:
    r"""$h^{(2)}_q$ of one answer over all inputs (first row of the paper's figure of preactivations)."""
    one = slice(answer, answer + 1)
    blocks = (grid(network.modulus, network.arity, part.start, part.stop) for part in _table_blocks(network))
    return _as_table(network, [read_out(network, hidden(network, inputs), one)[:, 0] for inputs in blocks])


def _score(network: Network, blocks: Iterable[tuple[np.ndarray, np.ndarray]]) -> Score:
    squares, correct, total = 0.0, 0, 0
    for inputs, answers in blocks:
        out = outputs(network, inputs)
        correct += int((out.argmax(axis=1) == answers).sum())
        total += len(answers)
        out[np.arange(len(answers)), answers] -= 1
        squares += float(np.square(out, dtype=np.float64).sum())
    return Score(squares / (total * network.modulus), correct / total)


def _blocks(network: Network, total: int) -> Iterator[slice]:
    rows = max(1, BLOCK_BYTES // (network.dtype.itemsize * (2 * network.width + network.modulus)))
    for start in range(0, total, rows):
        yield slice(start, min(start + rows, total))


def _table_blocks(network: Network) -> Iterator[slice]:
    return _blocks(network, network.modulus**network.arity)


def _as_table(network: Network, parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).reshape((network.modulus,) * network.arity)
