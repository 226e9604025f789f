"""Real vectors, and the answers of a fixed network to them."""

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import Split, task
from modgrok.tasks.families.teacher import TOLERANCE


def test_a_teacher_gives_every_vector_an_answer_of_its_own():
    found = task("teacher:200")
    assert found.signature.dimension == 5
    assert found.codes.shape == (200, 5)
    assert found.tolerance == TOLERANCE
    assert np.array_equal(found.codes, task("teacher:200").codes)
    assert not np.array_equal(found.codes, task("teacher:200,1").codes)
    assert 0.01 < found.codes.std(axis=0).min() < found.codes.std(axis=0).max() < 1
    examples = Split(examples=100).examples_of(found)
    assert examples.inputs.shape == (200, 5)
    assert examples.trained.sum() == 100


@pytest.mark.parametrize("text", ["teacher:", "teacher:1", "teacher:200,x", "teacher:999999999"])
def test_other_teachers_are_refused(text):
    with pytest.raises(ModgrokError, match="teacher"):
        task(text)
