"""Ids that last: pinned ones, and what must never change them."""

import dataclasses

import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.experiment import known_settings, settings_hash

PINNED = {
    "4e65c9d04090": {"task": "n + m"},
    "e496f66b6e41": {"task": "n^2+m^2", "modulus": 31, "optimizer": "momentum", "seed": 4},
    "6719f0f02fb5": {"task": "n + m", "modulus": 31, "network": "transformer", "layers": 2, "layer_norm": "pre"},
    "f5ee01a92891": {"task": "group:S3", "network": "embedding-mlp", "embedding_lr": 0.01},
    "2fde67dd4c5d": {"task": "parity:30,3", "network": "mlp", "loss": "hinge", "optimizer": "sgd", "batch_size": 32},
    "53a900cae45e": {"task": "add:10", "network": "mlp", "grokfast": "ema", "warmup": 10, "wrong_labels": 0.1},
}
"""Ids of format 2. One that changes loses every run that has it."""


FROZEN = {
    "fraction": 0.5,
    "sampling": "random",
    "network": "two-layer",
    "optimizer": "adamw",
    "lr": "auto",
    "decoupled": False,
    "dropout": 0.0,
    "batch_norm": False,
    "init_scale": 1.0,
    "threshold": 0.99,
    "evaluations": 150,
    "refine": False,
    "snapshots": 40,
    "seed": 0,
    "precision": "float32",
    "parent": "",
    "attention_biases": False,
    "bidirectional": False,
    "tied": False,
    "framed": False,
    "warmup": 0,
    "lr_end": 1.0,
    "decay_to": "zero",
    "hold_norm": False,
    "orthogonal": False,
    "update_noise": 0.0,
    "weight_noise": 0.0,
    "grokfast": "none",
    "wrong_labels": 0.0,
    "train_on": "",
    "record": (),
}
"""The defaults that ids leave out, None for all others. One that changes changes ids: a new setting adds a line."""


@pytest.mark.parametrize(("name", "settings"), PINNED.items())
def test_ids_of_format_2_are_what_they_were(name, settings):
    assert Experiment.from_dict(settings).id == name


def test_a_new_setting_changes_no_id():
    """Neither one that is None by default, nor one whose default is frozen when it is added."""
    settings = Experiment("n + m").resolve().as_dict()
    assert settings_hash(settings | {"a_new_setting": None}) == settings_hash(settings)
    assert settings_hash(settings | {"a_new_setting": 3}) != settings_hash(settings)


def test_every_default_is_frozen():
    """A setting that has its default must not be hashed, so that it could have been added later."""
    for name, one in known_settings().items():
        assert FROZEN.get(name) == one.default or one.default is dataclasses.MISSING, f"{name} had another default"


def test_every_setting_has_a_help_text():
    for one in known_settings().values():
        assert len(one.help) > 10, one.name
        assert one.help[-1] in ".:", one.name


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"momentum": 0.5}, "momentum"),
        ({"optimizer": "gd", "beta1": 0.5}, "beta1"),
        ({"optimizer": "muon", "epsilon": 1e-6}, "epsilon"),
        ({"heads": 2}, "heads"),
        ({"network": "mlp", "layers": 2}, "layers"),
        ({"network": "mlp", "batch_norm": True}, "batch_norm"),
        ({"network": "transformer", "parametrization": "standard"}, "parametrization"),
        ({"network": "transformer", "depth": 2}, "depth"),
        ({"embedding_lr": 0.1}, "embedding_lr"),
        ({"network": "mlp", "embedding_decay": 0.1}, "embedding_decay"),
        ({"grokfast_lambda": 2.0}, "grokfast_lambda"),
        ({"grokfast": "ema", "grokfast_window": 5}, "grokfast_window"),
        ({"grokfast": "ma", "grokfast_alpha": 0.5}, "grokfast_alpha"),
        ({"test_examples": 10}, "test_examples"),
    ],
    ids=str,
)
def test_a_setting_that_nobody_reads_is_an_error_that_names_it(settings, named):
    with pytest.raises(ModgrokError, match=f"^{named} has no effect "):
        Experiment(**({"task": "n + m"} | settings)).resolve()


@pytest.mark.parametrize(
    "settings",
    [
        {"network": "transformer", "heads": 2, "layers": 2, "embedding_lr": 0.1},
        {"network": "embedding-mlp", "depth": 3, "combine": "concat", "embedding_decay": 0.0},
        {"network": "mlp", "depth": 2, "biases": False},
        {"optimizer": "gd", "momentum": 0.3},
        {"grokfast": "ma", "grokfast_window": 5},
        {"task": "parity:30,3", "test_examples": 10},
    ],
    ids=str,
)
def test_a_setting_that_somebody_reads_is_kept(settings):
    resolved = Experiment(**({"task": "n + m"} | settings)).resolve()
    assert {name: getattr(resolved, name) for name in settings} == settings


def test_a_modulus_that_a_task_has_anyway_is_no_mistake():
    assert Experiment("group:S3", modulus=6).id == Experiment("group:S3").id
    with pytest.raises(ModgrokError, match="not modulo 7"):
        _ = Experiment("group:S3", modulus=7).id
    with pytest.raises(ModgrokError, match="which has 19 answers; leave out 10"):
        _ = Experiment("add:10", modulus=10).id
