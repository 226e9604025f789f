"""What is correlated in the weights: phases between neurons, weights inside a neuron; and what loss random phases
leave."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.interference import expected_loss
from modgrok.experiments import Run
from modgrok.measures import shuffle_phases
from modgrok.networks import Network, as_numpy, score_table
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.tasks import task

SHUFFLES = 3
"""How often the phases of a network are dealt anew."""


def _shuffled(profile: Profile, runs: dict[str, list[list[Run]]]) -> Numbers:
    """Accuracy and loss on the whole table of trained networks as they are, and with their phases dealt anew."""
    p, widths = profile.further.modulus, profile.further.narrow_widths
    table = task("n + m", p).table
    return {
        "modulus": p,
        "widths": widths,
        "networks": {
            name: [[_with_shuffled(run.network, table) for run in cell] for cell in found]
            for name, found in runs.items()
        },
        "random phases": [
            [_score(solve(task("n + m", p), width=N, seed=seed), table) for seed in range(SHUFFLES)] for N in widths
        ],
    }


def _with_shuffled(network: Network, table: np.ndarray) -> dict[str, Any]:
    dealt = [_score(shuffle_phases(network, seed=seed), table) for seed in range(SHUFFLES)]
    return {"trained": _score(network, table), "shuffled": dealt}


def _score(network: Network, table: np.ndarray) -> dict[str, float]:
    found = score_table(network, table)
    return {"accuracy": float(found.accuracy), "loss": float(found.loss)}


def _correlated(profile: Profile, runs: list[Run]) -> Numbers:
    """Distributions of weights, and the third moment that Gaussian weights do not have."""
    addition = task("n + m", profile.modulus)
    networks = {
        "random": [run.snapshot(0) for run in runs],
        "trained": [run.network for run in runs],
        "closed form": [solve(addition, width=profile.width, seed=seed) for seed in range(len(runs))],
    }
    return {
        name: [{"kurtosis": excess_kurtosis(network), "triple": triple_correlation(network)} for network in some]
        for name, some in networks.items()
    }


def excess_kurtosis(network: Network) -> float:
    """Of the first layer's weights, each neuron's rows in units of their own root mean square: 0 for Gaussian weights,
    −3/2 for waves."""
    w = as_numpy(network, np.float64).w_in
    w = w / np.sqrt(np.square(w).mean(axis=2, keepdims=True))
    return float((w**4).mean() / np.square(np.square(w).mean()) - 3)


def triple_correlation(network: Network) -> float:
    r"""$\langle U(n)V(m)W(n + m)\rangle$ over neurons and pairs, in units of the blocks' root mean squares.

    The neurons' blocks U, V of the inputs and W of the readout are independent in Gaussian networks: 0. For waves whose
    phases add up it is $\langle\cos\alpha\cos\beta\cos(\alpha+\beta)\rangle/2^{-3/2} = 1/\sqrt2$; the network
    answers with it.
    """
    network = as_numpy(network, np.float64)
    blocks = np.stack([network.w_in[:, 0], network.w_in[:, 1], network.w_out.T])
    u, v, w = np.fft.fft(blocks, axis=2)
    moment = (u * v * w.conj()).real.sum(axis=1) / network.modulus**3
    return float(moment.mean() / np.sqrt(np.square(blocks).mean(axis=(1, 2))).prod())


def _floor(profile: Profile, runs: Tree) -> Numbers:
    """Loss of random phases against width, without and with the frequency 0, and what it should be on average."""
    p, widths = profile.further.modulus, profile.further.floor_widths
    addition = task("n + m", p)
    coordinate = addition.structure.coordinate
    assert coordinate is not None
    seeds = range(profile.closed_seeds)
    return {
        "modulus": p,
        "widths": widths,
        "floor": 1 / (p * (p - 1)),
        "loss": {
            name: [
                [score_table(_waves(addition, N, seed, constant), addition.table).loss for seed in seeds]
                for N in widths
            ]
            for name, constant in (("without", False), ("with", True))
        },
        "expected": {
            name: [expected_loss(coordinate, N, constant=constant) for N in widths]
            for name, constant in (("without", False), ("with", True))
        },
    }


def _waves(learnt: Any, width: int, seed: int, constant: bool) -> Network:
    return solve(learnt, width=width, seed=seed, constant=constant, dtype=np.float32)


STUDIES = (
    Study(
        "shuffled_phases",
        "Phases dealt anew among the neurons of a frequency",
        "Narrow networks trained on n + m under gradient descent and AdamW, whose phases are then dealt anew among the "
        "neurons of each frequency; every neuron keeps its φ1 + φ2 − φ3, its amplitudes and all that is no wave.",
        _shuffled,
        lambda profile: {
            "GD": [
                [
                    profile.further.gd.descend("n + m", profile.further.modulus, N, profile.further.fraction, seed)
                    for seed in profile.further.seed_range
                ]
                for N in profile.further.narrow_widths
            ],
            "AdamW": [profile.further.adapt("n + m", width=N) for N in profile.further.narrow_widths],
        },
    ),
    Study(
        "correlated_weights",
        "Correlated weights",
        "Excess kurtosis of the weights and their third moment ⟨U(n)V(m)W(n + m)⟩: random, trained by gradient "
        "descent, written down.",
        _correlated,
        Profile.addition_by_gd,
    ),
    Study(
        "loss_floor",
        "The loss of random phases against width",
        "The mean squared error of Claim I on the whole table, without and with the frequency 0.",
        _floor,
    ),
)
