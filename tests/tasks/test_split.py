import inspect
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import HOLE, SAMPLINGS, Signature, Split, Task, random_task, task

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
        ("lines", [1, 3, 6, 13, 14, 17]),
        ("expander", [6, 8, 11, 13, 15, 19]),
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
        ({"sampling": "best"}, "random, balanced, answers, lines, expander, not 'best'"),
        ({"seed": -1}, "0 or larger"),
        ({"wrong": -0.1}, "wrong_labels"),
        ({"wrong": float("nan")}, "wrong_labels"),
        ({"examples": 0}, "training examples must be at least 1"),
        ({"test_examples": 0}, "test examples must be at least 1"),
        ({"seed": 1.5}, "seed must be a whole number, not 1.5"),
        ({"seed": None}, "seed must be a whole number, not None"),
        ({"examples": 2.5}, "examples must be a whole number, not 2.5"),
        ({"fraction": "half"}, "fraction must be a number, not 'half'"),
        ({"fraction": 10**400}, "fraction must be a number, not 1000"),
        ({"wrong": [1]}, "wrong must be a number"),
    ],
)
def test_settings_are_checked(settings: dict, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Split, "__init__", inspect.unwrap(Split.__init__))  # values of wrong types meet its own checks
    with pytest.raises(ModgrokError, match=says):
        Split(**settings)


punched = st.tuples(
    st.lists(st.integers(2, 9), min_size=1, max_size=3), st.integers(2, 9), st.floats(0, 0.6), st.integers(0, 2**32)
)


def with_holes(of: tuple[list[int], int, float, int]) -> Task:
    sizes, answers, share, seed = tuple(of[0]), *of[1:]
    generator = np.random.default_rng(seed)
    table = generator.integers(0, answers, sizes)
    table[generator.random(sizes) < share] = HOLE
    table.flat[generator.permutation(table.size)[:2]] = 0
    return Task("holes", sizes, answers, table)


@given(split=splits, of=punched)
def test_holes_are_in_neither_set(split: Split, of: tuple) -> None:
    of = with_holes(of)
    size = len(of.present)
    assert of.holes == of.table.size - size
    count = round(split.fraction * size)
    if not 0 < count < size:
        with pytest.raises(ModgrokError, match="inputs on both sides"):
            split.divide(of)
        return
    train, test = split.divide(of)
    assert len(train) == count
    assert np.all(np.diff(train) > 0)
    assert np.all(np.diff(test) > 0)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), of.present)
    assert np.all(of.table.reshape(-1)[of.present] >= 0)
    if split.sampling == "answers":
        for answer in range(of.answers):
            inputs = of.table == answer
            assert abs(trained(split, of)[inputs].sum() - inputs.sum() * count / size) < 1


@pytest.mark.parametrize("text", ["n/m", "n*m:unordered", "1/(n + m)", "add:17:unordered"])
@pytest.mark.parametrize("seed", range(5))
def test_balanced_among_holes(text: str, seed: int) -> None:
    of = task(text, None if text.startswith("add") else 17)
    split = Split(0.4, "balanced", seed)
    chosen, occurs = trained(split, of), of.table != HOLE
    share = len(split.divide(of)[0]) / len(of.present)
    for axis in range(2):
        assert np.all(abs(chosen.sum(axis=axis) - share * occurs.sum(axis=axis)) < 1)


def test_balanced_with_unequal_sizes() -> None:
    of = Task.from_table(np.arange(12 * 20).reshape(12, 20) % 7)
    assert (of.sizes, of.answers) == ((12, 20), 7)
    chosen = trained(Split(0.5, "balanced", 3), of)
    assert np.ptp(chosen.sum(axis=0)) <= 1
    assert np.ptp(chosen.sum(axis=1)) <= 1


ROWS, COLUMNS = np.indices((23, 23))


@pytest.mark.parametrize(
    "occurs",
    [(COLUMNS - ROWS) % 23 < 2, (COLUMNS - ROWS) % 23 < 3, COLUMNS <= ROWS, (COLUMNS < 3) | (ROWS < 3), ROWS < 2],
    ids=["path", "band", "triangle", "corner", "strip"],
)
@pytest.mark.parametrize("fraction", [0.2, 0.35, 0.5, 0.7])
def test_balanced_where_exchanges_get_stuck(occurs: np.ndarray, fraction: float) -> None:
    of = Task("holes", occurs.shape, 5, np.where(occurs, 1, HOLE))
    for seed in range(4):
        chosen = trained(Split(fraction, "balanced", seed), of)
        share = chosen.sum() / occurs.sum()
        assert chosen.sum() == round(fraction * occurs.sum())
        assert not np.any(chosen & ~occurs)
        for axis in range(2):
            assert np.all(abs(chosen.sum(axis=axis) - share * occurs.sum(axis=axis)) < 1)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_every_present_input_is_equally_likely(sampling: str) -> None:
    of = task("n/m", 7)
    share = np.mean([trained(Split(0.5, sampling, seed), of) for seed in range(300)], axis=0)
    assert np.all(share[:, 0] == 0)
    assert np.all(abs(share[:, 1:] - 0.5) < 0.12)


@given(
    of=punched,
    fraction=st.floats(0.2, 0.8),
    wrong=st.floats(0, 1),
    seed=st.integers(0, 2**64),
    sampling=st.sampled_from(SAMPLINGS),
)
def test_corruption_counts(of: tuple, fraction: float, wrong: float, seed: int, sampling: str) -> None:
    of = with_holes(of)
    split = Split(fraction, sampling, seed, wrong)
    if not 0 < round(fraction * len(of.present)) < len(of.present):
        return
    examples = split.examples_of(of)
    different = examples.labels != examples.answers
    assert different.sum() == round(wrong * examples.trained.sum())
    assert not np.any(different & ~examples.trained)
    assert np.all((examples.labels >= 0) & (examples.labels < of.answers))
    np.testing.assert_array_equal(examples.answers, of.table[tuple(examples.inputs.T)])
    np.testing.assert_array_equal(np.ravel_multi_index(tuple(examples.inputs.T), of.sizes), of.present)
    np.testing.assert_array_equal(of.present[examples.trained], split.divide(of)[0])
    for one, other in zip(examples, split.examples_of(of), strict=True):
        np.testing.assert_array_equal(one, other)


def test_wrong_labels_are_uniform() -> None:
    of = task("n + m", 31)
    examples = [Split(0.9, seed=seed, wrong=1.0).examples_of(of) for seed in range(40)]
    steps = np.concatenate([(e.labels - e.answers)[e.trained] % 31 for e in examples])
    counts = np.bincount(steps, minlength=31)
    assert counts[0] == 0
    assert abs(counts[1:] / counts.sum() - 1 / 30).max() < 0.003


def test_a_number_of_examples_of_a_table() -> None:
    assert len(Split(examples=100).divide(task("parity:10,3"))[0]) == 100
    with pytest.raises(ModgrokError, match="inputs on both sides"):
        Split(examples=1024).divide(task("parity:10,3"))
    with pytest.raises(ModgrokError, match="test_examples has no effect"):
        Split(test_examples=10).divide(task("parity:10,3"))


def test_real_vectors_and_codes() -> None:
    generator = np.random.default_rng(0)
    vectors, codes = generator.normal(size=(20, 5)), generator.normal(size=(3, 4))
    of = Task("points", (20,), 3, np.arange(20) % 3, vectors=vectors, codes=codes, tolerance=0.1)
    assert of.signature == Signature((), 4, 5)
    examples = Split(0.3).examples_of(of)
    np.testing.assert_array_equal(examples.inputs, vectors)
    assert examples.trained.sum() == 6


@given(fraction=st.floats(0.3, 0.7), seed=st.integers(0, 99), modulus=st.integers(5, 13), arity=st.integers(2, 3))
def test_lines_have_every_value_alike(fraction: float, seed: int, modulus: int, arity: int) -> None:
    whole = max(1, round(fraction * modulus)) / modulus
    chosen = trained(Split(whole, "lines", seed), random_task(0, modulus, arity))
    for axis in range(arity):
        assert np.ptp(np.moveaxis(chosen, axis, 0).reshape(modulus, -1).sum(axis=1)) == 0


@pytest.mark.parametrize("seed", range(3))
def test_lines_have_every_answer_of_a_sum_alike(seed: int) -> None:
    of = task("n + m", 23)
    chosen = trained(Split(7 / 23, "lines", seed), of)
    assert np.ptp(np.bincount(of.table[chosen], minlength=23)) == 0


@pytest.mark.parametrize("modulus", range(2, 24))
def test_lines_have_one_slope_other_than_one(modulus: int) -> None:
    others = [g for g in range(2, modulus - 1) if math.gcd(g, modulus) == 1]
    assert bool(others) == (modulus not in (2, 3, 4, 6))
    for seed in range(5):
        n, m = np.nonzero(trained(Split(1 / modulus, "lines", seed), random_task(0, modulus, 2)))
        slopes = others or [1, modulus - 1]
        assert any(len(set((n + g * m) % modulus)) == 1 for g in slopes)


def rectangles(chosen: np.ndarray) -> int:
    """Quadruples of chosen inputs on two rows and two columns."""
    shared = chosen.astype(int) @ chosen.T
    pairs = shared[np.triu_indices(len(shared), 1)]
    return int((pairs * (pairs - 1) // 2).sum())


@pytest.mark.parametrize("seed", range(3))
def test_expanders_close_few_rectangles(seed: int) -> None:
    of = task("n + m", 31)
    found = {name: rectangles(trained(Split(0.15, name, seed), of)) for name in ("random", "balanced", "expander")}
    assert found["expander"] < 0.6 * min(found["random"], found["balanced"])
