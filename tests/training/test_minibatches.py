from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.networks import grid
from modgrok.training.minibatches import Epochs, in_any_run, shuffled


@given(st.data(), st.sampled_from([1, 2, 50, 1_625, 1_700, 3_000]))
def test_a_padded_set_is_permuted_as_without_padding(data, size):
    length, seed = data.draw(st.integers(1, size)), data.draw(st.integers(0, 1_000))
    key = jax.random.key(seed)
    order = np.asarray(jax.jit(shuffled, static_argnums=2)(key, jnp.int32(length), size))
    assert order[:length].tolist() == jax.random.permutation(key, length).tolist()
    assert order[length:].tolist() == list(range(length, size))


def test_every_epoch_sees_every_example_once_in_a_new_order(plain):
    program = plain.program_with(batch_size=4)
    _, train, data = plain.random_data(program)  # 15 examples: batches of 4, 4, 4 and 3
    batches, seen = Epochs(4, data.batch, jax.random.key(0)), []
    order, renewed, minibatch = batches.order(jnp.int32(0)), jax.jit(batches.renewed), jax.jit(batches.minibatch)
    for step in np.arange(12, dtype=np.int32):
        order = renewed(order, step)
        np.testing.assert_array_equal(order, batches.order(step))
        chosen = minibatch(order, step)
        present = np.asarray(chosen.weight[0]) > 0
        assert chosen.weight.sum() == pytest.approx(1)
        assert present.sum() == (3 if step % 4 == 3 else 4)
        seen += [tuple(pair) for pair in np.asarray(chosen.inputs[0])[present].tolist()]
    epochs = [seen[start : start + 15] for start in (0, 15, 30)]
    whole = {tuple(pair) for pair in grid((5, 5))[train].tolist()}
    assert all(set(epoch) == whole for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]


def test_runs_that_step_together_take_a_branch_if_one_of_them_does():
    flags = jnp.array([False, True, False])
    assert jax.vmap(in_any_run, out_axes=None, axis_size=3)(flags)
    assert not jax.vmap(in_any_run, out_axes=None)(jnp.zeros(3, bool))
    assert [bool(in_any_run(flag)) for flag in flags] == flags.tolist()
    branch = jax.make_jaxpr(jax.vmap(partial(jax.lax.cond, in_any_run(flags[0]), jnp.sin, jnp.cos)))(jnp.ones(3))
    assert "cond" in str(branch)
