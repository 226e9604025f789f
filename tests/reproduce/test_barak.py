"""Majority's coefficients exactly, the active subnetwork, and the paper's pipeline on small runs."""

from itertools import product
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from modgrok.networks import Network
from modgrok.networks.mlp import MLP
from modgrok.reproduce.barak2022 import PAPER
from modgrok.reproduce.barak2022.fourier_gap import closed_form, coefficient, gap, gradient, sampled_gradient
from modgrok.reproduce.barak2022.profile import FULL, TINY, online
from modgrok.reproduce.barak2022.studies_finite import active_neurons, incoming_norms
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.tasks import task


@pytest.mark.parametrize("n", range(9, 32, 2))
@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_fourier_identity_is_exact(n: int, k: int) -> None:
    assert abs(coefficient(n, k - 1)) * (k - 1) == abs(coefficient(n, k + 1)) * (n - k)
    assert abs(coefficient(n, k - 1)) == closed_form(n, k - 1)
    if n > 2 * k:
        assert gap(n, k) >= 0.03 * (n - 1) ** (-(k - 1) / 2)


def test_coefficients_by_enumeration() -> None:
    x = np.array(list(product((-1, 1), repeat=9)))
    majority = np.sign(x.sum(axis=1))
    for degree in (1, 2, 3, 5):
        assert (majority * x[:, :degree].prod(axis=1)).mean() == float(coefficient(9, degree))


def test_the_expected_gradient_by_enumeration() -> None:
    x = np.array(list(product((-1, 1), repeat=9)))
    weights = np.random.default_rng(0).choice([-1, 1], 9)
    fires = x @ weights > 0
    by_hand = ((x[:, :4].prod(axis=1) * fires)[:, None] * x).mean(axis=0)
    assert gradient(weights, 4) == pytest.approx(by_hand)
    assert set(np.argsort(-np.abs(by_hand))[:4].tolist()) == {0, 1, 2, 3}
    sampled = sampled_gradient(weights, 4, 200_000, np.random.default_rng(1))
    assert sampled == pytest.approx(by_hand, abs=0.012)


def test_neurons_without_weight_are_not_active() -> None:
    parity = task("parity:20,2")
    network = MLP(width=8)
    parameters = network.init(jax.random.key(0), parity.signature, 1.0, np.float32)
    host = {name: np.array(value) for name, value in parameters.items()}
    host["layers.0.weight"][3:] = 0
    host["layers.0.bias"][3:] = 0
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (200, 20))
    made = Network(network, parity.signature, host)
    assert 1 <= active_neurons(made, signs) <= 3
    assert (incoming_norms(made) == 0).sum() == 5


def test_online_runs_see_fresh_examples() -> None:
    run = online(30, 3, 0.1, 10, 0).resolve()
    assert run.examples is None
    assert run.batch_size == 32
    assert run.load_task().table is None


def test_every_study_is_measured_drawn_and_judged(judge: Any) -> None:
    assert judge(PAPER, TINY)["fourier_identity"].outcome == "holds with a remark"


def test_the_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("barak2022", "tiny", only=("fig2",), out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["plateau"].outcome == "undecided here"
    assert 4 in FULL.scaling
