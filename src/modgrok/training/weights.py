r"""Weights as training holds them: the layout in which one look-up reads one contiguous row."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from modgrok.networks import Network, Normalization
from modgrok.networks.parametrization import scales


class Weights(NamedTuple):
    r"""$W^{(1)}$ with the neurons last, and $W^{(2)}$ as it is."""

    columns: Float[Array, "S p N"]
    readout: Float[Array, "p N"]


def initial_weights(
    key: Any, modulus: int, arity: int, width: int, parametrization: str, init_scale: Any, dtype: Any
) -> Weights:
    """Normal weights with the parametrization's standard deviation times `init_scale`."""
    deviation = jnp.asarray(scales(parametrization, arity * modulus, width).initial * init_scale, dtype)
    of_columns, of_readout = jax.random.split(key)
    return Weights(
        deviation * jax.random.normal(of_columns, (arity, modulus, width), dtype),
        deviation * jax.random.normal(of_readout, (modulus, width), dtype),
    )


def as_network(
    weights: Weights, activation: str, parametrization: str, normalization: Normalization | None = None
) -> Network:
    """The network these weights are."""
    return Network(weights.columns.transpose(2, 0, 1), weights.readout, activation, parametrization, normalization)


def from_network(network: Network, dtype: Any) -> Weights:
    """The weights of a network, ready to be trained on."""
    return Weights(jnp.asarray(network.w_in, dtype).transpose(1, 2, 0), jnp.asarray(network.w_out, dtype))
