"""The optimizers of the paper on Optax, with every rate a number that may differ from run to run of one batch."""

from typing import Any, NamedTuple

import jax
import optax

from modgrok.training.program import Program


class Rates(NamedTuple):
    """What an update depends on besides the gradient: scalars, traced."""

    learning_rate: Any
    momentum: Any
    coupled_decay: Any
    """Weight decay added to the gradient, before momentum or Adam see it."""
    decoupled_decay: Any
    """Weight decay applied to the weights beside the update, times the learning rate, as in AdamW."""
    beta1: Any
    beta2: Any
    epsilon: Any
    dropout: Any


def transformation(program: Program, rates: Rates) -> optax.GradientTransformation:
    """Gradient → update: coupled decay, then momentum or Adam, then decoupled decay, times −learning rate."""
    if program.family == "adam":
        scaling = optax.scale_by_adam(b1=rates.beta1, b2=rates.beta2, eps=rates.epsilon)
    else:
        scaling = optax.trace(decay=rates.momentum, nesterov=program.nesterov)
    chain = optax.chain(
        optax.add_decayed_weights(rates.coupled_decay),
        scaling,
        optax.add_decayed_weights(rates.decoupled_decay),
        optax.scale_by_learning_rate(rates.learning_rate),
    )

    def update(gradient: Any, state: Any, weights: Any) -> Any:
        # Adam's bias correction is a rate to the power of a whole number, which strict promotion forbids.
        with jax.numpy_dtype_promotion("standard"):
            return chain.update(gradient, state, weights)

    return optax.GradientTransformation(chain.init, update)
