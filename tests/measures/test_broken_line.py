import numpy as np

from modgrok.measures.grokking_events import fit_broken_line


def test_a_broken_line_is_found_again() -> None:
    x = np.unique(np.geomspace(1, 1000, 300).round())
    bends, heights = [1, 250, 400, 700, 1000], [0.0, 0.05, 0.2, 0.9, 0.95]
    found = fit_broken_line(x, np.interp(x, bends, heights))
    np.testing.assert_allclose(found.breaks, [250, 400, 700], atol=10)
    assert set(found.breaks) <= set(x)
    assert found.slopes.argmax() == 2
    np.testing.assert_allclose(found.values[[0, -1]], [0, 0.95], atol=0.03)
    assert found.error < 0.01


def test_a_straight_line_has_one_slope() -> None:
    x = np.linspace(0, 10, 50)
    found = fit_broken_line(x, 3 * x + 1)
    np.testing.assert_allclose(found.slopes, 3, rtol=1e-6)
