"""When runs are measured and kept."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modgrok.experiments.schedule import evaluation_steps, snapshot_steps

STEPS, COUNTS = st.integers(1, 10**7), st.integers(0, 300)


@given(STEPS, COUNTS)
def test_evaluations_begin_at_0_and_end_at_the_last_step(steps, count):
    found = evaluation_steps(steps, count)
    assert (found[0], found[-1]) == (0, steps)
    assert (np.diff(found) > 0).all()
    assert len(found) <= max(count, 1) + 1


@given(st.integers(10**4, 10**7), st.integers(50, 300))
def test_evaluations_are_dense_early_and_at_equal_ratios_late(steps, count):
    found = evaluation_steps(steps, count)
    np.testing.assert_array_equal(found[:3], [0, 1, 2])
    late = found[found > steps / 10].astype(float)
    ratios = late[1:] / late[:-1]
    np.testing.assert_allclose(ratios, steps ** (1 / (count - 1)), rtol=0.01)


@given(STEPS, COUNTS, COUNTS)
def test_snapshots_are_evaluations_and_hold_both_ends(steps, evaluations, count):
    evaluated = evaluation_steps(steps, evaluations)
    kept = snapshot_steps(evaluated, count)
    assert np.isin(kept, evaluated).all()
    assert len(kept) <= max(count, 2)
    if count > 0:
        assert (kept[0], kept[-1]) == (0, steps)
    else:
        assert len(kept) == 0
