"""Handwritten digits, where scikit-learn is installed."""

import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import task
from modgrok.tasks.families import digits


def test_digits_without_their_images(monkeypatch):
    monkeypatch.setattr(digits, "has_digits", lambda: False)
    with pytest.raises(ModgrokError, match=r"modgrok\[digits\]"):
        digits.digits.__wrapped__()


def test_digits():
    pytest.importorskip("sklearn")
    found = task("digits")
    assert found.signature == task("digits").signature
    assert (found.signature.dimension, found.answers, found.sizes) == (64, 10, (1797,))
    assert (found.vectors.min(), found.vectors.max()) == (0, 1)
