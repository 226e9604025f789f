"""Training into the store: the same bits however a run is trained, and what becomes of runs that end early."""

import json

import jax
import numpy as np
import pytest

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments import Store, batch_training, run_writer
from modgrok.experiments.programs import program_of
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.train import train_stored
from modgrok.networks import grid, score
from modgrok.training.separate import compiled_run


def test_the_same_experiment_again_gives_the_same_bits(lab, store, trained):
    (again,) = train_stored([lab.small()], store)
    lab.assert_same(again, trained)


def test_a_run_in_a_batch_is_the_run_alone(lab, store, trained):
    """Neighbors differ in seed, split, initial scale and all rates."""
    one = lab.small(seed=1, init_scale=0.5, lr=0.01, weight_decay=0.1)
    other = lab.small(split_seed=9, beta1=0.5, beta2=0.9, threshold=0.5)
    listener = lab.Listener()
    runs = train_stored([one, lab.small(), other], store, listener)
    assert len(listener.batches) == 1
    lab.assert_same(runs[1], trained)
    assert len({run.result["train_loss"] for run in runs}) == 3


def test_neighbors_of_runs_that_die_do_not_notice(lab, store, trained):
    """One diverges, one's weights shrink to zero; the third is as it is alone."""
    diverged, collapsed, neighbor = train_stored(
        [lab.small(lr=1e8), lab.small(lr=1e-5, weight_decay=5e4), lab.small()], store
    )
    assert diverged.status == "diverged"
    assert 0 <= diverged.result["diverged_at"] < diverged.result["steps"] < 60
    assert np.isfinite(diverged.network.w_in).all()
    assert collapsed.status == "collapsed"
    assert collapsed.result["steps"] < 60
    for run in (diverged, collapsed):
        for name in ("result.json", "curves.jsonl", "experiment.json"):
            assert "NaN" not in (run.folder / name).read_text()
            assert "Infinity" not in (run.folder / name).read_text()
    lab.assert_same(neighbor, trained)


def test_weight_decay_that_kills_the_weights_is_a_collapse(lab, store):
    (run,) = train_stored([lab.small(lr=0.01, weight_decay=5.0, steps=3000, evaluations=100)], store)
    assert run.status == "collapsed"
    assert run.result["steps"] < 3000
    json.dumps([dict(run.result), *run.rows()], allow_nan=False)


def test_batches_of_any_number_of_runs_compile_once(lab, store):
    experiments = [lab.small(width=30, seed=seed, lr=0.1 + seed) for seed in range(5)]
    train_stored(experiments[:3], store)
    train_stored(experiments, store, devices=jax.local_devices()[:1] * 2)
    program = program_of(experiments[0].resolve(), experiments[0].load_task(), "cpu")
    randomly, _, advance = compiled_run(program, tuple(jax.local_devices()[:1]))
    assert (randomly._cache_size(), advance._cache_size()) == (1, 1)


@pytest.mark.parametrize("more", [{}, {"dropout": 0.3}, {"optimizer": "adam", "loss": "cross_entropy"}], ids=str)
def test_training_sets_of_all_lengths_train_together_with_the_bits_they_have_alone(lab, tmp_path, more):
    """Of short blocks and of long ones; only the length of a block is part of what is compiled."""
    fractions = {0.1: 128, 0.3: 128, 0.55: 264, 0.99: 264}
    experiments = [lab.small(modulus=23, width=29, fraction=fraction, **more) for fraction in fractions]
    programs = [program_of(e.resolve(), e.load_task(), "cpu") for e in experiments]
    assert [program.block_rows for program in programs] == list(fractions.values())
    listener = lab.Listener()
    together = train_stored(experiments, Store(tmp_path / "together"), listener)
    assert [len(batch.members) for batch in listener.batches] == [2, 2]
    devices = tuple(jax.local_devices()[:1])
    compilations = {program: set() for program in programs}
    for experiment, program, run in zip(experiments, programs, together, strict=True):
        lab.assert_same(run, *train_stored([experiment], Store(tmp_path / "alone")))
        compilations[program].add(compiled_run(program, devices)[2]._cache_size())
    assert [len(counts) for counts in compilations.values()] == [1, 1]


def test_the_same_experiment_twice_in_one_call_is_trained_once(lab, store):
    listener = lab.Listener()
    one, other = train_stored([lab.small(seed=5), lab.small("n+m", seed=5)], store, listener)
    assert one.id == other.id
    assert [len(batch.members) for batch in listener.batches] == [1]


def test_a_finished_experiment_returns_at_once(lab, trained, monkeypatch):
    monkeypatch.setattr(batch_training.BatchTraining, "run", None)
    monkeypatch.setattr(jax, "local_devices", None)
    listener = lab.Listener()
    (run,) = train_stored([lab.small()], Store(trained.folder.parent), listener)
    assert run.result == trained.result
    assert listener.calls == 0


def test_a_run_tells_what_it_did(lab, trained):
    evaluated, kept = trained.experiment.schedule
    assert [row["step"] for row in trained.rows()] == evaluated.tolist()
    assert trained.snapshots == kept.tolist()
    assert trained.status == "finished"
    np.testing.assert_array_equal(trained.history["step"], evaluated)
    assert trained.settings["environment"]["platform"] == "cpu"
    np.testing.assert_array_equal(trained.network.w_in, trained.snapshot(60).w_in)
    assert trained.result["memorized_at"] in evaluated
    assert {path.name for path in trained.folder.iterdir()} == {
        "experiment.json",
        "curves.jsonl",
        "snapshots",
        "network.safetensors",
        "state.safetensors",
        "result.json",
        "lock",
    }


def test_other_snapshots_than_those_kept_are_named(trained):
    with pytest.raises(ModgrokError, match="no weights of step 59; it has those of 0, "):
        trained.snapshot(59)


@pytest.mark.parametrize(
    "settings",
    [{"batch_norm": True, "precision": "float64"}, {"dropout": 0.3, "batch_size": 32, "seed": 2}],
    ids=str,
)
def test_the_stored_network_has_the_stored_accuracy(lab, store, settings):
    (run,) = train_stored([lab.small(**settings)], store)
    train, test = run.experiment.split.divide(run.task)
    inputs, answers = grid((11, 11)), run.task.table.ravel()
    for name, part in (("train", train), ("test", test)):
        found = score(run.network, inputs[part], answers[part])
        assert found.accuracy == pytest.approx(run.result[f"{name}_accuracy"], abs=1e-6)
        assert found.loss == pytest.approx(run.result[f"{name}_loss"], rel=1e-3)
    assert (run.network.normalization is not None) == run.experiment.batch_norm
    assert run.network.dtype == run.experiment.precision


def test_until_stops_after_grokking(lab, store):
    """Runs that may stop do so at the first evaluation that is late enough, and the batch goes on without them."""
    settings = {"threshold": 0.3, "evaluations": 30}
    long, short, patient = train_stored(
        [lab.small(**settings), lab.small(**settings, until=0), lab.small(**settings, until=20)], store
    )
    grokked = long.result["grokked_at"]
    assert grokked is not None
    evaluated = long.history["step"]
    assert short.result["steps"] == short.result["grokked_at"] == grokked
    assert patient.result["steps"] == evaluated[evaluated >= grokked + 20][0]
    assert short.rows() == [row for row in long.rows() if row["step"] <= grokked]
    assert short.status == patient.status == long.status == "finished"
    assert short.snapshots[-1] == short.result["steps"]


@pytest.mark.parametrize("calls", [1, 4, 9])
def test_a_stopped_run_goes_on_to_the_same_end(lab, store, trained, calls):
    with pytest.raises(Interrupted, match=r"Stopped at step \d+ of 60; rerun the command to resume"):
        train_stored([lab.small()], store, lab.Listener(stop_after=calls))
    (run,) = store
    assert run.status == "unfinished"
    listener = lab.Listener()
    (resumed,) = train_stored([lab.small()], store, listener)
    lab.assert_same(resumed, trained)
    assert len(listener.rows) == len(trained.rows()) - (calls if calls > 1 else 0)
    assert not (resumed.folder / "checkpoint.safetensors").exists()


def test_a_run_stops_and_is_stored_between_evaluations_too(lab, store, monkeypatch):
    """The steps between two evaluations are cut into calls of bounded time; each is a place to stop and to store."""
    experiment = lab.small(evaluations=0, snapshots=0)
    (whole,) = train_stored([experiment], Store(store.folder / "whole"))
    monkeypatch.setattr(batch_training, "CALL_SECONDS", 0.0)  # one step a call
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "SHARE", 1e9)
    with pytest.raises(Interrupted, match="Stopped at step 30 of 60"):
        train_stored([experiment], store, lab.Listener(stop_after=31))
    (run,) = store
    assert run.read_checkpoint()[0] == 30
    (resumed,) = train_stored([experiment], store)
    lab.assert_same(resumed, whole)


@pytest.mark.parametrize(("rate", "made"), [(1.0, False), (1e20, True)])
def test_the_first_checkpoint_waits_by_what_it_will_cost(lab, store, monkeypatch, rate, made):
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(batch_training, "DISK_RATE", rate)
    found = []
    monkeypatch.setattr(RunWriter, "checkpoint", lambda writer, step, tensors: found.append(step))
    train_stored([lab.small()], store)
    assert bool(found) == made


def test_ctrl_c_at_a_bad_moment_loses_nothing_that_was_stored(lab, store, trained, monkeypatch):
    class Nervous(lab.Listener):
        def measured(self, run, row):
            if row["step"] > 10:
                raise KeyboardInterrupt

    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "SHARE", 1e9)
    with pytest.raises(Interrupted, match="last checkpoint"):
        train_stored([lab.small()], store, Nervous())
    (resumed,) = train_stored([lab.small()], store)
    lab.assert_same(resumed, trained)


def test_runs_at_different_steps_go_on_in_batches_of_their_own(lab, store, trained):
    with pytest.raises(Interrupted):
        train_stored([lab.small()], store, lab.Listener(stop_after=5))
    listener = lab.Listener()
    runs = train_stored([lab.small(), lab.small(seed=1)], store, listener)
    assert sorted(batch.step for batch in listener.batches) == [0, trained.rows()[4]["step"]]
    lab.assert_same(runs[0], trained)


def test_a_fork_starts_from_a_snapshot(lab, trained):
    store, step = Store(trained.folder.parent), trained.snapshots[1]
    fork = lab.small(parent=f"{trained.id}@{step}", lr=0.05)
    by_prefix = lab.small(parent=f"{trained.id[:6]}@{step}", lr=0.05)
    child, again, fresh = train_stored([fork, by_prefix, lab.small(lr=0.05)], store)
    assert child.id == again.id != fresh.id
    np.testing.assert_array_equal(child.snapshot(0).w_in, trained.snapshot(step).w_in)
    assert child.rows()[0]["train_loss"] == next(r for r in trained.rows() if r["step"] == step)["train_loss"]
    assert child.experiment.parent == f"{trained.id}@{step}"


def test_forks_that_cannot_be_are_sentences(lab, trained):
    store = Store(trained.folder.parent)
    for changes, sentence in (
        ({"parent": f"{trained.id}@59"}, "no weights of step 59"),
        ({"parent": "ffffffffffff@0"}, "no run 'ffffffffffff'"),
        ({"parent": "ffff@0"}, "no run 'ffff'"),
        ({"parent": f"{trained.id}@0", "width": 16}, r"columns \(2, 11, 16\), readout \(11, 16\)"),
    ):
        with pytest.raises(ModgrokError, match=sentence):
            train_stored([lab.small(**changes)], store)


def test_tables_from_files_train_from_the_store(lab, store, tmp_path):
    table = np.random.default_rng(0).integers(0, 11, (11, 11))
    np.save(tmp_path / "table.npy", table)
    (run,) = train_stored([lab.small(str(tmp_path / "table.npy"), steps=3)], store)
    (tmp_path / "table.npy").unlink()
    np.testing.assert_array_equal(run.task.table, table)
    (again,) = train_stored([run.experiment], store)
    assert again.id == run.id


def test_different_shapes_train_in_one_call(lab, store):
    """Any number of variables, and the smallest modulus; runs come back in the order asked for."""
    tasks = [("n1 + n2 + n3", 2), ("n1", 7)]
    listener = lab.Listener()
    runs = train_stored([lab.small(task, modulus=p, width=8, steps=2) for task, p in tasks], store, listener)
    assert len(listener.batches) == 2
    assert [(run.network.arity, run.network.modulus) for run in runs] == [(3, 2), (1, 7)]
    for run in runs:
        assert run.status == "finished"
        json.dumps(dict(run.result), allow_nan=False)
