import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures.waves import excess_kurtosis, triple_correlation
from modgrok.tasks import task


def test_waves_have_a_third_moment_and_gaussian_weights_have_none() -> None:
    rng = np.random.default_rng(0)
    waves = solve(task("n + m", 23), width=220)
    random = waves.replace(w_in=rng.standard_normal((220, 2, 23)), w_out=rng.standard_normal((23, 220)))
    assert triple_correlation(waves) == pytest.approx(2**-0.5, rel=1e-6)
    assert excess_kurtosis(waves) == pytest.approx(-1.5, rel=1e-6)
    assert abs(triple_correlation(random)) < 0.01
    assert abs(excess_kurtosis(random)) < 0.5
