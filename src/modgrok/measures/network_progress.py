"""Progress measures of a network that answers pairs modulo p, whatever its architecture (arXiv 2301.05217)."""

from collections.abc import Iterable

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures import progress_measures as measures
from modgrok.measures.ipr import average_ipr
from modgrok.measures.progress_measures import Among
from modgrok.networks import Network, grid, outputs
from modgrok.shapes import Float, Integer

Table = Integer[np.ndarray, "..."]
"""Of a task; `logits_of` refuses those that are not of pairs modulo p."""
LOSSES = {"cross_entropy": measures.cross_entropy, "mse": measures.squared_error}
"""With which the measures are taken; for networks trained with another loss that is cross-entropy."""


def embedding_and_readout(network: Network) -> tuple[Float[np.ndarray, "p a"], Float[np.ndarray, "p b"]]:
    """$W_E$ and $W_L$: the weights that read a number, and what the last hidden layer says to the answers; of a
    transformer its embedding and $W_U W_{out}$ of the last block."""
    p, w, made = network.signature.outputs, network.parameters, network.architecture
    read = made.input_weights(w, network.signature)
    if read is None or read.shape[2] != p:
        raise ModgrokError(f"Progress measures need a network that answers numbers modulo p, not {made.name}.")
    readout = np.asarray(made.last_layer(w), np.float64)[:p]
    if made.name == "transformer":
        readout = readout @ np.asarray(w[f"blocks.mlp.{network.layers - 1}.out.weight"], np.float64)
    return np.asarray(read, np.float64).reshape(-1, p).T, readout


def key_frequencies_of(network: Network) -> tuple[int, ...]:
    """The frequencies whose norm in $W_L$ is above a quarter of the largest."""
    return measures.key_frequencies(embedding_and_readout(network)[1])


def network_progress(
    network: Network,
    answers: Table,
    trained: Among = None,
    keys: Iterable[int] | None = None,
    loss: str = "cross_entropy",
) -> dict[str, float]:
    """Losses on the training and test pairs, restricted and excluded loss for the key frequencies, Gini coefficients
    and the sum of squared weights; without a training set the excluded loss is that of all pairs."""
    logits, (embedding, readout) = logits_of(network), embedding_and_readout(network)
    keys = measures.key_frequencies(readout) if keys is None else tuple(keys)
    of = LOSSES.get(loss, measures.cross_entropy)
    parts = {"loss": None} if trained is None else {"train_loss": trained, "test_loss": ~trained}
    found = {
        **{name: of(logits, answers, among) for name, among in parts.items()},
        "restricted_loss": of(measures.restricted_logits(logits, keys), answers),
        "excluded_loss": of(measures.excluded_logits(logits, keys), answers, trained),
        "gini_embedding": measures.gini(measures.frequency_norms(embedding)),
        "gini_readout": measures.gini(measures.frequency_norms(readout)),
        "squares": float(sum(np.square(np.asarray(w, np.float64)).sum() for w in network.parameters.values())),
    }
    if network.architecture.has_waves:
        found["ipr"] = float(average_ipr(network.w_in).mean)
    return found


def excluded_alone(network: Network, answers: Table, loss: str = "cross_entropy") -> Float[np.ndarray, "k"]:
    """The excluded loss of each frequency 1, 2, … alone."""
    logits, of = logits_of(network), LOSSES.get(loss, measures.cross_entropy)
    frequencies = range(1, (len(answers) - 1) // 2 + 1)
    return np.array([of(measures.excluded_logits(logits, [k]), answers) for k in frequencies])


def logits_of(network: Network) -> Float[np.ndarray, "p p p"]:
    """$L[a, b, c]$ over both arguments and the answers."""
    sizes, p = network.signature.sizes, network.signature.outputs
    if sizes != (p, p):
        raise ModgrokError(f"Progress measures need pairs modulo p, not inputs {sizes} with {p} answers.")
    return np.asarray(outputs(network, grid(sizes)), np.float64).reshape(p, p, p)
