"""Sharpness after Keskar et al."""

import numpy as np

from modgrok.measures.sharpness import box_sharpness
from modgrok.networks import Network, grid
from modgrok.networks.mlp import MLP
from modgrok.tasks import Signature


def test_larger_logits_are_sharper() -> None:
    """Of a network that answers at random, since the same move of the weights changes more."""
    architecture, signature = MLP(6), Signature((3, 3), 3)
    random = np.random.default_rng(0)
    weights = {name: random.normal(size=shape) for name, shape in architecture.shapes(signature).items()}
    inputs, labels = grid((3, 3)), random.integers(0, 3, 9)
    large = weights | {"layers.1.weight": 5 * weights["layers.1.weight"]}
    small, big = (box_sharpness(Network(architecture, signature, w), inputs, labels) for w in (weights, large))
    assert 0 < small < big
