"""Spikes of the loss and stairs of a norm, from recorded curves."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

RISE = 100
"""A spike rises to so many times the least loss so far …"""
FLOOR = 1e-7
"""… or of this, where that was less: near the rounding of a loss in float32."""
VANISHED = 1e-5
"""Training loss below which nothing is left to learn."""

Steps = Int[np.ndarray, "evaluation"]
Curve = Float[np.ndarray, "evaluation"]


def spikes(steps: Steps, loss: Curve) -> list[int]:
    """Where the loss goes up through `RISE` times its least value so far. It must come down again before the next."""
    least = np.minimum.accumulate(np.maximum(loss, FLOOR))
    high = loss > RISE * least
    return [int(step) for step in steps[1:][high[1:] & ~high[:-1]]]


def near(steps: Steps, places: Sequence[int], within: int) -> Bool[np.ndarray, "evaluation"]:
    """Which steps are so near to one of the places."""
    found = np.zeros(len(steps), bool)
    for place in places:
        found |= np.abs(steps - place) <= within
    return found


def growth(steps: Steps, loss: Curve, norm: Curve, within: int) -> dict[str, Any]:
    """From where the loss has vanished: the share of a norm's rise that lies near spikes, and that of the steps."""
    begun = int(np.argmax(loss < VANISHED)) if (loss < VANISHED).any() else len(loss) - 1
    rise, time = np.maximum(np.diff(norm[begun:]), 0), np.diff(steps[begun:])
    at_spikes = near(steps[begun + 1 :], spikes(steps, loss), within)
    return {
        "begun": int(steps[begun]),
        "share_of_growth": float(rise[at_spikes].sum() / rise.sum()) if rise.sum() > 0 else None,
        "share_of_steps": float(time[at_spikes].sum() / time.sum()) if time.sum() > 0 else None,
        "growth": float(norm[-1] - norm[begun]),
    }
