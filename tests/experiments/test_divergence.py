"""The setting that is blamed for a divergence is the one that was changed."""

import re

import pytest

from modgrok.experiments import Experiment
from modgrok.experiments.divergence import rate_hint, rate_hints, why_diverged


@pytest.mark.parametrize(
    ("settings", "blamed"),
    [
        ({"lr": 1e8}, r"the learning rate 1e8 is too large; 0.1 is usual"),
        ({"lr": 1e8, "weight_decay": 0.1}, "the learning rate"),
        ({"optimizer": "gd", "lr": 1e12}, "the learning rate"),
        ({"weight_decay": 1e4}, "the weight decay 10\u202f000 is too strong"),
        ({"optimizer": "gd", "weight_decay": 1.0}, "the weight decay 1 is too strong"),
        ({"lr": 0.01, "weight_decay": 1e4}, "the weight decay"),
        ({"init_scale": 100.0}, "the weights begin 100 times as large"),
        ({"optimizer": "gd", "momentum": 0.999}, "the momentum 0.999"),
        ({"beta1": 0.9999}, "beta1 = 0.9999"),
        ({"beta2": 0.1}, "beta2 = 0.1"),
        ({"lr": 0.12}, "none of its settings is far .* --lr 0.012"),
    ],
    ids=str,
)
def test_what_was_changed_is_blamed(settings, blamed):
    experiment = Experiment("n + m", 97, **settings).resolve()
    assert re.match(blamed, why_diverged(experiment))


def test_a_table_of_the_store_is_explained_without_it():
    assert "the weights begin" in why_diverged(Experiment("table:0123", 11, lr=0.1, steps=9, init_scale=50.0).resolve())


def test_a_rate_far_from_the_natural_one_is_told() -> None:
    assert rate_hint(Experiment("n + m", 23, lr=0.3).resolve()) == ""
    far = rate_hint(Experiment("n + m", 97, optimizer="gd", lr=0.3).resolve())
    assert "--lr auto" in far
    assert "1/" in far


def test_of_many_runs_those_with_a_rate_far_from_the_natural_one_are_counted() -> None:
    near, far, farther = (Experiment("n + m", 11, lr=lr).resolve() for lr in (0.1, 1e30, 1e31))
    assert rate_hints([near, near]) == ""
    assert rate_hints([far, far]) == rate_hint(far)
    assert rate_hints([near, far, farther]) == f"{rate_hint(far)} 2 of 3 runs have such a rate."
