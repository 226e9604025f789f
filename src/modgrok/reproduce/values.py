"""Numbers as JSON values, and short texts of them."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


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


def short(value: float | None) -> str:
    """A number for people: three significant digits."""
    if value is None:
        return "–"
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.3g}"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:,.0f}".replace(",", " ")
    mantissa, exponent = f"{value:.2g}".split("e") if "e" in f"{value:.2g}" else (f"{value:.2g}", "")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def percent(value: float | None) -> str:
    """A share for people."""
    return "–" if value is None else f"{100 * value:.1f} %"


def spread(values: Sequence[float | None], text: Any = short) -> str:
    """Median and range over seeds; seeds without a number are counted."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return f"none of {len(values)}"
    middle = text(float(np.median(known)))
    among = f"{len(values)} seed{'s' if len(values) > 1 else ''}"
    missing = f", none in {len(values) - len(known)}" if len(known) < len(values) else ""
    return f"{middle} ({text(known[0])} to {text(known[-1])}, {among}{missing})"


def mean(values: Sequence[float | None]) -> float:
    """Mean of the numbers that exist; NaN where none does."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan
