r"""Activations $\phi$ by name: one entry each (paper, `eq_h1` and appendix B)."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modgrok.arrays import namespace
from modgrok.errors import Unknown
from modgrok.setting import setting

MONOMIAL = re.compile(r"x\^(\d+)")


@dataclass(frozen=True)
class Activation:
    """A function that works on NumPy's and on JAX's arrays."""

    function: Callable[[Any], Any]
    degree: int | None = None
    r"""Degree $d$ of homogeneity, $\phi(cx) = c^d \phi(x)$ for $c > 0$; None where there is none."""


def activation(name: str) -> Callable[[Any], Any]:
    """The function behind a name: an entry of `ACTIVATIONS`, or `x^d` with d from 1 to 32."""
    return _entry(name).function


def activation_setting(default: str) -> Any:
    """The field of an architecture that has an activation."""
    return setting(default, f"{', '.join(ACTIVATIONS)}, or x^d", spell=activation_name)


def activation_name(text: str) -> str:
    """The name that a text means, which may be typed in capitals."""
    return text if text in ACTIVATIONS else text.lower()


def degree(name: str) -> int | None:
    """The degree of homogeneity of the activation of that name."""
    return _entry(name).degree


def _entry(name: str) -> Activation:
    if name in ACTIVATIONS:
        return ACTIVATIONS[name]
    match = MONOMIAL.fullmatch(name)
    if match and len(match[1]) < 3 and 1 <= int(match[1]) <= 32:
        d = int(match[1])
        return Activation(lambda x: x**d, d)
    names = ", ".join(ACTIVATIONS)
    sentence = f"An activation is one of {names}, x^d with 1 ≤ d ≤ 32 (for example x^3), not {name!r}."
    raise Unknown(sentence, f"activation {name!r}")


def _gelu(x: Any) -> Any:
    if namespace(x).__name__ == "numpy":
        from scipy.special import erf
    else:
        from jax.scipy.special import erf
    return 0.5 * x * (1 + erf(x * 0.5**0.5))


def _silu(x: Any) -> Any:
    # x σ(x) in terms of tanh, which neither overflows nor warns.
    return 0.5 * x * (1 + namespace(x).tanh(0.5 * x))


ACTIVATIONS: dict[str, Activation] = {
    "quadratic": Activation(lambda x: x * x, 2),
    "relu": Activation(lambda x: namespace(x).maximum(x, 0), 1),
    "gelu": Activation(_gelu),
    "abs": Activation(abs, 1),
    "tanh": Activation(lambda x: namespace(x).tanh(x)),
    "silu": Activation(_silu),
    "leaky-relu": Activation(lambda x: namespace(x).maximum(x, 0.2 * x), 1),
    "sin": Activation(lambda x: namespace(x).sin(x)),
}
OWN_ACTIVATIONS = dict(ACTIVATIONS)
"""Those that modgrok brings."""
