r"""Activations $\phi$ of the hidden layer (paper, `eq_h1` and appendix B), by name."""

import re
from collections.abc import Callable
from typing import Any

from modgrok.arrays import namespace
from modgrok.errors import ModgrokError

MONOMIAL = re.compile(r"x\^(\d+)")
NAMES = ("quadratic", "relu", "gelu", "abs", "tanh", "silu", "x^d")


def degree(name: str) -> int | None:
    r"""Degree $d$ of homogeneity, $\phi(cx) = c^d \phi(x)$ for $c > 0$; None where there is none."""
    if name == "quadratic":
        return 2
    if name in ("relu", "abs"):
        return 1
    if match := MONOMIAL.fullmatch(name):
        return int(match[1])
    return None


def check(name: str) -> None:
    """Raises where no activation has this name."""
    activation(name)


def activation(name: str) -> Callable[[Any], Any]:
    """The function behind a name: `quadratic`, `relu`, `gelu`, `abs`, `tanh`, `silu`, or `x^d` with d from 1 to 32."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    match = MONOMIAL.fullmatch(name)
    if match and 1 <= int(match[1]) <= 32:
        d = int(match[1])
        return lambda x: x**d
    raise ModgrokError(f"An activation is one of {', '.join(NAMES)} with 1 ≤ d ≤ 32 (for example x^3), not {name!r}.")


def _gelu(x: Any) -> Any:
    if namespace(x).__name__ == "numpy":
        from scipy.special import erf
    else:
        from jax.scipy.special import erf
    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def _silu(x: Any) -> Any:
    # x σ(x) in terms of tanh, which neither overflows nor warns.
    return 0.5 * x * (1 + namespace(x).tanh(0.5 * x))


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "quadratic": lambda x: x * x,
    "relu": lambda x: namespace(x).maximum(x, 0),
    "gelu": _gelu,
    "abs": abs,
    "tanh": lambda x: namespace(x).tanh(x),
    "silu": _silu,
}
