"""A longer run goes on where a shorter one ended."""

import numpy as np
import pytest

from modgrok.experiments.train import train_stored


@pytest.fixture(scope="module")
def extended(lab, tmp_path_factory):
    """A run of 25 steps, and one of 60 that went on from it; with what was heard of the second."""
    from modgrok.experiments import Store

    store, heard = Store(tmp_path_factory.mktemp("extended")), lab.Listener()
    (short,) = train_stored([lab.small(steps=25)], store)
    (long,) = train_stored([lab.small()], store, heard)
    return short, long, heard


def test_more_steps_go_on_from_the_last_state_with_the_same_bits(extended, trained):
    short, long, heard = extended
    assert long.id == trained.id
    assert [batch.step for batch in heard.batches] == [25]
    np.testing.assert_array_equal(long.network.w_in, trained.network.w_in)
    np.testing.assert_array_equal(long.network.w_out, trained.network.w_out)
    as_measured = {name for name in trained.result if name.startswith(("memorized", "grokked")) or name == "seconds"}
    for name in trained.result.keys() - as_measured:
        assert long.result[name] == trained.result[name], name
    assert any(short.id in remark for remark in heard.remarks)


def test_curves_are_those_of_the_shorter_run_so_far(extended, trained):
    short, long, _ = extended
    rows, alone = long.rows(), {row["step"]: row for row in trained.rows()}
    assert rows[: len(short.rows())] == short.rows()
    assert all(row == alone[row["step"]] for row in rows[len(short.rows()) :])
    assert set(short.snapshots) <= set(long.snapshots)
    assert long.settings["environment"]["continues"] == f"{short.id}@25"


@pytest.mark.parametrize(
    "changes", [{"lr_end": 0.5}, {"seed": 5}, {"until": 0}, {"evaluations": 11}, {"steps": 20}], ids=str
)
def test_other_experiments_take_nothing_over(changes, lab, extended):
    from modgrok.experiments.store import Store
    from modgrok.experiments.train import extend, extended_runs

    store = Store(extended[0].folder.parent)
    other = lab.small(**changes).resolve()
    run = store.run(other.content_hash)
    extend(run, other, extended_runs(store), lab.Listener())
    assert not run.folder.exists()
