import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures import neuron_waves
from modgrok.measures.waves import agreement
from modgrok.tasks import task


def test_agreement_tells_equal_independent_and_cancelling_phases_apart() -> None:
    waves = neuron_waves(solve(task("n + m", 13), "waves", 1200))
    every = np.ones(1200, bool)
    assert agreement(waves, every, (1, 0)) == pytest.approx(1, abs=0.9)
    equal = waves._replace(phases=np.zeros_like(waves.phases))
    assert agreement(equal, every, (1, 0)) == pytest.approx(200)
    alternating = np.pi * (np.arange(1200) // 6)  # the copies of a frequency
    turns = waves._replace(phases=np.repeat(alternating[:, None], 3, axis=1))
    assert agreement(turns, every, (1, 0)) == pytest.approx(0, abs=1e-9)
    assert agreement(waves, ~every, (1, 0)) is None
