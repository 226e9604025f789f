"""The dimension of a set of vectors, and the plane in which they differ most."""

import numpy as np
import pytest

from modgrok.measures.principal import effective_dimension, principal_plane, roundness


def test_a_circle_is_round_and_has_two_dimensions() -> None:
    angle = 2 * np.pi * 7 * np.arange(53) / 53
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    turned = circle @ np.random.default_rng(0).standard_normal((2, 20))
    assert effective_dimension(np.linalg.svd(turned)[1]) == pytest.approx(2, abs=0.1)
    plane, shares = principal_plane(circle)
    assert roundness(plane) == pytest.approx(0, abs=1e-9)
    assert shares == pytest.approx([0.5, 0.5])
    assert roundness(np.random.default_rng(0).standard_normal((53, 2))) > 0.3


def test_a_line_is_drawn_as_one() -> None:
    places, shares = principal_plane(np.outer(np.arange(5.0), [2.0]))
    np.testing.assert_allclose(abs(places), np.outer([4, 2, 0, 2, 4], [1, 0]), atol=1e-12)
    assert shares == [1.0]
