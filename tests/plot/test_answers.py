import numpy as np

from modgrok.plot.answers import few_digits


def test_maps_for_the_eye_have_no_rounding_errors() -> None:
    found = few_digits(np.array([[1e-17, -2.0], [0.12345, 1.0]]))
    np.testing.assert_allclose(found, [[0, -2], [0.12, 1]], atol=1e-12)
    assert not few_digits(np.zeros((2, 2))).any()
