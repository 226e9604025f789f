"""What an architecture is: a frozen value that makes parameters, applies them, names them and states their cost."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from modgrok.errors import ModgrokError, Unknown
from modgrok.setting import Setting, settings_of
from modgrok.shapes import Float, Inexact, Shaped
from modgrok.tasks import Signature

Parameters = dict[str, Any]
"""Arrays by name."""


class Cost(NamedTuple):
    """What one example and the parameters take; all estimates of time and memory follow from these."""

    flops: float
    """FLOPs of one example's forward pass; the backward pass takes twice as many."""
    parameters: int
    activations: int
    """Hidden activations of one example that the backward pass reads again."""


class Noise(NamedTuple):
    """What only a training step has: a key for dropout, the share it silences, and how much every example counts."""

    key: Any
    rate: Float[Any, ""] | None
    """None where nothing is silenced."""
    weight: Float[Any, "row"]
    """Adds up to 1 over the batch; padding counts nothing."""
    row: Any
    """Numbers of the examples, so that what an example loses does not depend on the block it is in."""

    def drop(self, z: Float[Any, "row *rest"], layer: int = 0) -> Float[Any, "row *rest"]:
        """The activations of one layer, silenced with probability `rate`, the others grown by 1/(1 − rate)."""
        if self.rate is None:
            return z
        return z * self.mask(z.shape[1:], z.dtype, layer)

    def mask(self, shape: tuple[int, ...], dtype: Any, layer: int = 0) -> Float[Any, "row *shape"]:
        """Zero with probability `rate`, otherwise 1/(1 − rate)."""
        import jax

        assert self.rate is not None
        key = self.key if layer == 0 else jax.random.fold_in(self.key, layer)
        keys = jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, self.row)
        bits = jax.vmap(lambda key: jax.random.bits(key, shape, jax.numpy.uint16))(keys)
        return (bits.astype(dtype) >= self.rate * 65536).astype(dtype) / (1 - self.rate)


@dataclass(frozen=True)
class Architecture(ABC):
    """A family of functions. Its fields are settings of an experiment: keywords, flags, part of the id; one that is
    declared with `setting` has a help text and a range.

    Code that evaluates is written for NumPy and JAX alike (`modgrok.arrays.namespace`).
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    loss: ClassVar[str] = "cross_entropy"
    """What it is trained with unless another loss is asked for."""
    steps: ClassVar[int] = 5_000
    """For how long, likewise."""
    least_rows: ClassVar[int] = 64
    """Examples that a block on a CPU has at least: shorter ones repeat too much of what all examples share."""
    block_rows: ClassVar[tuple[int, ...]] = ()
    """Examples of every block on a CPU, short ones for short training sets: the sets of any length that have the same
    share a compilation. None given: blocks are as long as it takes to hold a training set exactly."""
    has_waves: ClassVar[bool] = False
    """Whether its weights are read as waves along the task's coordinate: spectra, participation ratios, phases."""
    starts_large: ClassVar[bool] = False
    """Whether its weights start at the paper's sizes, for which optimizers have rates, decays and lengths of their own;
    otherwise at ordinary ones."""
    h200_flops: ClassVar[float] = 2e13
    """Operations a second of a batch on an H200."""
    divisible: ClassVar[bool] = False
    """Whether several CPU devices may share the examples of a large run that is alone: where a compiler rounds the sum
    of two parts as it rounds the whole."""
    groups: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Parameters that may have a rate, a decay and recorded norms of their own, by the first words of their names; all
    others are the group `rest`."""

    def check(self, signature: Signature) -> None:  # noqa: B027
        """Raises if this architecture cannot read the inputs of a task."""

    @abstractmethod
    def init(self, key: Any, signature: Signature, scale: Any, dtype: Any) -> Parameters:
        """Random parameters for a task, `scale` times the usual ones."""

    @abstractmethod
    def apply(
        self, parameters: Parameters, inputs: Shaped[Any, "row width"], signature: Signature, noise: Noise | None = None
    ) -> Inexact[Any, "row output"]:
        """Outputs for inputs, which are integers, one column for each variable, or real vectors."""

    @abstractmethod
    def cost(self, signature: Signature) -> Cost:
        """Operations, parameters and activations."""

    def settle(self, parameters: Parameters, inputs: Any, weight: Any, signature: Signature) -> Parameters:
        """The parameters ready for evaluation: with the training set's statistics where the architecture needs them."""
        return parameters

    def natural_rate(self, rate: float, descends: bool, signature: Signature, loss: str) -> float:
        """The rate for a task, from an optimizer's; `descends` where updates are proportional to the gradient."""
        return rate

    def last_layer(self, parameters: Parameters) -> Any:
        """The weights that make the outputs."""
        raise NotImplementedError

    def input_weights(self, parameters: Parameters, signature: Signature) -> Any:
        """The weights that read a number, (neuron, variable, value), or (neuron, 1, value) where all variables share
        them; None where there are none."""
        return None

    def tensors(self, parameters: Parameters) -> Parameters:
        """Arrays as they are stored, by name."""
        return parameters

    def from_tensors(self, tensors: Parameters) -> Parameters:
        """What `tensors` made."""
        return tensors

    def facts(self, parameters: Parameters, signature: Signature) -> dict[str, Any]:
        """Further attributes of a network of this architecture."""
        return {}

    def shapes(self, signature: Signature) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters by name."""
        import jax

        made = jax.eval_shape(lambda key: self.init(key, signature, 1.0, "float32"), jax.random.key(0))
        return {name: leaf.shape for name, leaf in made.items()}

    def group(self, parameter: str) -> str:
        """The group that a parameter belongs to."""
        found = (group for group, starts in self.groups.items() if parameter.startswith(starts))
        return next(found, "rest")

    def group_names(self, parameters: Mapping[str, Any]) -> list[str]:
        """The groups of these parameters, in order."""
        return list(dict.fromkeys(self.group(name) for name in parameters))

    def settings(self) -> dict[str, Any]:
        """The values of the fields by name."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    @classmethod
    def brings(cls) -> dict[str, Setting]:
        """The settings of an experiment with this architecture that others do not have."""
        return settings_of(cls) | (OF_EMBEDDINGS if "embedding" in cls.groups else {})


OF_EMBEDDINGS = {
    "embedding_lr": Setting("embedding_lr", float | None, None, "Learning rate of the embedding", "(0, inf)"),
    "embedding_decay": Setting("embedding_decay", float | None, None, "Weight decay of the embedding", "[0, inf)"),
}
"""Settings of architectures whose embedding is a group of its own."""
ARCHITECTURES: dict[str, type[Architecture]] = {}


def register(architecture: type[Architecture]) -> type[Architecture]:
    """Makes an architecture known by its name; a decorator for its class."""
    if missing := [f.name for f in dataclasses.fields(architecture) if f.default is dataclasses.MISSING]:
        raise ModgrokError(f"{missing[0]} of {architecture.__name__} needs a default, as all settings do.")
    ARCHITECTURES[architecture.name] = architecture
    return architecture


def architecture_named(name: str) -> type[Architecture]:
    """The architecture of that name."""
    if name not in ARCHITECTURES:
        raise Unknown(f"A network is one of {', '.join(ARCHITECTURES)}, not {name!r}.", f"network {name!r}")
    return ARCHITECTURES[name]
