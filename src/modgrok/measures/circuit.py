r"""What the one-layer transformer computes on the way to its answers, over all pairs, and the same with parts left out.

With residual vector $x = e_= + \text{attention}$ and neurons $h = \mathrm{relu}(W_{in} x + b)$ the logits are
$W_U (x + W_{out} h + b_{out})$. $W_L = W_U W_{out}$ is what the neurons say to the logits. All in float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures import progress_measures as measures
from modgrok.networks import Network
from modgrok.networks.transformer import Transformer
from modgrok.shapes import Float, Integer

Array = np.ndarray


class Head(NamedTuple):
    """To which frequency of its argument a head's attention responds."""

    frequency: int
    explained: float
    """Share of the centered power of the score that the frequency holds."""


@dataclass(frozen=True, eq=False)
class Circuit:
    """A one-layer transformer on all pairs modulo p."""

    network: Network

    def __post_init__(self) -> None:
        made, sizes = self.network.architecture, self.network.signature.sizes
        if made != Transformer(width=self.network.width, heads=self.network.heads, hidden=self.network.hidden):
            raise ModgrokError(
                "Only the default transformer is taken apart: one block, ReLU, no LayerNorm, reading n m =."
            )
        if len(sizes) != 2:
            raise ModgrokError(f"The circuit needs two variables, but this network has {len(sizes)}.")

    @property
    def modulus(self) -> int:
        return self.network.signature.outputs

    def _weight(self, name: str) -> Float[Array, "..."]:
        return np.asarray(self.network.parameters[name], np.float64)

    @cached_property
    def _scores_and_values(
        self,
    ) -> tuple[Float[Array, "2 p H"], Float[Array, "H"], Float[Array, "2 p d"], Float[Array, "d"]]:
        """Of n and m against each of their values, and of the mark =."""
        p, heads = self.modulus, self.network.heads
        e, at = self._weight("embedding"), self._weight("positions")
        x = np.stack([e[:p] + at[0], e[:p] + at[1]])
        query, key, value = (self._weight(f"blocks.attention.0.{n}.weight").T for n in ("query", "key", "value"))
        q = (self.start @ query).reshape(heads, -1)
        factor = q.shape[1] ** -0.5
        scores = factor * np.einsum("sphd,hd->sph", (x @ key).reshape(2, p, heads, -1), q)
        own = factor * ((self.start @ key).reshape(heads, -1) * q).sum(axis=1)
        return scores, own, x @ value, self.start @ value

    @property
    def start(self) -> Float[Array, "d"]:
        """The vector of the mark = with its position."""
        return self._weight("embedding")[self.modulus] + self._weight("positions")[2]

    @cached_property
    def attention(self) -> Float[Array, "p p H 3"]:
        """Weights of n, m and = for each head."""
        (n, m), own, _, _ = self._scores_and_values
        scores = np.stack(np.broadcast_arrays(n[:, None], m[None, :], own[None, None]), axis=3)
        weights = np.exp(scores - scores.max(axis=3, keepdims=True))
        return weights / weights.sum(axis=3, keepdims=True)

    @cached_property
    def attended(self) -> Float[Array, "p p d"]:
        """What attention adds to the vector of =."""
        _, _, (n, m), own = self._scores_and_values
        weights = np.repeat(self.attention, len(own) // self.network.heads, axis=2)  # (p, p, d, 3)
        z = weights[..., 0] * n[:, None] + weights[..., 1] * m[None, :] + weights[..., 2] * own
        return z @ self._weight("blocks.attention.0.output.weight").T

    def neurons_at(self, x: Float[Array, "p p d"]) -> Float[Array, "p p N"]:
        bias = self.network.parameters.get("blocks.mlp.0.in.bias", 0.0)
        return np.maximum(x @ self._weight("blocks.mlp.0.in.weight").T + np.asarray(bias, np.float64), 0)

    def logits_at(self, x: Float[Array, "p p d"], neurons: Float[Array, "p p N"]) -> Float[Array, "p p p"]:
        bias = np.asarray(self.network.parameters.get("blocks.mlp.0.out.bias", 0.0), np.float64)
        return (x + bias) @ self.readout.T + neurons @ self.neuron_logits.T

    @property
    def readout(self) -> Float[Array, "p d"]:
        """$W_U$, of the answers alone."""
        return self._weight("unembedding.weight")[: self.modulus]

    @cached_property
    def neuron_logits(self) -> Float[Array, "p N"]:
        """$W_L$, of the answers alone."""
        return self.readout @ self._weight("blocks.mlp.0.out.weight")

    @property
    def middle(self) -> Float[Array, "p p d"]:
        """What the MLP reads."""
        return self.start + self.attended

    @cached_property
    def neurons(self) -> Float[Array, "p p N"]:
        return self.neurons_at(self.middle)

    @cached_property
    def logits(self) -> Float[Array, "p p p"]:
        return self.logits_at(self.middle, self.neurons)

    @cached_property
    def frequencies(self) -> measures.NeuronFrequencies:
        return measures.neuron_frequencies(self.neurons)

    def heads(self) -> list[Head]:
        """The strongest frequency of each head's score as a function of n."""
        scores = self._scores_and_values[0][0]  # (p, H)
        found = []
        for score in scores.T:
            power = measures.frequency_norms(score[:, None]) ** 2
            centered = np.square(score - score.mean()).sum()
            found.append(Head(int(power.argmax()) + 1, float(power.max() / centered)))
        return found


def output_directions(circuit: Circuit, keys: Sequence[int]) -> Float[Array, "k 2 N"]:
    r"""$\cos\frac{2\pi k}p c$ and $\sin\frac{2\pi k}p c$ of every key frequency through $W_L$."""
    waves = measures.fourier_basis(circuit.modulus)
    rows = np.array([[waves[2 * k - 1], waves[2 * k]] for k in keys])
    return rows @ circuit.neuron_logits


def ablations(circuit: Circuit, keys: Sequence[int], answers: Integer[Array, "p p"]) -> dict[str, float]:
    """Cross-entropy over all pairs with parts of the network replaced or left out."""
    x, h = circuit.middle, circuit.neurons
    start = np.broadcast_to(circuit.start, x.shape)
    basis = np.linalg.qr(output_directions(circuit, keys).reshape(2 * len(keys), -1).T)[0]  # (N, 2 keys)
    read = h @ basis @ basis.T
    changed = {
        "nothing": circuit.logits,
        "clear neurons as polynomials of their frequency": circuit.logits_at(x, replace_neurons(circuit, "block")),
        "clear neurons as waves of n + m": circuit.logits_at(x, replace_neurons(circuit, "sum")),
        "neurons along the key directions alone": circuit.logits_at(x, read),
        "neurons without the key directions": circuit.logits_at(x, h - read),
        "without the path around the MLP": circuit.logits_at(np.zeros_like(x), h),
        "without the MLP": circuit.logits_at(x, np.zeros_like(h)),
        "without attention": circuit.logits_at(start, circuit.neurons_at(start)),
        "without the path around attention": circuit.logits_at(circuit.attended, circuit.neurons_at(circuit.attended)),
    }
    return {name: measures.cross_entropy(logits, answers) for name, logits in changed.items()}


def replace_neurons(circuit: Circuit, by: str) -> Float[Array, "p p N"]:
    r"""The neurons, those that one frequency explains replaced by their part in its block $\{1, \cos, \sin\}^2$
    (`block`), or by their mean and their part along $\cos, \sin$ of n + m (`sum`)."""
    h, found, p = circuit.neurons.copy(), circuit.frequencies, circuit.modulus
    clear = found.explained > measures.EXPLAINED
    waves = measures.fourier_basis(p)
    for k in np.unique(found.frequency[clear]).tolist():
        own = clear & (found.frequency == k)
        part = h[:, :, own]
        if by == "block":
            rows = waves[[0, 2 * k - 1, 2 * k]]
            inside = np.einsum("ia,jb,abn->ijn", rows, rows, part, optimize=True)
            h[:, :, own] = np.einsum("ia,jb,ijn->abn", rows, rows, inside, optimize=True)
        else:
            flat = measures.sum_directions(p, [k]).reshape(2, -1)
            along = flat.T @ (flat @ part.reshape(p * p, -1))
            h[:, :, own] = along.reshape(part.shape) + part.mean(axis=(0, 1))
    return h


def explained_along_sums(circuit: Circuit, keys: Sequence[int]) -> Float[Array, "k 2"]:
    """Of the neurons read along each key direction, the share of centered power along their frequency's sums."""
    p = circuit.modulus
    found = []
    for k, directions in zip(keys, output_directions(circuit, keys), strict=True):
        read = (circuit.neurons.reshape(p * p, -1) @ directions.T).T  # (2, p²)
        flat = measures.sum_directions(p, [k]).reshape(2, -1)
        centered = np.square(read - read.mean(axis=1, keepdims=True)).sum(axis=1)
        found.append(np.square(read @ flat.T).sum(axis=1) / centered)
    return np.array(found)
