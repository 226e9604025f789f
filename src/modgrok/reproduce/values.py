"""Numbers as JSON values, and short texts of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

NARROW = "\u202f"
"""A narrow space at which lines do not break."""
Value = int | float | None
"""A number, or none where there is nothing to measure."""


def plain(value: Any, digits: int = 5) -> Any:
    """JSON values with floats rounded to so many significant digits; null where a number does not exist."""
    if isinstance(value, dict):
        return {str(key): plain(item, digits) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), digits)
    if isinstance(value, (list, tuple)):
        return [plain(item, digits) for item in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(f"{float(value):.{digits}g}") if math.isfinite(value) else None
    return value


def short(value: Value) -> str:
    """A number for people: a few digits, thousands apart."""
    if value is None:
        return "–"
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}".replace(",", NARROW)
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def percent(value: Value) -> str:
    """A share for people."""
    return "–" if value is None else f"{100 * value:.1f}{NARROW}%"


def spread(values: Sequence[Value], text: Any = short, over: str = "seed") -> str:
    """Median and range over seeds, or over what is said; those without a number are counted."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return f"none of {len(values)}"
    middle = text(float(np.median(known)))
    among = f"{len(values)} {over}{'s' if len(values) > 1 else ''}"
    missing = f", none in {len(values) - len(known)}" if len(known) < len(values) else ""
    least, most = text(known[0]), text(known[-1])
    return f"{middle} ({among}{missing})" if least == most else f"{middle} ({least} to {most}, {among}{missing})"


def mean(values: Sequence[Value]) -> float:
    """Mean of the numbers that exist; NaN where none does."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan
