r"""Where the prefactors of the network live.

| name | $h^{(1)}$ | $h^{(2)}$ | weights at initialization |
|---|---|---|---|
| `mean-field` (the paper, `eq_h1`, `eq_h2`) | $W^{(1)}x/\sqrt D$ | $W^{(2)}z/N$ | $\mathcal N(0, 1)$ |
| `standard` (the follow-up papers) | $W^{(1)}x$ | $W^{(2)}z$ | $\mathcal N(0, (16N)^{-2/3})$ |
"""

from dataclasses import dataclass

from modgrok.errors import ModgrokError

NAMES = ("mean-field", "standard")


@dataclass(frozen=True)
class Scales:
    """The numbers a parametrization fixes for input dimension D = S·p and width N."""

    hidden: float
    """Prefactor of the first layer's preactivations."""
    output: float
    """Prefactor of the second layer's preactivations."""
    initial: float
    """Standard deviation of both weight matrices at initialization."""


def scales(name: str, input_dimension: int, width: int) -> Scales:
    """Prefactors and initial standard deviation of a parametrization."""
    if name == "mean-field":
        return Scales(input_dimension**-0.5, 1 / width, 1.0)
    if name == "standard":
        return Scales(1.0, 1.0, (16 * width) ** (-1 / 3))
    raise ModgrokError(f"A parametrization is one of {', '.join(NAMES)}, not {name!r}.")
