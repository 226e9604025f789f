"""Spikes of the loss and stairs of a norm, from recorded curves."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.shapes import Bool, Float, Int

RISE = 100
"""A spike rises to this multiple of the least loss so far …"""
FLOOR = 1e-7
"""… or of this, where that was less: near the rounding of a loss in float32."""
VANISHED = 1e-5
"""Training loss below which nothing is left to learn."""

Steps = Int[np.ndarray, "evaluation"]
Curve = Float[np.ndarray, "evaluation"]


def high(loss: Curve) -> Bool[np.ndarray, "evaluation"]:
    """Where the loss is above `RISE` times its least value so far."""
    return loss > RISE * np.minimum.accumulate(np.maximum(loss, FLOOR))


def spikes(steps: Steps, loss: Curve) -> list[int]:
    """Where the loss becomes high. It must come down again before the next spike."""
    above = high(loss)
    return [int(step) for step in steps[1:][above[1:] & ~above[:-1]]]


def late_spikes(steps: Steps, loss: Curve) -> list[int]:
    """Those after the loss has been below a tenth of `FLOOR`, where float32 has no error left."""
    begun = steps[np.minimum.accumulate(loss) < FLOOR / 10]
    return [step for step in spikes(steps, loss) if len(begun) and step > begun[0]]


def stairs(steps: Steps, norm: Curve, places: Sequence[int]) -> list[bool]:
    """Between every two spikes, whether a norm grows at least thrice as much in the last quarter of the steps as in the
    first: a plateau behind a spike, and growth that ends in the next."""
    between = _between(steps, norm, places, 4)
    return [bool(end - last > 0 and end - last >= 3 * (first - start)) for start, first, last, end in between]


def growth_next_to(steps: Steps, norm: Curve, places: Sequence[int]) -> list[float]:
    """Between every two spikes, the share of a norm's growth that lies in the eighth of the steps behind the first and
    in that before the second: a quarter where it grows steadily, 0 where it does not grow."""
    return [
        float((first - start + end - last) / (end - start)) if end > start else 0.0
        for start, first, last, end in _between(steps, norm, places, 8)
    ]


def _between(steps: Steps, norm: Curve, places: Sequence[int], parts: int) -> list[Float[np.ndarray, "4"]]:
    """The norm at every two spikes in turn, and one of equal parts behind the first and before the second."""
    return [np.interp([a, a + (b - a) / parts, b - (b - a) / parts, b], steps, norm) for a, b in pairwise(places)]


def near(steps: Steps, places: Sequence[int], within: int) -> Bool[np.ndarray, "evaluation"]:
    """Which steps are so near to one of the places."""
    found = np.zeros(len(steps), bool)
    for place in places:
        found |= np.abs(steps - place) <= within
    return found


def growth(steps: Steps, loss: Curve, norm: Curve) -> dict[str, Any]:
    """From where the loss has vanished: the share of a norm's rise that lies in spikes, from the last evaluation before
    each to the first behind it, and that of the steps."""
    begun = int(np.argmax(loss < VANISHED)) if (loss < VANISHED).any() else len(loss) - 1
    rise, time, above = np.maximum(np.diff(norm[begun:]), 0), np.diff(steps[begun:]), high(loss)[begun:]
    in_spikes = above[1:] | above[:-1]
    return {
        "begun": int(steps[begun]),
        "share_of_growth": float(rise[in_spikes].sum() / rise.sum()) if rise.sum() > 0 else None,
        "share_of_steps": float(time[in_spikes].sum() / time.sum()) if time.sum() > 0 else None,
        "growth": float(norm[-1] - norm[begun]),
    }
