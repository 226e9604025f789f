"""What a falling weight penalty tells: networks that are exact, that are so in a limit, and neither."""

import numpy as np
import pytest

from modgrok.closed_form.limiting import EXACT, LIMIT, NEITHER, UNCLEAR, Descent, nearest
from modgrok.closed_form.minimal import one_hot
from modgrok.tasks import task

RESTING = np.zeros(5)


@pytest.mark.parametrize(("power", "kind"), [(2, EXACT), (0.6, LIMIT), (0, NEITHER), (0.2, UNCLEAR)])
def test_the_power_of_the_loss_tells_the_kind(power: float, kind: str) -> None:
    losses = (10.0 ** -np.arange(2, 7)) ** power
    assert Descent(losses, np.ones(5), RESTING).power == pytest.approx(power)
    assert Descent(losses, np.ones(5), RESTING).kind == kind
    assert Descent(losses, np.ones(5), RESTING + 0.2).kind == UNCLEAR


def test_three_needs_four_neurons() -> None:
    """The smallest exact network of n + m mod 3 has four (docs/theory.md)."""
    narrow, enough = nearest(one_hot(task("n + m", modulus=3)), [2, 4], starts=6, steps=60)
    assert narrow.kind == NEITHER
    assert enough.kind == EXACT
    assert enough.losses[-1] < 1e-8
