r"""How far a network is from the nearest closed form, in its weights and in its outputs.

The nearest closed form replaces every neuron by the wave triple with $\varphi_{S+1} = \varphi_1 + … + \varphi_S$ and
non-negative amplitudes of its own that is closest to it in the sum of squared differences of all its weights.
"""

from typing import Any, NamedTuple

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.measures.angles import wrap
from modgrok.measures.spectrum import coordinate_of, two_layer_network
from modgrok.measures.triples import Triples, fit_triples, with_blocks
from modgrok.networks import Network, as_numpy, score_table
from modgrok.shapes import Float, Integer
from modgrok.tasks.basis import Basis

ITERATIONS = 60


class ClosedFormDistance(NamedTuple):
    r"""$\|W - W_\mathrm{closed}\| / \|W\|$ in the Frobenius norm; NaN where the weights are zero."""

    w_in: float
    w_out: float
    both: float


def distance_to_closed_form(subject: Any, coordinate: Any = None) -> ClosedFormDistance:
    """Relative distance of a network, or of a run's, to its nearest closed form: in the input weights, in the readout,
    and in both together. The coordinate may be that of a task."""
    network = two_layer_network(subject)
    closed = nearest_closed_form(network, coordinate_of(coordinate))
    network = as_numpy(network, np.float64)
    far = [np.square(a - b).sum() for a, b in ((network.w_in, closed.w_in), (network.w_out, closed.w_out))]
    size = [np.square(w).sum() for w in (network.w_in, network.w_out)]
    pairs = (far[0], size[0]), (far[1], size[1]), (sum(far), sum(size))
    return ClosedFormDistance(*(float(np.sqrt(a / b)) if b > 0 else np.nan for a, b in pairs))


def distance_to_table(network: Network, table: Integer[np.ndarray, "*inputs"]) -> float:
    r"""$\|f - \text{one-hot}\| / \|\text{one-hot}\|$ over all inputs of a table: $\sqrt{p \cdot \mathrm{MSE}}$."""
    return float(np.sqrt(network.modulus * score_table(as_numpy(network), table).loss))


def nearest_closed_form(network: Network, coordinate: Basis | None = None) -> Network:
    """The closed form nearest to a network, in float64; neurons without a wave, such as constants, stay as they are."""
    if network.dtype.kind == "c":
        raise ModgrokError("The distance to a closed form needs real weights, not complex ones.")
    triples = fit_triples(network, coordinate)
    waves = triples.waves(_nearest_coefficients(triples))
    blocks = np.where((triples.frequency > 0)[:, None, None], waves, triples.blocks)
    return with_blocks(as_numpy(network, np.float64), blocks)


def _nearest_coefficients(triples: Triples) -> Float[np.ndarray, "N B 2"]:
    r"""Coefficients z with $\arg z_{S+1} = \sum_s \arg z_s$ that minimize $\sum_b (z_b-\hat z_b)^T G_b (z_b-\hat z_b)$.

    Levenberg–Marquardt over the phases, with the best amplitudes for each, all neurons at once, from the best of S + 4
    starts: one block gives in to the others, all share the residual in inverse proportion to their power, or all phases
    turn by ±π/(S + ½), which gives any signs to waves of k = L/2. The result is a local minimum: where the readout
    cannot tell its phase (an even F), a neuron far from all closed forms may miss the nearest.
    """
    power = triples.power
    scale = np.sqrt(power.sum(axis=1))[:, None, None] + (power.sum(axis=1) == 0)[:, None, None]
    target = triples.coefficients / scale
    value, vector = np.linalg.eigh(triples.gram)
    root = vector * np.sqrt(value.clip(0))[..., None, :] @ vector.swapaxes(-1, -2)  # G = root²
    aim = np.einsum("nbij,nbj->nbi", root, target)

    angle = np.arctan2(target[..., 1], target[..., 0])
    residual = wrap(angle[:, :-1].sum(axis=1) - angle[:, -1])[:, None]
    weakness = 1 / (power + 1e-12 * power.sum(axis=1, keepdims=True) + (power.sum(axis=1) == 0)[:, None])
    shares = [*np.eye(power.shape[1])[:, None], weakness / weakness.sum(axis=1, keepdims=True)]
    turn = np.pi / (power.shape[1] - 0.5)
    starts = [angle[:, :-1] - share[..., :-1] * residual for share in shares]
    starts += [angle[:, :-1] + turn, angle[:, :-1] - turn]
    guesses = [_best_amplitudes(phases, root, aim) for phases in starts]
    losses = np.stack([_loss(phases, a, root, aim) for phases, a in zip(starts, guesses, strict=True)])
    best = losses.argmin(axis=0), np.arange(len(power))
    phases, amplitudes = np.stack(starts)[best], np.stack(guesses)[best]
    loss = losses[best]

    damping = np.full(len(power), 1e-3)
    for _ in range(ITERATIONS):
        step = _step(phases, amplitudes, root, aim, damping)
        new_phases = phases + step[:, : phases.shape[1]]
        new_amplitudes = _best_amplitudes(new_phases, root, aim)
        new_loss = _loss(new_phases, new_amplitudes, root, aim)
        better = new_loss < loss
        phases = np.where(better[:, None], new_phases, phases)
        amplitudes = np.where(better[:, None], new_amplitudes, amplitudes)
        settled = loss - new_loss <= 1e-15 * (1 + loss)
        loss = np.where(better, new_loss, loss)
        damping = np.where(better, damping / 10, damping * 10).clip(1e-9, 1e9)
        if settled.all() and not better.any():
            break
    return amplitudes[..., None] * _directions(phases) * scale


def _directions(phases: Float[np.ndarray, "N S"]) -> Float[np.ndarray, "N B 2"]:
    angle = np.concatenate([phases, phases.sum(axis=1, keepdims=True)], axis=1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _best_amplitudes(phases: np.ndarray, root: np.ndarray, aim: np.ndarray) -> Float[np.ndarray, "N B"]:
    seen = np.einsum("nbij,nbj->nbi", root, _directions(phases))
    size = np.square(seen).sum(axis=-1)
    along = (seen * aim).sum(axis=-1).clip(0)
    return np.divide(along, size, out=np.zeros_like(size), where=size > 1e-12)


def _loss(phases: np.ndarray, amplitudes: np.ndarray, root: np.ndarray, aim: np.ndarray) -> Float[np.ndarray, "N"]:
    seen = np.einsum("nbij,nbj->nbi", root, amplitudes[..., None] * _directions(phases))
    return np.square(seen - aim).sum(axis=(1, 2))


def _step(
    phases: np.ndarray, amplitudes: np.ndarray, root: np.ndarray, aim: np.ndarray, damping: np.ndarray
) -> Float[np.ndarray, "N parameter"]:
    S, B = phases.shape[1], amplitudes.shape[1]
    direction = _directions(phases)
    normal = np.stack([-direction[..., 1], direction[..., 0]], axis=-1)
    follows = np.concatenate([np.eye(S), np.ones((1, S))])  # which block's angle moves with which phase
    by_phase = np.einsum("nb,nbi,bs->nbis", amplitudes, normal, follows)
    by_amplitude = np.einsum("nbi,bc->nbic", direction, np.eye(B))
    jacobian = np.einsum("nbij,nbjq->nbiq", root, np.concatenate([by_phase, by_amplitude], axis=-1))
    jacobian = jacobian.reshape(len(phases), 2 * B, S + B)
    miss = (np.einsum("nbij,nbj->nbi", root, amplitudes[..., None] * direction) - aim).reshape(len(phases), 2 * B)
    normal_matrix = jacobian.swapaxes(1, 2) @ jacobian
    diagonal = np.einsum("nqq->nq", normal_matrix) + 1e-9
    damped = normal_matrix + (damping[:, None] * diagonal)[..., None] * np.eye(S + B)
    return -np.linalg.solve(damped, np.einsum("nrq,nr->nq", jacobian, miss)[..., None])[..., 0]
