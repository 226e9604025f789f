import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.tasks import Split, task
from modgrok.tasks.families.parity import Parity, parity

sizes = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n)))


@given(sizes, st.none() | st.integers(0, 2**40))
def test_the_table_is_the_product_of_signs(nk: tuple[int, int], seed: int | None) -> None:
    n, k = nk
    found = parity(n, k, seed)
    signs = 1 - 2 * np.stack(np.unravel_index(np.arange(2**n), (2,) * n), axis=1)
    bits = [i for i in range(n) if np.any(found.table.take(0, axis=i) != found.table.take(1, axis=i))]
    assert len(bits) == k
    assert seed is not None or bits == list(range(k))
    np.testing.assert_array_equal(1 - 2 * found.table.reshape(-1), signs[:, bits].prod(axis=1))
    assert (found.sizes, found.answers, found.signs) == ((2,) * n, 2, True)
    assert found.signature.signs


@given(sizes, st.integers(0, 9))
def test_the_rule_is_the_table(nk: tuple[int, int], seed: int) -> None:
    found = parity(*nk, seed)
    inputs = np.stack(np.unravel_index(np.arange(found.table.size), found.sizes), axis=1).astype(np.int32)
    bits = [i for i in range(nk[0]) if np.any(found.table.take(0, axis=i) != found.table.take(1, axis=i))]
    rule = Parity(tuple(bits))
    np.testing.assert_array_equal(rule(inputs), found.table.reshape(-1))
    np.testing.assert_array_equal(rule(jnp.asarray(inputs)), found.table.reshape(-1))


def test_many_bits_have_a_rule_and_few_a_table() -> None:
    assert task("parity:16,3").enumerable
    many = task("parity:40,3")
    assert not many.enumerable
    assert many.rule == task("parity: 40 , 3").rule
    assert repr(many) == "Task('parity:40,3', arity=40, answers=2)"
    with pytest.raises(ModgrokError, match="too many to enumerate"):
        _ = many.present
    with pytest.raises(ModgrokError, match="has no modulus"):
        _ = many.modulus
    assert many.structure.kind == "unknown"
    np.testing.assert_array_equal(many.rule(np.eye(40, dtype=np.int32)), np.arange(40) < 3)


@given(st.integers(0, 50), st.integers(1, 4000), st.integers(1, 4000), st.sampled_from(["parity:17,3", "parity:60,2"]))
def test_samples_are_distinct_and_right(seed: int, train: int, test: int, text: str) -> None:
    found = task(text)
    split = Split(seed=seed, examples=train, test_examples=test)
    examples = split.examples_of(found)
    assert len(np.unique(examples.inputs, axis=0)) == train + test
    np.testing.assert_array_equal(examples.trained, np.arange(train + test) < train)
    np.testing.assert_array_equal(examples.answers, examples.inputs[:, : int(text[-1])].sum(axis=1) % 2)
    for one, other in zip(examples, split.examples_of(found), strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_samples_than_inputs_repeat() -> None:
    examples = Split(examples=150_000, test_examples=10).examples_of(task("parity:17,3"))
    assert len(examples.inputs) == 150_010
    assert 2**16 < len(np.unique(examples.inputs, axis=0)) < 2**17


def test_fresh_examples_leave_only_the_test_set() -> None:
    examples = Split().examples_of(task("parity:40,3"))
    assert len(examples.inputs) == 2048
    assert not examples.trained.any()
    assert abs(examples.inputs.mean() - 0.5) < 0.02
    with pytest.raises(ModgrokError, match="fixed training set"):
        Split(wrong=0.1).examples_of(task("parity:40,3"))
    with pytest.raises(ModgrokError, match="take fewer"):
        Split(examples=10**9).examples_of(task("parity:40,3"))


@pytest.mark.parametrize("text", ["parity:", "parity:5", "parity:3,4", "parity:3,0", "parity:10001,1", "parity:5,-1"])
def test_refusals(text: str) -> None:
    with pytest.raises(ModgrokError, match=r"parity:n,k|1 ≤ k ≤ n"):
        task(text)
