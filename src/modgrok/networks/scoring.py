"""Loss and accuracy of a network over inputs or over a whole table, in blocks that bound the memory."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.networks.network import Network, as_rows, grid, network_of, outputs
from modgrok.networks.two_layer import hidden
from modgrok.shapes import Inexact, Integer
from modgrok.tasks import Task

BLOCK_BYTES = 1 << 26


@dataclass(frozen=True)
class Score:
    """How well a network answers a set of inputs."""

    loss: Any
    """By default the mean squared distance to the one-hot answer, averaged over inputs and outputs."""
    accuracy: Any
    """Share of inputs whose largest output is the right answer."""
    loss_name: str = "mse"
    """Which loss it is: another where a run was trained with one."""


def score(subject: Any, inputs: Any, answers: Any) -> Score:
    """Mean squared error and accuracy of a network, or of a run's, on the given inputs."""
    network = network_of(subject)
    if not hasattr(inputs, "dtype") and len(inputs) > 0:
        inputs, answers = as_rows(inputs, network.signature), np.asarray(answers)
    if len(inputs) == 0:
        raise ModgrokError("A score needs at least one input, but the set is empty.")
    return _score(network, ((inputs[part], answers[part]) for part in blocks(network, len(inputs))))


def score_table(subject: Any, table: Any) -> Score:
    """Mean squared error and accuracy of a network, or of a run's, over all inputs of a table or a task that occur."""
    network, table = network_of(subject), np.asarray(table.table if isinstance(table, Task) else table)
    sizes, found = network.signature.sizes, np.shape(table)
    if found != sizes:
        raise ModgrokError(
            f"The table of answers has an entry for each input of the network, shape {sizes}, and this has shape "
            f"{found}; take that of the network's own task, `task.table`."
        )
    flat = np.asarray(table).reshape(-1)
    parts = ((grid(table.shape, part.start, part.stop), flat[part]) for part in blocks(network, flat.size))
    return _score(network, ((inputs[answers >= 0], answers[answers >= 0]) for inputs, answers in parts))


def output_blocks(network: Network) -> Iterator[Inexact[Any, "input q"]]:
    """Outputs over all inputs, block after block in the order of a raveled table."""
    sizes = network.signature.sizes
    for part in blocks(network, int(np.prod(sizes))):
        yield outputs(network, grid(sizes, part.start, part.stop))


def predictions(subject: Any) -> Integer[np.ndarray, "*inputs"]:
    """The table of answers of a network, or of a run's."""
    network = network_of(subject)
    found = [np.asarray(out.argmax(axis=1)) for out in output_blocks(network)]
    return np.concatenate(found).reshape(network.signature.sizes)


def hidden_map(network: Network, neuron: int) -> Inexact[np.ndarray, "*inputs"]:
    r"""$h^{(1)}_k$ of one neuron over all inputs (third row of the paper's figure of preactivations)."""
    part = slice(neuron, neuron + 1)
    chosen = {name: value[..., part] for name, value in network.parameters.items()}
    single = Network(network.architecture, network.signature, chosen)
    return hidden(single, grid(network.signature.sizes)).reshape(network.signature.sizes)


def output_map(network: Network, answer: int) -> Inexact[np.ndarray, "*inputs"]:
    r"""$h^{(2)}_q$ of one answer over all inputs (first row of the paper's figure of preactivations)."""
    return np.concatenate([out[:, answer] for out in output_blocks(network)]).reshape(network.signature.sizes)


def blocks(network: Network, total: int) -> Iterator[slice]:
    """Blocks of inputs whose activations fit into `BLOCK_BYTES`."""
    kept = 2 * network.architecture.cost(network.signature).activations + network.signature.outputs
    rows = max(1, BLOCK_BYTES // (network.dtype.itemsize * kept))
    for start in range(0, total, rows):
        yield slice(start, min(start + rows, total))


def _score(network: Network, parts: Iterable[tuple[Any, Any]]) -> Score:
    squares: Any = 0.0
    correct: Any = 0
    total = 0
    for inputs, answers in parts:
        out = outputs(network, inputs)
        xp = namespace(out)
        wide = out.astype(np.float64) if xp is np else out
        one_hot = (np.arange(out.shape[1])[None, :] == np.asarray(answers)[:, None]).astype(wide.dtype)
        correct = correct + (out.argmax(axis=1) == answers).sum()
        squares = squares + ((wide - one_hot) ** 2).sum()
        total += len(answers)
    if isinstance(squares, np.floating):
        squares, correct = float(squares), int(correct)
    return Score(squares / (total * network.signature.outputs), correct / total)
