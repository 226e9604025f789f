import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures.spectrum import fourier_image, wave_shares
from modgrok.tasks import task


def test_the_exact_form_is_one_series_of_peaks_and_random_phases_are_not() -> None:
    addition = task("n + m", 17)
    exact = wave_shares(solve(addition, "exact"), 6)
    assert exact["n + m"] == pytest.approx(1)
    waves = wave_shares(solve(addition, "waves", 200), 6)
    assert 0.5 < waves["n + m"] < 1
    assert sum(waves[name] for name in ("n − m", "2n", "2m")) > 1e-3
    assert sum(waves.values()) == pytest.approx(1, abs=1e-9)


def test_a_fourier_image_has_its_peaks_where_the_wave_is() -> None:
    n = np.arange(11)
    image = fourier_image(np.cos(2 * np.pi * 3 * (n[:, None] + n) / 11) + 5)
    assert {tuple(place - 5) for place in np.argwhere(image > 0.5)} == {(3, 3), (-3, -3)}
