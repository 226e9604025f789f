r"""Progress measures of Nanda et al. (arXiv 2301.05217) on the answers of any network to all pairs modulo p.

Logits are arrays $L[a, b, c]$ over both arguments and the answers. The sum directions of a frequency k are
$u_k^c \propto \cos\frac{2\pi k}p(a + b)$ and $u_k^s \propto \sin\frac{2\pi k}p(a + b)$, functions with norm 1.
Frequencies run from 1 to (p−1)//2; for even p the frequency p/2, which has no sine, is left out. All in float64.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures.ipr import average_ipr
from modgrok.measures.triples import NEGLIGIBLE
from modgrok.networks import Network, grid, outputs
from modgrok.shapes import Bool, Float, Integer

Logits = Float[np.ndarray, "p p c"]
Answers = Integer[np.ndarray, "p p"]
Among = Bool[np.ndarray, "p p"] | None
"""Which pairs count; None: all."""
LARGE = 0.25
"""Share of the largest norm above which a frequency is a key one."""
EXPLAINED = 0.85
"""Share of a neuron's power above which it belongs to a frequency."""


def fourier_basis(modulus: int) -> Float[np.ndarray, "p p"]:
    r"""Orthonormal rows: $1/\sqrt p$, then $\sqrt{2/p}\cos\frac{2\pi k}pn$, $\sqrt{2/p}\sin\frac{2\pi k}pn$ for each k.

    For even p the last row is $(-1)^n/\sqrt p$.
    """
    n = np.arange(modulus)
    angle = 2 * np.pi / modulus * (np.outer(np.arange(1, (modulus - 1) // 2 + 1), n) % modulus)
    pairs = np.sqrt(2 / modulus) * np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, modulus)
    alternating = [(-1.0) ** n[None] / np.sqrt(modulus)] if modulus % 2 == 0 else []
    return np.concatenate([np.full((1, modulus), modulus**-0.5), pairs, *alternating])


def sum_directions(modulus: int, frequencies: Iterable[int]) -> Float[np.ndarray, "k 2 p p"]:
    r"""$u_k^c = (c_k\otimes c_k - s_k\otimes s_k)/\sqrt2$ and $u_k^s = (s_k\otimes c_k + c_k\otimes s_k)/\sqrt2$."""
    chosen = _checked(modulus, frequencies)
    n = np.arange(modulus)
    angle = 2 * np.pi / modulus * (chosen[:, None, None] * (n[:, None] + n) % modulus)
    return np.sqrt(2) / modulus * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def restricted_logits(logits: Logits, frequencies: Iterable[int]) -> Logits:
    """The part of the logits along the sum directions of these frequencies, and every answer's mean over the pairs."""
    return _along_sums(logits, frequencies) + logits.mean(axis=(0, 1), dtype=np.float64, keepdims=True)


def excluded_logits(logits: Logits, frequencies: Iterable[int]) -> Logits:
    """The logits less their part along the sum directions of these frequencies."""
    return logits - _along_sums(logits, frequencies)


def cross_entropy(logits: Logits, answers: Answers, among: Among = None) -> float:
    """Mean cross-entropy, over all pairs or among some of them."""
    if among is not None:
        logits, answers = logits[among], answers[among]
    shifted = logits.astype(np.float64) - logits.max(axis=-1, keepdims=True)
    right = np.take_along_axis(shifted, answers[..., None], axis=-1)[..., 0]
    return float((np.log(np.exp(shifted).sum(axis=-1)) - right).mean())


def squared_error(logits: Logits, answers: Answers, among: Among = None) -> float:
    """Mean squared distance to the one-hot answers, over all pairs or among some: what the two-layer network learns."""
    right = np.arange(logits.shape[2]) == answers[..., None]
    losses = np.square(logits - right).mean(axis=2)
    return float(losses.mean() if among is None else losses[among].mean())


def restricted_loss(logits: Logits, answers: Answers, frequencies: Iterable[int]) -> float:
    """Cross-entropy of the restricted logits over all pairs."""
    return cross_entropy(restricted_logits(logits, frequencies), answers)


def excluded_loss(logits: Logits, answers: Answers, frequencies: Iterable[int], among: Among = None) -> float:
    """Cross-entropy of the excluded logits: among the training pairs in the paper. It rises while circuits form."""
    return cross_entropy(excluded_logits(logits, frequencies), answers, among)


def gini(values: Float[np.ndarray, "n"]) -> float:
    r"""$\sum_{ij}|c_i - c_j| / (2n^2\bar c)$ of numbers ≥ 0: 0 where all are equal, $1 - 1/n$ for one alone."""
    ordered, n = np.sort(values), len(values)
    if not ordered.sum() > 0:
        return np.nan
    return float(1 - 2 * (ordered / ordered.sum() * (n - np.arange(1, n + 1) + 0.5)).sum() / n)


def frequency_norms(matrix: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "k"]:
    """Norm of a matrix along each frequency of its first axis: of an embedding over numbers, a readout over answers."""
    waves = fourier_basis(len(matrix)) @ matrix.astype(np.float64)
    count = (len(matrix) - 1) // 2
    return np.sqrt(np.square(waves[1 : 2 * count + 1]).reshape(count, -1).sum(axis=1))


def key_frequencies(matrix: Float[np.ndarray, "p d"], share: float = LARGE) -> tuple[int, ...]:
    """The frequencies whose norm is above a share of the largest: rule (a) for an embedding $W_E$, (b) for $W_L$."""
    norms = frequency_norms(matrix)
    return tuple((np.flatnonzero(norms > share * norms.max()) + 1).tolist())


def sum_power(logits: Logits) -> Float[np.ndarray, "k"]:
    """Share of what the logits differ by from pair to pair that is along the sum directions of each frequency."""
    p = len(logits)
    centered = (logits - logits.mean(axis=(0, 1), dtype=np.float64)).reshape(p * p, -1)
    along = np.square(sum_directions(p, _all(p).tolist()).reshape(-1, p * p) @ centered).sum(axis=1)
    return along.reshape(-1, 2).sum(axis=1) / (np.square(centered).sum() or 1)


def product_norms(logits: Logits) -> Float[np.ndarray, "p p"]:
    """The two-dimensional Fourier transform: for every wave of a times wave of b (see `fourier_basis`), the norm over
    the answers of the logits' part along it."""
    p = len(logits)
    waves = fourier_basis(p)
    along = np.einsum("ia,jb,abc->ijc", waves, waves, logits.astype(np.float64), optimize=True)
    return np.sqrt(np.square(along).sum(axis=2))


class NeuronFrequencies(NamedTuple):
    """The frequency of every neuron, and the share of its centered power that it holds; NaN if constant."""

    frequency: Integer[np.ndarray, "N"]
    explained: Float[np.ndarray, "N"]

    def keys(self) -> tuple[int, ...]:
        """Rule (c): the frequencies of all neurons that are explained above `EXPLAINED`."""
        return tuple(np.unique(self.frequency[self.explained > EXPLAINED]).tolist())


def neuron_frequencies(activations: Float[np.ndarray, "p p N"]) -> NeuronFrequencies:
    r"""For every neuron the k with most power in the block $\{1, \cos, \sin\}^2$ of its 2-D transform, centered."""
    p = len(activations)
    basis = fourier_basis(p)
    power = np.square(np.einsum("ia,jb,abn->ijn", basis, basis, activations.astype(np.float64), optimize=True))
    total = power.sum(axis=(0, 1))
    power[0, 0] = 0
    blocks = [(0, 2 * k - 1, 2 * k) for k in _all(p).tolist()]
    held = np.stack([power[np.ix_(block, block)].sum(axis=(0, 1)) for block in blocks])  # (k, N)
    centered = power.sum(axis=(0, 1))
    varies = centered > NEGLIGIBLE * total
    explained = np.divide(held.max(axis=0), centered, out=np.full(len(total), np.nan), where=varies)
    return NeuronFrequencies(held.argmax(axis=0) + 1, explained)


class CosineFit(NamedTuple):
    r"""Logits as $\sum_k\alpha_k\cos\frac{2\pi k}p(a + b - c)$."""

    coefficients: Float[np.ndarray, "k"]
    """α of the cosines with norm 1."""
    explained: float
    """1 − power of the rest over the power of the logits less their mean."""


def cosine_fit(logits: Float[np.ndarray, "p p p"], frequencies: Iterable[int] | None = None) -> CosineFit:
    """Least squares, over all frequencies or some; the cosines are orthogonal."""
    p = len(logits)
    chosen = _all(p) if frequencies is None else _checked(p, frequencies)
    n = np.arange(p)
    centered = logits - logits.mean(dtype=np.float64)
    places = (n[:, None, None] + n[:, None] - n) % p
    by_place = np.bincount(places.reshape(-1), centered.reshape(-1), p)  # the sum over all entries with one a + b − c
    waves = np.cos(2 * np.pi / p * (np.outer(chosen, n) % p))
    coefficients = np.sqrt(2) * p**-1.5 * waves @ by_place
    return CosineFit(coefficients, float(np.square(coefficients).sum() / np.square(centered).sum()))


LOSSES = {"cross_entropy": cross_entropy, "mse": squared_error}
"""With which the measures of a network are taken; for those trained with another loss that is cross-entropy."""
Table = Integer[np.ndarray, "..."]
"""Of a task; `logits_of` refuses those that are not of pairs modulo p."""


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
    return key_frequencies(embedding_and_readout(network)[1])


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
    keys = key_frequencies(readout) if keys is None else tuple(keys)
    of = LOSSES.get(loss, cross_entropy)
    parts = {"loss": None} if trained is None else {"train_loss": trained, "test_loss": ~trained}
    found = {
        **{name: of(logits, answers, among) for name, among in parts.items()},
        "restricted_loss": of(restricted_logits(logits, keys), answers),
        "excluded_loss": of(excluded_logits(logits, keys), answers, trained),
        "gini_embedding": gini(frequency_norms(embedding)),
        "gini_readout": gini(frequency_norms(readout)),
        "squares": float(sum(np.square(np.asarray(w, np.float64)).sum() for w in network.parameters.values())),
    }
    if network.architecture.has_waves:
        found["ipr"] = float(average_ipr(network.w_in).mean)
    return found


def excluded_alone(network: Network, answers: Table, loss: str = "cross_entropy") -> Float[np.ndarray, "k"]:
    """The excluded loss of each frequency 1, 2, … alone."""
    logits, of = logits_of(network), LOSSES.get(loss, cross_entropy)
    frequencies = range(1, (len(answers) - 1) // 2 + 1)
    return np.array([of(excluded_logits(logits, [k]), answers) for k in frequencies])


def logits_of(network: Network) -> Float[np.ndarray, "p p p"]:
    """$L[a, b, c]$ over both arguments and the answers."""
    sizes, p = network.signature.sizes, network.signature.outputs
    if sizes != (p, p):
        raise ModgrokError(f"Progress measures need pairs modulo p, not inputs {sizes} with {p} answers.")
    return np.asarray(outputs(network, grid(sizes)), np.float64).reshape(p, p, p)


def _along_sums(logits: Logits, frequencies: Iterable[int]) -> Logits:
    directions = sum_directions(logits.shape[0], frequencies)
    flat = directions.reshape(-1, logits.shape[0] ** 2)
    return (flat.T @ (flat @ logits.reshape(flat.shape[1], -1).astype(np.float64))).reshape(logits.shape)


def _all(modulus: int) -> Integer[np.ndarray, "k"]:
    return np.arange(1, (modulus - 1) // 2 + 1)


def _checked(modulus: int, frequencies: Iterable[int]) -> Integer[np.ndarray, "k"]:
    chosen = np.unique(np.array(list(frequencies), dtype=np.int64))
    if wrong := [int(k) for k in chosen if not 1 <= k <= (modulus - 1) // 2]:
        raise ModgrokError(f"Frequencies run from 1 to {(modulus - 1) // 2} at p = {modulus}; {wrong[0]} is outside.")
    return chosen
