"""What the field's settings do to a run, from the experiment to the store."""

import numpy as np
import pytest

from modgrok.errors import Interrupted
from modgrok.experiments import Experiment, Store
from modgrok.experiments.train import train_stored
from modgrok.networks import outputs

SMALL = {"steps": 30, "evaluations": 6, "snapshots": 2}


def trained(store, task, **settings):
    (run,) = train_stored([Experiment(task, **(SMALL | settings))], store)
    return run


def test_wrong_labels_are_trained_on_and_not_tested(store):
    """Training accuracy counts the wrong labels as right; the test set has the truth."""
    settings = {"modulus": 7, "network": "mlp", "width": 64, "lr": 0.02, "weight_decay": 0.0, "steps": 150}
    run = trained(store, "n + m", wrong_labels=0.3, **settings)
    examples = run.experiment.split.examples_of(run.task)
    wrong = examples.trained & (examples.labels != examples.answers)
    assert wrong.sum() == round(0.3 * examples.trained.sum())
    assert run.result.train_accuracy == 1
    answered = outputs(run.network, examples.inputs).argmax(axis=1)
    np.testing.assert_array_equal(answered[examples.trained], examples.labels[examples.trained])
    tested = ~examples.trained
    assert run.result.test_accuracy == pytest.approx(np.mean(answered[tested] == examples.answers[tested]), abs=1e-6)


def test_fresh_examples_at_every_step(store, lab):
    """A parity of too many bits to list, stopped on the way and gone on with to the same end."""
    settings = {"network": "mlp", "width": 32, "loss": "hinge", "optimizer": "sgd", "batch_size": 16}
    settings |= {"test_examples": 100, "steps": 60}
    run = trained(store, "parity:30,3", **settings)
    assert run.status == "finished"
    assert run.result.train_accuracy is None
    seen = run.history["train_loss"]
    assert np.isnan(seen[0]), "no batch is seen before the first step"
    assert np.isfinite(seen[1:]).all()
    assert 0.2 < np.mean(seen[1:]) / np.mean(run.history["test_loss"][1:]) < 5, "batches are like other new examples"
    assert 0.3 < run.result.test_accuracy <= 1
    assert run.network.signature.sizes == (2,) * 30
    assert run.history["test_loss"][0] != run.history["test_loss"][-1]
    other = Store(store.folder.parent / "stopped")
    with pytest.raises(Interrupted):
        train_stored([Experiment("parity:30,3", **(SMALL | settings))], other, lab.Listener(stop_after=3))
    assert trained(other, "parity:30,3", **settings).rows() == run.rows()


def test_a_fixed_sample_of_a_task_that_cannot_be_listed(store):
    settings = {"network": "mlp", "width": 64, "examples": 50, "test_examples": 60, "lr": 0.01, "weight_decay": 0.0}
    run = trained(store, "parity:30,3", steps=200, **settings)
    assert run.result.train_accuracy == 1
    assert run.result.test_accuracy < 0.9


def test_the_loss_may_be_more_precise_than_the_weights(store):
    run = trained(store, "n + m", modulus=5, width=8, loss="cross_entropy", loss_precision="float64")
    plain = trained(store, "n + m", modulus=5, width=8, loss="cross_entropy")
    assert run.id != plain.id
    assert run.network.dtype == np.float32
    np.testing.assert_allclose(run.history["train_loss"], plain.history["train_loss"], rtol=1e-3)


def test_precision_highest_is_float32(store):
    run, plain = (trained(store, "n + m", modulus=5, width=8, precision=name) for name in ("highest", "float32"))
    assert run.id != plain.id
    assert run.network.dtype == np.float32
    np.testing.assert_allclose(run.history["train_loss"], plain.history["train_loss"], rtol=1e-4)


def test_weights_are_held_at_their_norm(store):
    run = trained(store, "n + m", modulus=5, width=8, hold_norm=True, lr=0.1)
    norms = np.hypot(run.history["norm_in"], run.history["norm_out"])
    np.testing.assert_allclose(norms, norms[0], rtol=1e-5)
    assert np.ptp(run.history["norm_in"]) > 0


def test_groups_have_norms_of_their_own(store):
    run = trained(store, "group:S3", network="embedding-mlp", width=8, embedding=4, embedding_lr=1e-9, lr=0.01)
    embedding, decoder = run.history["norm_embedding"], run.history["norm_decoder"]
    np.testing.assert_allclose(embedding, embedding[0], rtol=1e-5)
    assert abs(decoder[-1] / decoder[0] - 1) > 1e-3
    assert run.history["gradient_embedding"].min() > 0


@pytest.mark.parametrize(
    ("task", "settings"),
    [
        ("n + m", {"modulus": 7, "network": "transformer", "width": 16, "heads": 2, "layers": 1, "dropout": 0.1}),
        ("add:5:unordered", {"network": "embedding-mlp", "width": 16, "optimizer": "muon", "batch_size": 4}),
        ("n/m", {"modulus": 7, "network": "mlp", "width": 16, "optimizer": "lion", "warmup": 5, "lr_end": 0.1}),
        ("add:4", {"width": 16, "batch_norm": True, "grokfast": "ema"}),
    ],
    ids=str,
)
def test_every_network_trains_stops_and_goes_on(store, lab, task, settings):
    """Holes, more answers than values, minibatches, schedules: to the same bits."""
    experiment = Experiment(task, **(SMALL | settings))
    (whole,) = train_stored([experiment], Store(store.folder.parent / "whole"))
    with pytest.raises(Interrupted):
        train_stored([experiment], store, lab.Listener(stop_after=3))
    (resumed,) = train_stored([experiment], store)
    assert resumed.rows() == whole.rows()
    assert whole.result.train_loss < whole.history["train_loss"][0]
    for name, w in whole.network.parameters.items():
        np.testing.assert_array_equal(resumed.network.parameters[name], w)


def test_runs_of_one_network_train_in_one_batch(store, lab):
    listener = lab.Listener()
    settings = SMALL | {"modulus": 5, "network": "mlp", "width": 8}
    experiments = [Experiment("n + m", seed=seed, lr=0.01 * (1 + seed), **settings) for seed in range(3)]
    runs = train_stored(experiments, store, listener)
    assert [len(batch.members) for batch in listener.batches] == [3]
    alone = trained(Store(store.folder.parent / "alone"), "n + m", seed=1, lr=0.02, **settings)
    assert alone.rows() == runs[1].rows()
