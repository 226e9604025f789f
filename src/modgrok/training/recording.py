"""Measures taken on the way: an entry each, a name and a function of the network and the run's examples.

Losses, accuracies, norms and gradient norms are always recorded. A user's own measure is one function more:

    @mg.record("margin")
    def margin(network, data):
        right = jnp.take_along_axis(data.outputs, data.targets[:, None], axis=1)[:, 0]
        return jnp.where(data.tested, right, 0).sum() / data.tested.sum()

    mg.train("n + m", record=["margin"])
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from modgrok.arrays import namespace
from modgrok.errors import Absent, Interrupted, ModgrokError
from modgrok.measures import ipr, representation_quality
from modgrok.measures.sharpness import traced_eigenvalue
from modgrok.measures.spectrum import power_along
from modgrok.measures.vectors import vector_measures
from modgrok.networks import Architecture, Network, outputs
from modgrok.shapes import Bool, Float, Int32, Shaped

if TYPE_CHECKING:
    from modgrok.training.data import RunData

SCORES = ("train_loss", "test_loss", "train_accuracy", "test_accuracy")
"""Recorded always, like norms."""


@dataclass(frozen=True, eq=False)
class Data:
    """What a measure reads besides the network: all examples of its run, in the order of the raveled table where there
    is one. Arrays are JAX's."""

    network: Network
    run: "RunData"
    """The arrays that training reads, among them the task's coordinate and group."""

    @cached_property
    def inputs(self) -> Shaped[Any, "example width"]:
        """One row for each example, a column for each variable."""
        from modgrok.training.data import evaluated_inputs

        return namespace(self.run.answers).asarray(evaluated_inputs(self.network.signature.sizes, self.run))

    @property
    def targets(self) -> Int32[Any, "example"]:
        """The labels of trained examples, the right answers of all others; 0 where a table has no entry."""
        return self.run.answers

    @property
    def trained(self) -> Bool[Any, "example"]:
        """Which examples are trained on."""
        return self.run.trained

    @property
    def tested(self) -> Bool[Any, "example"]:
        """Which examples are tested; missing table entries are neither trained nor tested."""
        return self.run.tested

    @cached_property
    def outputs(self) -> Float[Any, "example answer"]:
        """The network's outputs for all examples, computed once for all measures."""
        return outputs(self.network, self.inputs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise Absent(f"The data of a measure has inputs, targets, outputs, trained and tested, and no {name}.")


@dataclass(frozen=True)
class Measure:
    """A scalar recorded during training, written in JAX: it is compiled with the program and mapped over runs."""

    name: str
    function: Callable[..., Any]
    """Of the network, or of the network and its `Data`."""
    architectures: tuple[str, ...] = ()
    """Names of the architectures it applies to; empty means all."""
    usual: bool = False
    """Whether it is recorded by default."""
    on_group: bool = False
    """Whether it reads `data.run.group`, the group of the task."""

    def applies(self, architecture: Architecture) -> bool:
        return not self.architectures or architecture.name in self.architectures

    def __call__(self, data: Data) -> Any:
        """The scalar; a `ModgrokError` if the function fails, does not return a scalar, or cannot be compiled."""
        import jax

        try:
            alone = len(inspect.signature(self.function).parameters) < 2
            found = self.function(data.network) if alone else self.function(data.network, data)
        except ModgrokError:
            raise
        except jax.errors.JAXTypeError as error:
            raise ModgrokError(
                f"The measure {self.name} is compiled with the training step: write it with jax.numpy instead of "
                f"NumPy, and without float(), int() or if on its values."
            ) from error
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0].rstrip(".")
            raise ModgrokError(f"The measure {self.name} fails with {reason}.") from error
        if not isinstance(found, jax.Array | np.ndarray | np.number | int | float):
            raise ModgrokError(f"A measure is one real number, and {self.name} returns {found!r}.")
        if shape := np.shape(found):
            raise ModgrokError(
                f"A measure is one number, and {self.name} returns an array of the shape {shape}; take its mean or its "
                f"largest, or record several measures."
            )
        return found


MEASURES: dict[str, Measure] = {}


def is_norm(name: str) -> bool:
    """Whether a curve is a norm of weights or of a gradient."""
    return name.startswith(("norm_", "gradient_"))


def record(name: str, *architectures: str, usual: bool = False, on_group: bool = False) -> Callable[[Any], Any]:
    """Decorator that registers a function as a measure, which runs record by its name."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in ("step", *SCORES) or is_norm(name):
        raise ModgrokError(f"A measure's name is a lowercase word that no other recorded number has, not {name!r}.")

    def register(function: Any) -> Any:
        MEASURES[name] = Measure(name, function, architectures, usual, on_group)
        return function

    return register


@contextmanager
def forgotten_if_failing() -> Iterator[None]:
    """Measures registered inside are forgotten where what they were registered for fails."""
    known = dict(MEASURES)
    try:
        yield
    except Interrupted:
        raise
    except ModgrokError:
        MEASURES.clear()
        MEASURES.update(known)
        raise


def recorded_measures(architecture: Architecture, asked: tuple[str, ...]) -> tuple[Measure, ...]:
    """The default measures of an architecture, then the requested ones."""
    for name in asked:
        if name not in MEASURES:
            close = get_close_matches(name, MEASURES, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(MEASURES)}."
            raise ModgrokError(f"There is no measure {name!r} to record; {hint} modgrok.record adds your own.")
        if not MEASURES[name].applies(architecture):
            raise ModgrokError(
                f"The measure {name} is one of {', '.join(MEASURES[name].architectures)} networks, and this one is "
                f"{architecture.name}."
            )
    usual = [measure for measure in MEASURES.values() if measure.usual and measure.applies(architecture)]
    return tuple(dict.fromkeys([*usual, *(MEASURES[name] for name in asked)]))


@record("ipr", "two-layer", usual=True)
def _ipr(network: Network, data: Data) -> Any:
    """Average inverse participation ratio in the raw index; NaN for groups that are not cyclic, which have none."""
    index = data.run.index
    xp = namespace(index)
    raw = xp.broadcast_to(xp.arange(network.modulus, dtype=index.dtype), index.shape)
    length = xp.asarray(network.modulus, index.dtype)
    return _average_along(network, raw, xp.where(data.run.length < 0, xp.zeros_like(length), length))


@record("task_ipr", "two-layer", usual=True)
def _task_ipr(network: Network, data: Data) -> Any:
    """The same in the task's own coordinate; NaN where it has none."""
    return _average_along(network, data.run.index, data.run.length)


def _average_along(network: Network, index: Any, length: Any) -> Any:
    power, times = power_along(network.w_in, index, length)
    return namespace(power).nanmean(ipr(power, times=times))


@record("representation", "two-layer", on_group=True)
def _representation(network: Network, data: Data) -> Any:
    """Mean share of a neuron's power that is in one representation of the task's group."""
    return vector_measures(network.w_in, network.w_out, data.run.group)[0]


@record("rank_one", "two-layer", on_group=True)
def _rank_one(network: Network, data: Data) -> Any:
    """How near the blocks of a neuron are to matrix coefficients of rank one, 1 in the closed form."""
    return vector_measures(network.w_in, network.w_out, data.run.group)[1]


@record("shared_vectors", "two-layer", on_group=True)
def _shared_vectors(network: Network, data: Data) -> Any:
    """How far the blocks of a neuron share their vectors, 1 in the closed form and 0 at random."""
    return vector_measures(network.w_in, network.w_out, data.run.group)[2]


@record("rqi", "embedding-mlp")
def _rqi(network: Network, data: Data) -> Any:
    """Share of the parallelograms i + j = m + n that the embedding realizes (Liu et al. 2022)."""
    return representation_quality(network.parameters["embedding"])


@record("sharpness")
def _sharpness(network: Network, data: Data) -> Any:
    """Largest eigenvalue of the Hessian of the mean squared error on the training examples."""
    import jax
    from jax.flatten_util import ravel_pytree

    batch, answers = data.run.batch, network.signature.outputs
    inputs = batch.inputs.reshape(-1, batch.inputs.shape[-1])
    right = jax.nn.one_hot(batch.labels.reshape(-1), answers)
    weights, unravel = ravel_pytree(network.parameters)

    def loss(flat: Any) -> Any:
        found = network.architecture.apply(unravel(flat), inputs, network.signature)
        return ((found - right) ** 2).mean(axis=1) @ batch.weight.reshape(-1)

    return traced_eigenvalue(lambda v: jax.jvp(jax.grad(loss), (weights,), (v,))[1], weights.size)


@record("last_layer", "two-layer", "mlp", "embedding-mlp", "transformer")
def _last_layer(network: Network, data: Data) -> Any:
    """Frobenius norm of the matrix that makes the outputs (Thilak et al. 2022)."""
    weights = last_layer(network)
    return namespace(weights).sqrt((weights**2).sum())


def last_layer(network: Network) -> Any:
    """The weights that make the outputs."""
    return network.architecture.last_layer(network.parameters)
