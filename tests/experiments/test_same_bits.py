"""Whoever trains beside it, a run on a CPU ends with the same bytes: every architecture, compiled as users have it."""

import signal

import jax
import pytest

from modgrok.experiments import Experiment, Store
from modgrok.experiments.train import train_stored

pytestmark = pytest.mark.usefixtures("optimized")

NETWORKS = {
    "two-layer": {"width": 24},
    "two-layer relu": {"width": 24, "activation": "relu", "optimizer": "adamw", "lr": 0.03},
    "mlp": {"network": "mlp", "width": 24},
    "mlp, minibatches": {"network": "mlp", "width": 24, "batch_size": 16},
    "embedding-mlp": {"network": "embedding-mlp", "width": 24, "embedding": 16},
    "transformer": {
        "network": "transformer",
        "width": 16,
        "heads": 2,
        "layer_norm": "post",
        "positions": "sinusoidal",
        "framed": True,
        "dropout": 0.1,
    },
}


def experiment(network: str, seed: int) -> Experiment:
    # Minibatches share a program whatever the size of their training sets.
    fraction = 0.7 - 0.05 * seed if "minibatches" in network else 0.7
    settings = {"modulus": 11, "fraction": fraction, "steps": 40, "evaluations": 5, "snapshots": 3}
    return Experiment("n + m", seed=seed, **(settings | NETWORKS[network]))


@pytest.fixture(scope="module", params=NETWORKS)
def network(request):
    return request.param


@pytest.fixture(scope="module")
def alone(network, optimized, tmp_path_factory):
    (run,) = train_stored([experiment(network, 0)], Store(tmp_path_factory.mktemp("alone")))
    return run


@pytest.mark.parametrize("others", [1, 3, 5])
def test_beside_others(lab, store, network, alone, others):
    """In two threads, with other seeds and splits."""
    experiments = [experiment(network, seed) for seed in range(others + 1)]
    run, *_ = train_stored(experiments, store, devices=jax.local_devices()[:1] * 2)
    lab.assert_same(run, alone)


def test_killed_and_resumed(lab, store, network, alone):
    """A batch of two is killed, and one of its runs goes on alone."""
    pair = [experiment(network, seed) for seed in (0, 1)]
    process = lab.start(store, *pair, killed_at=10)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    listener = lab.Listener()
    (run,) = train_stored(pair[:1], store, listener)
    assert listener.rows[0][1] > 0
    lab.assert_same(run, alone)
