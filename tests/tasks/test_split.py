import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import SAMPLINGS, Split, Task, random_task, task

splits = st.builds(
    Split, fraction=st.floats(0.05, 0.95), sampling=st.sampled_from(SAMPLINGS), seed=st.integers(0, 2**64)
)
shapes = {"modulus": st.integers(2, 12), "arity": st.integers(1, 3)}


def trained(split: Split, of: Task) -> np.ndarray:
    chosen = np.zeros(of.table.size, dtype=bool)
    chosen[split.divide(of)[0]] = True
    return chosen.reshape(of.table.shape)


@given(split=splits, **shapes)
def test_train_and_test_divide_the_table(split: Split, modulus: int, arity: int) -> None:
    of = random_task(0, modulus, arity)
    size = of.table.size
    count = round(split.fraction * size)
    if not 0 < count < size:
        with pytest.raises(ModgrokError, match="inputs on both sides"):
            split.divide(of)
        return
    train, test = split.divide(of)
    assert len(train) == count
    assert train.dtype == test.dtype == np.int64
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(size))
    assert np.all(np.diff(train) > 0)
    assert np.all(np.diff(test) > 0)
    again = Split(split.fraction, split.sampling, split.seed).divide(of)
    np.testing.assert_array_equal(again[0], train)


@given(fraction=st.floats(0.3, 0.7), seed=st.integers(0, 99), **shapes)
def test_balanced_over_the_values_of_each_variable(fraction: float, seed: int, modulus: int, arity: int) -> None:
    chosen = trained(Split(fraction, "balanced", seed), random_task(0, modulus, arity))
    for axis in range(arity):
        counts = np.moveaxis(chosen, axis, 0).reshape(modulus, -1).sum(axis=1)
        assert counts.max() - counts.min() <= 1


@given(fraction=st.floats(0.3, 0.7), seed=st.integers(0, 99), **shapes)
def test_answers_share_alike(fraction: float, seed: int, modulus: int, arity: int) -> None:
    of = random_task(seed, modulus, arity)
    chosen = trained(Split(fraction, "answers", seed), of)
    for answer in range(of.modulus):
        inputs = of.table == answer
        assert abs(chosen[inputs].sum() - inputs.sum() * chosen.mean()) < 1


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_input_is_equally_likely(sampling: str) -> None:
    of = task("n^2 + m", 7)
    share = np.mean([trained(Split(0.5, sampling, seed), of) for seed in range(300)], axis=0)
    assert np.all(abs(share - 24 / 49) < 0.12)


def test_balanced_choices_keep_no_diagonals() -> None:
    # In a union of diagonals, any two rows of the table overlap as their shifts do; shuffled rows overlap like chance.
    chosen = trained(Split(0.5, "balanced", 1), task("n + m", 61))
    overlaps = (chosen.astype(int) @ chosen.T)[np.triu_indices(61, 1)]
    assert len(np.unique(chosen, axis=0)) == 61
    assert abs(overlaps.std() - 61**0.5 / 4) < 0.4


@pytest.mark.parametrize(
    ("sampling", "first"),
    [
        ("random", [4, 7, 8, 11, 19, 21]),
        ("balanced", [0, 2, 3, 6, 7, 19]),
        ("answers", [6, 7, 12, 15, 18, 22]),
    ],
)
def test_a_split_is_the_same_everywhere(sampling: str, first: list[int]) -> None:
    assert Split(0.3, sampling, 5).divide(task("n*m", 23))[0][:6].tolist() == first


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"fraction": 0.0}, "between 0 and 1"),
        ({"fraction": 1.0}, "between 0 and 1"),
        ({"fraction": float("nan")}, "between 0 and 1"),
        ({"sampling": "best"}, "random, balanced, answers, not 'best'"),
        ({"seed": -1}, "from 0 on"),
    ],
)
def test_settings_are_checked(settings: dict, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        Split(**settings)
