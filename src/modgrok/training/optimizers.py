r"""The optimizers by name, a factory each on Optax; rates are numbers that may differ from run to run of a batch.

An update is: ⊥Grad, Grokfast, coupled decay, the optimizer's scaling, decoupled decay, times −learning rate.

The gradient of the paper's network and loss at initialization is about $2/(p^3 N)$, so the natural unit of the learning
rate of plain gradient descent is $(p/97)^3 (N/500)$. Adam divides by the gradient's size and needs no such unit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from modgrok.networks import Architecture
from modgrok.networks.architecture import Parameters
from modgrok.setting import Setting
from modgrok.tasks import Signature
from modgrok.training.program import Program

Rates = dict[str, Any]
"""What an update depends on besides the gradient: scalars, traced."""


@dataclass(frozen=True)
class Optimizer:
    """What a name stands for; every number is a default that a setting of the same name overrides."""

    scaling: str
    """Which of `SCALINGS`."""
    learning_rate: float
    """For the paper's network at p = 97, N = 500, in mean-field parametrization."""
    steps: int
    """Enough for the paper's network to grok at α = 0.5."""
    standard_rate: float
    """For networks whose weights start at ordinary sizes: mlp, embedding-mlp, transformer."""
    settings: tuple[Setting, ...] = ()
    """Settings that it brings, which its scaling finds among the rates."""
    weight_decay: float = 0.0
    standard_decay: float = 0.0
    """Weight decay where the weights have ordinary sizes."""
    batch_size: int | None = None
    decay: Literal["coupled", "decoupled"] = "coupled"


def _momentum(default: float) -> tuple[Setting]:
    return (Setting("momentum", float, default, "Momentum", "[0, 1)"),)


_BETA1 = Setting("beta1", float, 0.9, "Decay of the average of gradients", "[0, 1)")
_BETA2 = Setting("beta2", float, 0.98, "Decay of the average of squared gradients", "[0, 1)")
_EPSILON = Setting("epsilon", float, 1e-8, "Added to the divisor", "(0, inf)")
_ADAM = (_BETA1, _BETA2, _EPSILON)
OPTIMIZERS = {
    "gd": Optimizer("trace", 1e6, 5_000, 0.1, _momentum(0.0)),
    "momentum": Optimizer("trace", 1e5, 3_000, 0.02, _momentum(0.9)),
    "nesterov": Optimizer("nesterov", 1e5, 3_000, 0.02, _momentum(0.9)),
    "sgd": Optimizer("trace", 1e6, 5_000, 0.1, _momentum(0.0), batch_size=1024),
    "adam": Optimizer("adam", 0.1, 1_000, 1e-3, _ADAM),
    "adamw": Optimizer("adam", 0.1, 1_000, 1e-3, _ADAM, weight_decay=0.05, standard_decay=1.0, decay="decoupled"),
    "rmsprop": Optimizer("rmsprop", 0.03, 2_000, 1e-3, (_BETA2, _EPSILON)),
    "lion": Optimizer("lion", 0.03, 2_000, 1e-4, (_BETA1, _BETA2), standard_decay=10.0, decay="decoupled"),
    "muon": Optimizer("muon", 1.0, 2_000, 0.01, _momentum(0.95), standard_decay=1.0, decay="decoupled"),
}


def register(name: str, optimizer: Optimizer, scaling: Callable[[Rates], Any]) -> None:
    """Makes an optimizer known by its name; `scaling` turns rates into an Optax transformation of the gradient."""
    OPTIMIZERS[name] = optimizer
    SCALINGS[optimizer.scaling] = scaling


def _amplified(default: float) -> Setting:
    return Setting("grokfast_lambda", float, default, "Factor of the slow gradients", "[0, inf)")


GROKFAST: dict[str, tuple[Setting, ...]] = {
    "none": (),
    "ema": (
        _amplified(2.0),
        Setting("grokfast_alpha", float, 0.98, "Share that the exponential average keeps in a step", "[0, 1)"),
    ),
    "ma": (
        _amplified(5.0),
        Setting("grokfast_window", int, 100, "Number of gradients in the moving average", "[1, 100000]"),
    ),
}
"""How slow gradients are amplified, with the settings that each way brings."""
DESCENT = ("trace", "nesterov")
"""Scalings whose updates are proportional to the gradient."""


GROUP_RATE = 3.0
"""Adam's rate on products in a group, in units of that on n + m."""


def natural_decay(optimizer: str, architecture: Architecture, group: int = 0) -> float:
    """The weight decay behind `auto`. For the paper's network on a group in inverse proportion to its order: measured
    with N = 500 and α = 0.5, S4 groks at 0.1 to 0.2 and not at 0.05 or 0.3, A5 best at 0.08, S5 at 0.02 to 0.04. Groups
    of less than 24 elements have S4's: more of it makes their weights vanish."""
    chosen = OPTIMIZERS[optimizer]
    if not architecture.starts_large:
        return chosen.standard_decay
    return float(f"{chosen.weight_decay * (97 / max(group, 24) if group else 1):.6g}")


def natural_learning_rate(
    optimizer: str, architecture: Architecture, signature: Signature, loss: str, group: int = 0
) -> float:
    """The learning rate behind `auto`; `group` is the order where the task is a product in one."""
    chosen = OPTIMIZERS[optimizer]
    rate = chosen.learning_rate if architecture.starts_large else chosen.standard_rate
    if group and chosen.scaling == "adam" and architecture.starts_large:
        rate *= GROUP_RATE
    return architecture.natural_rate(rate, chosen.scaling in DESCENT, signature, loss)


class Start(NamedTuple):
    """What some updates remember of the beginning: the weights, or their norm."""

    weights: Parameters | None
    norm: Any


def update(
    program: Program,
    rates: Rates,
    gradient: Parameters,
    state: Any,
    weights: Parameters,
    start: Start,
    step: Any,
    key: Any = None,
) -> tuple[Parameters, Any]:
    """The weights after a step, and the optimizer's state; where updates are noisy, `key` decides how."""
    import jax
    import jax.numpy as jnp

    if "schedule" in program.features:
        rates = rates | {"lr": rates["lr"] * _schedule(rates, step)}
    # Adam's bias correction is a rate to the power of a whole number, which strict promotion forbids.
    with jax.numpy_dtype_promotion("standard"):
        updates, state = transformation(program, rates, start).update(gradient, state, weights)
    if "update_noise" in program.features:
        added = normal_like(key, weights, rates["lr"] * rates["update_noise"])
        updates = jax.tree.map(jnp.add, updates, added)
    most = jnp.finfo(program.dtype).max
    moved = jax.tree.map(lambda w, update: jnp.clip(w + update, -most, most), weights, updates)
    if "hold_norm" in program.features:
        factor = start.norm / norm(moved)
        moved = jax.tree.map(lambda w: w * factor, moved)
    return moved, state


def transformation(program: Program, rates: Rates, start: Start | None = None) -> Any:
    """Gradient → update, as an Optax transformation."""
    import optax

    start = start or Start(None, None)
    chain = []
    if "orthogonal" in program.features:
        chain.append(_orthogonal())
    if "grokfast_ema" in program.features:
        chain.append(_grokfast_ema(rates["grokfast_alpha"], rates["grokfast_lambda"]))
    if "grokfast_ma" in program.features:
        chain.append(_grokfast_ma(program.window, rates["grokfast_lambda"]))
    chain += [
        _decay(program, rates, "coupled_decay", start),
        SCALINGS[program.scaling](rates),
        _decay(program, rates, "decoupled_decay", start),
        optax.scale_by_learning_rate(rates["lr"]),
    ]
    if "groups" in program.features:
        chain.append(_scale_groups(program.architecture, rates))
    return optax.chain(*chain)


def normal_like(key: Any, tree: Parameters, deviation: Any) -> Parameters:
    """Gaussian numbers in the shapes of these arrays."""
    import jax

    keys = zip(sorted(tree), jax.random.split(key, len(tree)), strict=True)
    return {name: deviation * jax.random.normal(own, tree[name].shape, tree[name].dtype) for name, own in keys}


def norm(tree: Any) -> Any:
    """The Frobenius norm of all arrays together."""
    import jax
    import jax.numpy as jnp

    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


def _trace(rates: Rates, nesterov: bool = False) -> Any:
    import optax

    return optax.trace(decay=rates["momentum"], nesterov=nesterov)


def _adam(rates: Rates) -> Any:
    import optax

    return optax.scale_by_adam(b1=rates["beta1"], b2=rates["beta2"], eps=rates["epsilon"])


def _rmsprop(rates: Rates) -> Any:
    """The divisor is √v + ε, as PyTorch has it."""
    import optax

    return optax.scale_by_rms(decay=rates["beta2"], eps=rates["epsilon"], eps_in_sqrt=False)


def _lion(rates: Rates) -> Any:
    import optax

    return optax.scale_by_lion(b1=rates["beta1"], b2=rates["beta2"])


def _muon(rates: Rates) -> Any:
    """Momentum, made orthogonal by Newton–Schulz for matrices; the sign of the momentum for vectors and stacks.

    Jordan's Muon has a factor √max(1, rows/columns) besides, and AdamW for embeddings, readouts and vectors; a network
    of one hidden layer would have nothing left to orthogonalize (docs/definitions.md).
    """
    import jax
    import optax
    from optax.contrib import MuonDimensionNumbers, scale_by_muon

    def kinds(parameters: Parameters) -> Mapping[str, str]:
        return {name: "muon" if leaf.ndim == 2 else "sign" for name, leaf in parameters.items()}

    sign = optax.chain(
        optax.trace(decay=rates["momentum"], nesterov=True),
        optax.stateless(lambda updates, _: jax.tree.map(jax.numpy.sign, updates)),
    )
    matrices = scale_by_muon(
        beta=rates["momentum"],
        weight_dimension_numbers=lambda updates: jax.tree.map(lambda _: MuonDimensionNumbers(), updates),
    )
    return optax.partition({"muon": matrices, "sign": sign}, kinds)


SCALINGS: dict[str, Callable[[Rates], Any]] = {
    "trace": _trace,
    "nesterov": lambda rates: _trace(rates, nesterov=True),
    "adam": _adam,
    "rmsprop": _rmsprop,
    "lion": _lion,
    "muon": _muon,
}


def _schedule(rates: Rates, step: Any) -> Any:
    """min(step/warm-up, 1), times a cosine from 1 to the last share over all steps; the first step is number 0."""
    import jax.numpy as jnp

    number = step.astype(rates["lr"].dtype)
    rising = jnp.minimum(number / jnp.maximum(rates["warmup"], 1), 1)
    rising = jnp.where(rates["warmup"] > 0, rising, jnp.ones_like(rising))
    falling = rates["lr_end"] + (1 - rates["lr_end"]) * (1 + jnp.cos(jnp.pi * number / rates["steps"])) / 2
    return rising * falling


def _decay(program: Program, rates: Rates, name: str, start: Start) -> Any:
    """Adds rate × weights, or × their distance from the start, to the update; groups may have rates of their own."""
    import jax
    import optax

    if not {"groups", "decay_to_start"} & program.features:
        return optax.add_decayed_weights(rates[name])

    def add(updates: Parameters, parameters: Parameters) -> Parameters:
        grown = parameters if start.weights is None else jax.tree.map(jax.numpy.subtract, parameters, start.weights)
        factor = {key: rates.get(f"{name}_{program.architecture.group(key)}", rates[name]) for key in updates}
        return {key: updates[key] + factor[key] * grown[key] for key in updates}

    return optax.stateless(add)


def _scale_groups(architecture: Architecture, rates: Rates) -> Any:
    """Updates of a group with a rate of its own, at that rate."""
    import optax

    def scale(updates: Parameters, _: Any) -> Parameters:
        factors = {key: rates.get(f"lr_{architecture.group(key)}") for key in updates}
        return {key: u if factors[key] is None else u * factors[key] for key, u in updates.items()}

    return optax.stateless(scale)


def _orthogonal() -> Any:
    r"""⊥Grad (Prieto et al. 2025): $g - \frac{w\cdot g}{w\cdot w} w$ for each tensor, brought back to the norm of g."""
    import jax.numpy as jnp
    import optax

    def project(g: Any, w: Any) -> Any:
        tiny = jnp.finfo(g.dtype).tiny
        across = g - (w * g).sum() / ((w * w).sum() + tiny) * w
        return across * jnp.sqrt((g * g).sum() / ((across * across).sum() + tiny))

    return optax.stateless(lambda updates, weights: {key: project(updates[key], weights[key]) for key in updates})


def _grokfast_ema(alpha: Any, factor: Any) -> Any:
    r"""Grokfast (Lee et al. 2024): $g + \lambda m$, $m = \alpha m + (1 - \alpha) g$, which starts at the first g."""
    import jax
    import jax.numpy as jnp
    import optax

    def init(weights: Parameters) -> Any:
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, weights)

    def act(updates: Parameters, state: Any, weights: Any = None) -> tuple[Parameters, Any]:
        count, mean = state
        mean = jax.tree.map(lambda m, g: jnp.where(count == 0, g, alpha * m + (1 - alpha) * g), mean, updates)
        return jax.tree.map(lambda g, m: g + factor * m, updates, mean), (count + 1, mean)

    return optax.GradientTransformation(init, act)


def _grokfast_ma(window: int, factor: Any) -> Any:
    r"""Grokfast by a moving average: $g + \lambda m$, m the mean of the last `window` gradients."""
    import jax
    import jax.numpy as jnp
    import optax

    def init(weights: Parameters) -> Any:
        return jnp.zeros((), jnp.int32), jax.tree.map(lambda w: jnp.zeros((window, *w.shape), w.dtype), weights)

    def act(updates: Parameters, state: Any, weights: Any = None) -> tuple[Parameters, Any]:
        count, memory = state
        memory = jax.tree.map(lambda m, g: m.at[count % window].set(g), memory, updates)
        full = count + 1 >= window
        grown = jax.tree.map(lambda g, m: jnp.where(full, g + factor * m.mean(axis=0), g), updates, memory)
        return grown, (count + 1, memory)

    return optax.GradientTransformation(init, act)
