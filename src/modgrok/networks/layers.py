"""Pieces that architectures share: dense layers as in PyTorch, look-ups whose gradient adds up alike on all devices."""

from typing import Any

from modgrok.arrays import namespace
from modgrok.networks.activation import activation
from modgrok.networks.architecture import Cost, Noise, Parameters
from modgrok.networks.taps import tap
from modgrok.shapes import Float, Inexact, Integer
from modgrok.tasks import Signature


def dense(parameters: Parameters, name: str, x: Inexact[Any, "*rows i"]) -> Inexact[Any, "*rows o"]:
    """$x W^T + b$ with the weight (out, in) and, where there is one, the bias of that name."""
    # Not `x @ w.T`: on a GPU every small matrix that is transposed is copied, and its moving averages with it.
    weight = parameters[f"{name}.weight"]
    y = namespace(x, weight).tensordot(x, weight, axes=(-1, 1))
    bias = parameters.get(f"{name}.bias")
    return y if bias is None else y + bias.reshape((1,) * (y.ndim - 1) + bias.shape)


def init_dense(key: Any, name: str, fan_in: int, fan_out: int, bias: bool, scale: Any, dtype: Any) -> Parameters:
    r"""PyTorch's default: weight and bias uniform between $\pm 1/\sqrt{\text{fan in}}$, here times `scale`."""
    import jax
    import jax.numpy as jnp

    bound = jnp.asarray(scale * fan_in**-0.5, dtype)
    of_weight, of_bias = jax.random.split(key)
    made = {f"{name}.weight": bound * jax.random.uniform(of_weight, (fan_out, fan_in), dtype, -1, 1)}
    if bias:
        made[f"{name}.bias"] = bound * jax.random.uniform(of_bias, (fan_out,), dtype, -1, 1)
    return made


def rows_of(table: Inexact[Any, "value *d"], index: Integer[Any, "*rows"]) -> Inexact[Any, "..."]:
    """Looked-up rows. The gradient is a product with one-hot rows: a GPU's scatter adds in an order of its own."""
    if namespace(table).__name__ == "numpy":
        return table[index]
    import jax
    import jax.numpy as jnp

    @jax.custom_vjp
    def look_up(table: Any, index: Any) -> Any:
        return table.at[index].get(mode="promise_in_bounds")

    def backward(index: Any, d_rows: Any) -> tuple[Any, None]:
        flat = index.reshape(-1)
        chosen = (jnp.arange(table.shape[0], dtype=flat.dtype)[:, None] == flat[None, :]).astype(d_rows.dtype)
        return (chosen @ d_rows.reshape(flat.size, -1)).reshape(table.shape), None

    look_up.defvjp(lambda table, index: (look_up(table, index), index), backward)
    return look_up(table, index)


def first_layer(parameters: Parameters, name: str, inputs: Any, signature: Signature) -> Float[Any, "row o"]:
    """A dense layer on what a task's inputs are: one-hot numbers side by side, signs, or real vectors."""
    weight = parameters[f"{name}.weight"]
    if not signature.sizes:
        return dense(parameters, name, inputs)
    if signature.signs:
        return dense(parameters, name, 1 - 2 * inputs.astype(weight.dtype))
    h, start = 0, 0
    for s, size in enumerate(signature.sizes):
        h = h + rows_of(weight[:, start : start + size].T, inputs[:, s])
        start += size
    bias = parameters.get(f"{name}.bias")
    return h if bias is None else h + bias[None, :]


def input_width(signature: Signature) -> int:
    """How many numbers a dense first layer reads."""
    if not signature.sizes:
        return signature.dimension
    return len(signature.sizes) if signature.signs else sum(signature.sizes)


class Perceptron:
    """Dense layers with an activation after each but the last, on `name.0`, `name.1`, …"""

    def __init__(self, name: str, widths: tuple[int, ...], function: str, biases: bool) -> None:
        self.name, self.widths, self.function, self.biases = name, widths, function, biases

    def init(self, key: Any, scale: Any, dtype: Any) -> Parameters:
        import jax

        keys = jax.random.split(key, len(self.widths) - 1)
        made: Parameters = {}
        for i, (fan_in, fan_out) in enumerate(zip(self.widths, self.widths[1:], strict=False)):
            made |= init_dense(keys[i], f"{self.name}.{i}", fan_in, fan_out, self.biases, scale, dtype)
        return made

    def apply(self, parameters: Parameters, first: Float[Any, "row o"], noise: Noise | None) -> Float[Any, "row out"]:
        """Everything after the first layer's preactivations."""
        h = first
        for i in range(1, len(self.widths) - 1):
            z = tap(f"hidden.{i - 1}", activation(self.function)(tap(f"preactivations.{i - 1}", h)))
            h = dense(parameters, f"{self.name}.{i}", z if noise is None else noise.drop(z, i - 1))
        return h

    @property
    def cost(self) -> Cost:
        pairs = list(zip(self.widths, self.widths[1:], strict=False))
        flops = sum(2 * i * o for i, o in pairs)
        parameters = sum(i * o + (o if self.biases else 0) for i, o in pairs)
        return Cost(flops, parameters, sum(self.widths[1:-1]))
