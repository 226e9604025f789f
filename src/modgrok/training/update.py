"""The update of a step, on Optax: ⊥Grad, Grokfast, coupled decay, the optimizer's scaling, decoupled decay, times
−learning rate. Rates are numbers that may differ from run to run of a batch."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from modgrok.networks import Architecture
from modgrok.networks.architecture import Parameters
from modgrok.training.optimizers import SCALINGS, Rates
from modgrok.training.program import Program


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
        (OWN_SCALINGS | SCALINGS)[program.scaling](rates),
        _decay(program, rates, "decoupled_decay", start),
        optax.scale_by_learning_rate(rates["lr"]),
    ]
    if "groups" in program.features:
        chain.append(_scale_groups(program.architecture, rates))
    return optax.chain(*chain)


def normal_like(key: Any, tree: Parameters, deviation: Any) -> Parameters:
    """Gaussian numbers in the shapes of these arrays."""
    keys = zip(sorted(tree), jax.random.split(key, len(tree)), strict=True)
    return {name: deviation * jax.random.normal(own, tree[name].shape, tree[name].dtype) for name, own in keys}


def norm(tree: Any) -> Any:
    """The Frobenius norm of all arrays together."""
    return jnp.sqrt(sum((leaf**2).sum() for leaf in jax.tree.leaves(tree)))


def _trace(rates: Rates, nesterov: bool = False) -> Any:
    return optax.trace(decay=rates["momentum"], nesterov=nesterov)


def _adam(rates: Rates) -> Any:
    return optax.scale_by_adam(b1=rates["beta1"], b2=rates["beta2"], eps=rates["epsilon"])


def _rmsprop(rates: Rates) -> Any:
    """The divisor is √v + ε, as PyTorch has it."""
    return optax.scale_by_rms(decay=rates["beta2"], eps=rates["epsilon"], eps_in_sqrt=False)


def _lion(rates: Rates) -> Any:
    return optax.scale_by_lion(b1=rates["beta1"], b2=rates["beta2"])


def _muon(rates: Rates) -> Any:
    """Momentum, made orthogonal by Newton–Schulz for matrices; the sign of the momentum for vectors and stacks."""

    def kinds(parameters: Parameters) -> Mapping[str, str]:
        return {name: "muon" if leaf.ndim == 2 else "sign" for name, leaf in parameters.items()}

    sign = optax.chain(
        optax.trace(decay=rates["momentum"], nesterov=True),
        optax.stateless(lambda updates, _: jax.tree.map(jnp.sign, updates)),
    )
    return optax.partition({"muon": _orthogonal_momentum(rates), "sign": sign}, kinds)


def _muon_adam(rates: Rates) -> Any:
    """Jordan's Muon: orthogonal momentum times √max(1, rows/columns) for the matrices in a transformer's blocks, Adam
    at its own rate for everything else: embeddings, readouts and vectors."""

    def kinds(parameters: Parameters) -> Mapping[str, str]:
        inside = {name for name, leaf in parameters.items() if name.startswith("blocks.") and leaf.ndim == 2}
        return {name: "muon" if name in inside else "adam" for name in parameters}

    def shaped(updates: Any, _: Any) -> Any:
        return jax.tree.map(lambda u: u * max(1.0, u.shape[0] / u.shape[1]) ** 0.5, updates)

    muon = optax.chain(_orthogonal_momentum(rates), optax.stateless(shaped))
    return optax.partition({"muon": muon, "adam": optax.chain(_adam(rates), optax.scale(rates["adam_rate"]))}, kinds)


def _orthogonal_momentum(rates: Rates) -> Any:
    from optax.contrib import MuonDimensionNumbers, scale_by_muon

    return scale_by_muon(
        beta=rates["momentum"],
        weight_dimension_numbers=lambda updates: jax.tree.map(lambda _: MuonDimensionNumbers(), updates),
    )


OWN_SCALINGS: dict[str, Callable[[Rates], Any]] = {
    "trace": _trace,
    "nesterov": lambda rates: _trace(rates, nesterov=True),
    "adam": _adam,
    "rmsprop": _rmsprop,
    "lion": _lion,
    "muon": _muon,
    "muon-adam": _muon_adam,
}


def _schedule(rates: Rates, step: Any) -> Any:
    """min(step/warm-up, 1), times a cosine from 1 to the last share over all steps; the first step is number 0."""
    number = step.astype(rates["lr"].dtype)
    rising = jnp.minimum(number / jnp.maximum(rates["warmup"], 1), 1)
    rising = jnp.where(rates["warmup"] > 0, rising, jnp.ones_like(rising))
    falling = rates["lr_end"] + (1 - rates["lr_end"]) * (1 + jnp.cos(jnp.pi * number / rates["steps"])) / 2
    return rising * falling


def _decay(program: Program, rates: Rates, name: str, start: Start) -> Any:
    """Adds rate × weights, or × their distance from the start, to the update; groups may have rates of their own."""
    if not {"groups", "decay_to_start"} & program.features:
        return optax.add_decayed_weights(rates[name])

    def add(updates: Parameters, parameters: Parameters) -> Parameters:
        grown = parameters if start.weights is None else jax.tree.map(jnp.subtract, parameters, start.weights)
        factor = {key: rates.get(f"{name}_{program.architecture.group(key)}", rates[name]) for key in updates}
        return {key: updates[key] + factor[key] * grown[key] for key in updates}

    return optax.stateless(add)


def _scale_groups(architecture: Architecture, rates: Rates) -> Any:
    """Updates of a group with a rate of its own, at that rate."""

    def scale(updates: Parameters, _: Any) -> Parameters:
        factors = {key: rates.get(f"lr_{architecture.group(key)}") for key in updates}
        return {key: u if factors[key] is None else u * factors[key] for key, u in updates.items()}

    return optax.stateless(scale)


def _orthogonal() -> Any:
    r"""⊥Grad (Prieto et al. 2025): $g - \frac{w\cdot g}{w\cdot w} w$ for each tensor, brought back to the norm of g."""

    def project(g: Any, w: Any) -> Any:
        tiny = jnp.finfo(g.dtype).tiny
        across = g - (w * g).sum() / ((w * w).sum() + tiny) * w
        return across * jnp.sqrt((g * g).sum() / ((across * across).sum() + tiny))

    return optax.stateless(lambda updates, weights: {key: project(updates[key], weights[key]) for key in updates})


def _grokfast_ema(alpha: Any, factor: Any) -> Any:
    r"""Grokfast (Lee et al. 2024): $g + \lambda m$, $m = \alpha m + (1 - \alpha) g$, which starts at the first g."""

    def init(weights: Parameters) -> Any:
        return jnp.zeros((), jnp.int32), jax.tree.map(jnp.zeros_like, weights)

    def act(updates: Parameters, state: Any, weights: Any = None) -> tuple[Parameters, Any]:
        count, mean = state
        mean = jax.tree.map(lambda m, g: jnp.where(count == 0, g, alpha * m + (1 - alpha) * g), mean, updates)
        return jax.tree.map(lambda g, m: g + factor * m, updates, mean), (count + 1, mean)

    return optax.GradientTransformation(init, act)


def _grokfast_ma(window: int, factor: Any) -> Any:
    r"""Grokfast by a moving average: $g + \lambda m$, m the mean of the last `window` gradients."""

    def init(weights: Parameters) -> Any:
        return jnp.zeros((), jnp.int32), jax.tree.map(lambda w: jnp.zeros((window, *w.shape), w.dtype), weights)

    def act(updates: Parameters, state: Any, weights: Any = None) -> tuple[Parameters, Any]:
        count, memory = state
        memory = jax.tree.map(lambda m, g: m.at[count % window].set(g), memory, updates)
        full = count + 1 >= window
        grown = jax.tree.map(lambda g, m: jnp.where(full, g + factor * m.mean(axis=0), g), updates, memory)
        return grown, (count + 1, memory)

    return optax.GradientTransformation(init, act)
