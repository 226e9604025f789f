"""What waves are worth, and a rule's score without coordinates."""

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.measures.effective_width import random_waves, rule_score, waves_alone
from modgrok.networks import score_table, two_layer
from modgrok.tasks import task

P = 31


def test_equal_waves_without_gaps_are_worth_their_number() -> None:
    found = waves_alone(random_waves(P, 50, seed=0))
    assert (found.coherence, found.effective_width) == (pytest.approx(1), pytest.approx(50))
    np.testing.assert_allclose(found.network.w_in, random_waves(P, 50, seed=0).w_in, atol=1e-9)


def test_gaps_and_unequal_amplitudes_cost_neurons() -> None:
    network = random_waves(P, 60, seed=0)
    flipped = network.replace(w_out=network.w_out * np.where(np.arange(60) < 15, -1, 1))
    assert waves_alone(flipped).coherence == pytest.approx(0.5)
    assert waves_alone(flipped).effective_width == pytest.approx(60 / 4)
    half = network.replace(w_out=network.w_out * (np.arange(60) < 30))
    assert waves_alone(half).effective_width == pytest.approx(30)
    uneven = network.replace(w_in=network.w_in * np.array([2.0, 0.5])[:, None])
    assert waves_alone(uneven).effective_width < 20


def test_phase_noise_answers_as_fewer_neurons_do() -> None:
    """Accuracy of waves with gaps is that of as many waves without as they are worth."""
    rng, table = np.random.default_rng(1), task("n + m", P).table
    n, width = np.arange(P), 120
    turn = 2 * np.pi / P * rng.integers(1, P // 2 + 1, width)[:, None] * n
    first, second = rng.uniform(0, 2 * np.pi, (2, width, 1))
    gap = rng.normal(0, 1.2, (width, 1))
    noisy = two_layer(np.cos(np.stack([turn + first, turn + second], 1)), np.cos(turn + first + second - gap).T)
    worth = round(waves_alone(noisy).effective_width)
    alike = np.mean([score_table(random_waves(P, worth, seed), table).accuracy for seed in range(10)])
    assert worth < 60
    assert score_table(noisy, table).accuracy == pytest.approx(alike, abs=0.12)


def test_the_rule_stands_out_in_a_network_that_knows_it_and_not_in_noise() -> None:
    addition, unseen = task("n + m", P), np.random.default_rng(0).random((P, P)) < 0.5
    assert rule_score(solve(addition, "exact"), addition.table, unseen) > 20
    rng = np.random.default_rng(3)
    noise = two_layer(rng.standard_normal((50, 2, P)), rng.standard_normal((P, 50)))
    assert abs(rule_score(noise, addition.table, unseen)) < 4
    assert abs(rule_score(solve(addition, "exact"), task("n + 2*m", P).table, unseen)) < 4
