"""Every optimizer, step by step, against its formula in NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.experiments.batches import program_of, rates_of
from modgrok.experiments.experiment import Experiment
from modgrok.training.optimizer import transformation
from modgrok.training.weights import Weights

LR, DECAY = 0.1, 0.05


def gd(w, gradients):
    for g in gradients:
        w = w - LR * g
    return w


def gd_coupled(w, gradients):
    for g in gradients:
        w = w - LR * (g + DECAY * w)
    return w


def momentum(w, gradients, decay=0.0, nesterov=False, mu=0.9):
    v = np.zeros_like(w)
    for g in gradients:
        g = g + decay * w
        v = mu * v + g
        w = w - LR * (g + mu * v if nesterov else v)
    return w


def decoupled_momentum(w, gradients):
    v = np.zeros_like(w)
    for g in gradients:
        v = 0.9 * v + g
        w = w - LR * v - LR * DECAY * w
    return w


def adam(w, gradients, coupled=0.0, decoupled=0.0, b1=0.8, b2=0.95, eps=1e-3):
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gradients, start=1):
        g = g + coupled * w
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        w = w - LR * (m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps)) - LR * decoupled * w
    return w


ADAM = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}
CASES = {
    "gd": ({"optimizer": "gd"}, gd),
    "sgd": ({"optimizer": "sgd"}, gd),
    "gd, coupled decay": ({"optimizer": "gd", "weight_decay": DECAY}, gd_coupled),
    "gd, decoupled decay": ({"optimizer": "gd", "weight_decay": DECAY, "decoupled": True}, gd_coupled),
    "momentum": ({"optimizer": "momentum"}, momentum),
    "gd with momentum": ({"optimizer": "gd", "momentum": 0.5}, lambda w, g: momentum(w, g, mu=0.5)),
    "momentum, coupled decay": (
        {"optimizer": "momentum", "weight_decay": DECAY},
        lambda w, g: momentum(w, g, decay=DECAY),
    ),
    "momentum, decoupled decay": (
        {"optimizer": "momentum", "weight_decay": DECAY, "decoupled": True},
        decoupled_momentum,
    ),
    "nesterov": ({"optimizer": "nesterov"}, lambda w, g: momentum(w, g, nesterov=True)),
    "adam": ({"optimizer": "adam", **ADAM}, adam),
    "adam, coupled decay": (
        {"optimizer": "adam", "weight_decay": DECAY, **ADAM},
        lambda w, g: adam(w, g, coupled=DECAY),
    ),
    "adamw": ({"optimizer": "adamw", "weight_decay": DECAY, **ADAM}, lambda w, g: adam(w, g, decoupled=DECAY)),
}


@pytest.mark.parametrize(("settings", "formula"), CASES.values(), ids=CASES)
def test_updates_follow_the_formula(settings, formula):
    experiment = Experiment("n + m", modulus=5, width=3, lr=LR, precision="float64", **settings).resolve()
    optimizer = transformation(program_of(experiment, 2, "cpu"), rates_of(experiment))
    rng = np.random.default_rng(0)
    first = Weights(rng.normal(size=(2, 5, 3)), rng.normal(size=(5, 3)))
    gradients = [Weights(rng.normal(size=(2, 5, 3)), rng.normal(size=(5, 3))) for _ in range(3)]

    weights = Weights(*map(jnp.asarray, first))
    state = optimizer.init(weights)
    for gradient in gradients:
        updates, state = optimizer.update(Weights(*map(jnp.asarray, gradient)), state, weights)
        weights = Weights(*(w + u for w, u in zip(weights, updates, strict=True)))

    for part in range(2):
        expected = formula(first[part], [gradient[part] for gradient in gradients])
        np.testing.assert_allclose(weights[part], expected, rtol=1e-10)
