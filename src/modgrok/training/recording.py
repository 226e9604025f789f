"""Measures taken on the way: an entry each, a name and a function of the network and the run's data.

Losses, accuracies, norms and gradient norms are always recorded. A user's own measure is one function more:

    @mg.record("largest_weight")
    def largest_weight(network, data):
        return abs(network.w_in).max()

    mg.train("n + m", record=["largest_weight"])
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError
from modgrok.measures import ipr, representation_quality
from modgrok.measures.spectrum import power_along
from modgrok.measures.vectors import vector_measures
from modgrok.networks import Architecture, Network

if TYPE_CHECKING:
    from modgrok.training.data import RunData

ALWAYS = ("step", "train_loss", "test_loss", "train_accuracy", "test_accuracy")
"""Names that no measure can take; neither can those that begin with `norm_` or `gradient_`."""


@dataclass(frozen=True)
class Measure:
    """One number on the way, written for JAX: it is compiled with the program and mapped over runs."""

    name: str
    function: Callable[[Network, "RunData"], Any]
    architectures: tuple[str, ...] = ()
    """Names of those to which it applies; none named: all."""
    usual: bool = False
    """Whether it is recorded without being asked for."""
    on_group: bool = False
    """Whether it reads `data.group`, the group of the task."""

    def applies(self, architecture: Architecture) -> bool:
        return not self.architectures or architecture.name in self.architectures


MEASURES: dict[str, Measure] = {}


def record(name: str, *architectures: str, usual: bool = False, on_group: bool = False) -> Callable[[Any], Any]:
    """Makes a function a measure that runs can record by its name; a decorator."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in ALWAYS or name.startswith(("norm_", "gradient_")):
        raise ModgrokError(
            f"A measure's name is a word in small letters that no recorded number has already, and {name!r} is not."
        )

    def register(function: Any) -> Any:
        MEASURES[name] = Measure(name, function, architectures, usual, on_group)
        return function

    return register


def recorded_measures(architecture: Architecture, asked: tuple[str, ...]) -> tuple[Measure, ...]:
    """The usual measures of an architecture, then those asked for."""
    for name in asked:
        if name not in MEASURES:
            raise ModgrokError(
                f"There is no measure {name!r} to record; there are {', '.join(MEASURES)}, and those you add with "
                f"modgrok.record."
            )
        if not MEASURES[name].applies(architecture):
            raise ModgrokError(
                f"The measure {name} is one of {', '.join(MEASURES[name].architectures)} networks, and this one is "
                f"{architecture.name}."
            )
    usual = [measure for measure in MEASURES.values() if measure.usual and measure.applies(architecture)]
    return tuple(dict.fromkeys([*usual, *(MEASURES[name] for name in asked)]))


@record("ipr", "two-layer", usual=True)
def _ipr(network: Network, data: "RunData") -> Any:
    """Average inverse participation ratio in the raw index; NaN for groups that are not cyclic, which have none."""
    xp = namespace(data.index)
    raw = xp.broadcast_to(xp.arange(network.modulus, dtype=data.index.dtype), data.index.shape)
    length = xp.asarray(network.modulus, data.index.dtype)
    return _average_along(network, raw, xp.where(data.length < 0, xp.zeros_like(length), length))


@record("task_ipr", "two-layer", usual=True)
def _task_ipr(network: Network, data: "RunData") -> Any:
    """The same in the task's own coordinate; NaN where it has none."""
    return _average_along(network, data.index, data.length)


def _average_along(network: Network, index: Any, length: Any) -> Any:
    power, times = power_along(network.w_in, index, length)
    return namespace(power).nanmean(ipr(power, times=times))


@record("representation", "two-layer", on_group=True)
def _representation(network: Network, data: "RunData") -> Any:
    """Mean share of a neuron's power that is in one representation of the task's group."""
    return vector_measures(network.w_in, network.w_out, data.group)[0]


@record("rank_one", "two-layer", on_group=True)
def _rank_one(network: Network, data: "RunData") -> Any:
    """How near the blocks of a neuron are to matrix coefficients of rank one, 1 in the closed form."""
    return vector_measures(network.w_in, network.w_out, data.group)[1]


@record("shared_vectors", "two-layer", on_group=True)
def _shared_vectors(network: Network, data: "RunData") -> Any:
    """How far the blocks of a neuron share their vectors, 1 in the closed form and 0 at random."""
    return vector_measures(network.w_in, network.w_out, data.group)[2]


@record("rqi", "embedding-mlp")
def _rqi(network: Network, data: "RunData") -> Any:
    """Share of the parallelograms i + j = m + n that the embedding realizes (Liu et al. 2022)."""
    return representation_quality(network.parameters["embedding"])


@record("last_layer", "two-layer", "mlp", "embedding-mlp", "transformer")
def _last_layer(network: Network, data: "RunData") -> Any:
    """Frobenius norm of the matrix that makes the outputs (Thilak et al. 2022)."""
    weights = last_layer(network)
    return namespace(weights).sqrt((weights**2).sum())


def last_layer(network: Network) -> Any:
    """The weights that make the outputs."""
    return network.architecture.last_layer(network.parameters)
