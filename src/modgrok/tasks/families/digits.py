"""`digits`: the 1 797 images of handwritten digits, 8 × 8 pixels, that come with scikit-learn."""

from functools import cache
from importlib.util import find_spec

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task

BRIGHTEST = 16
"""The largest value of a pixel."""


def has_digits() -> bool:
    """Whether scikit-learn, whose wheel holds the images, is installed."""
    return find_spec("sklearn") is not None


@cache
def digits() -> Task:
    """Images as vectors of 64 numbers between 0 and 1, and which of ten digits they show."""
    if not has_digits():
        raise ModgrokError("The digit images need scikit-learn: pip install 'modgrok[digits]'.")
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    return Task("digits", (len(images),), 10, labels.astype(np.int64), vectors=images / BRIGHTEST)


FAMILY = Family("digits", "digits", lambda text, _: digits(), "digits, 1 797 images of digits (needs scikit-learn)")
