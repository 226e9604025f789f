import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import Split, task
from modgrok.tasks.choice import read_choice, write_choice

P = 7
TASK = task("n + m", P)
MASK = np.random.default_rng(0).random((P, P)) < 0.4
INDICES = np.flatnonzero(MASK)


def test_all_ways_to_choose_are_one(tmp_path) -> None:
    np.save(tmp_path / "mask.npy", MASK)
    np.savetxt(tmp_path / "mask.csv", MASK.astype(int), fmt="%d", delimiter=",")
    rows = np.argwhere(MASK)
    given = (
        MASK,
        MASK.reshape(-1),
        INDICES,
        INDICES[::-1].tolist(),
        rows,
        tmp_path / "mask.npy",
        tmp_path / "mask.csv",
    )
    texts = {write_choice(one, TASK) for one in given}
    assert len(texts) == 1
    np.testing.assert_array_equal(read_choice(texts.pop(), TASK), INDICES)


def test_a_split_of_chosen_inputs() -> None:
    split = Split(chosen=write_choice(MASK, TASK))
    trained, tested = split.divide(TASK)
    np.testing.assert_array_equal(trained, INDICES)
    np.testing.assert_array_equal(np.sort([*trained, *tested]), np.arange(P * P))
    assert split.counts(TASK) == (len(trained), len(tested))
    np.testing.assert_array_equal(split.examples_of(TASK).trained, MASK.reshape(-1))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (np.ones((P, P), bool), "both sides"),
        ([P * P], "beyond the 49"),
        ([[0, P]], "beyond the 49"),
        (np.zeros((3, 3)), "mask of the shape"),
        ("something", "train_on is a mask"),
        ("9:c", "train_on is a mask"),
    ],
)
def test_other_choices_are_refused(given, sentence) -> None:
    with pytest.raises(ModgrokError, match=sentence):
        read_choice(write_choice(given, TASK), TASK)


def test_inputs_that_do_not_occur_are_refused() -> None:
    division = task("n/m", P)
    with pytest.raises(ModgrokError, match=r"\(3, 0\), which does not occur"):
        read_choice(write_choice([[1, 1], [3, 0]], division), division)
    with pytest.raises(ModgrokError, match="chooses among 49 inputs"):
        read_choice(write_choice(MASK, TASK), task("n + m", 11))
