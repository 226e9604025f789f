"""The circuit of a transformer against the network itself, the phases, the verdicts, and the paper's pipeline."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures.progress_measures import cross_entropy
from modgrok.networks import Network, grid, outputs
from modgrok.networks.transformer import Transformer
from modgrok.reproduce.nanda2023 import PAPER
from modgrok.reproduce.nanda2023.mechanism import Circuit, ablations, replace_neurons
from modgrok.reproduce.nanda2023.profile import FULL, QUICK
from modgrok.reproduce.nanda2023.studies_progress import phases, squared_error
from modgrok.reproduce.pipeline import Request, reproduce
from modgrok.tasks import Signature

P = 11
SUMS = np.add.outer(np.arange(P), np.arange(P)) % P


def random_network(**settings: Any) -> Network:
    architecture, signature = Transformer(8, heads=2, **settings), Signature((P, P), P)
    random = np.random.default_rng(0)
    shapes = architecture.shapes(signature)
    return Network(architecture, signature, {name: random.normal(size=shape) for name, shape in shapes.items()})


def test_the_circuit_computes_what_the_network_does() -> None:
    network = random_network()
    circuit = Circuit(network)
    np.testing.assert_allclose(circuit.logits.reshape(P * P, P), outputs(network, grid((P, P))), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(circuit.attention.sum(axis=3), 1)
    found = ablations(circuit, [1, 4], SUMS)
    assert found["nothing"] == pytest.approx(cross_entropy(circuit.logits, SUMS))
    assert len({round(loss, 6) for loss in found.values()}) >= len(found) - 2  # few neurons here are clear
    with pytest.raises(ModgrokError, match="default transformer"):
        Circuit(random_network(layer_norm="post"))


def test_waves_of_one_frequency_are_replaced_by_themselves() -> None:
    """Neurons that are cos w(n + m) + 1 are all that both replacements keep."""
    circuit = Circuit(random_network())
    angle = 2 * np.pi * 3 / P * np.add.outer(np.arange(P), np.arange(P))
    circuit.__dict__["neurons"] = np.repeat((np.cos(angle) + 1)[:, :, None], 32, axis=2)
    assert (circuit.frequencies.frequency == 3).all()
    for by in ("block", "sum"):
        np.testing.assert_allclose(replace_neurons(circuit, by), circuit.neurons, atol=1e-9)
    product = np.cos(2 * np.pi * 3 / P * np.arange(P))
    circuit.__dict__["neurons"] = np.repeat(np.outer(product, product)[:, :, None], 32, axis=2)
    np.testing.assert_allclose(replace_neurons(circuit, "block"), circuit.neurons, atol=1e-9)
    half = replace_neurons(circuit, "sum")  # cos a cos b = ½ cos(a + b) + ½ cos(a − b)
    np.testing.assert_allclose(half[:, :, 0], np.cos(angle) / 2, atol=1e-9)


def test_phases_lie_between_memory_and_generalization() -> None:
    found = phases(
        {
            "steps": np.array([0, 10, 100, 1000, 2000, 4000]),
            "test_loss": np.array([4.0, 5.0, 8.0, 7.0, 1.0, 0.01]),
            "excluded_loss": np.array([4.0, 2.0, 0.5, 2.0, 3.0, 3.0]),
            "test_accuracy": np.array([0.0, 0.0, 0.0, 0.1, 0.9, 1.0]),
        }
    )
    assert (found["forming_from"], found["cleaning_from"], found["clean_at"]) == (100, 1000, 4000)
    assert squared_error(np.eye(P)[SUMS], SUMS) == 0


def a_seed() -> dict[str, Any]:
    """Curves as the paper has them."""
    return {
        "steps": [0, 100, 200, 1400, 9000, 14000],
        "places": [2, 3, 5],
        "keys": [14, 35, 41, 42, 52],
        "test_accuracy": [0.01, 0.01, 0.02, 0.1, 0.96, 1.0],
        "train_loss": [4.7, 1.0, 0.01, 1e-3, 1e-5, 1e-7],
        "test_loss": [4.7, 8.0, 20.0, 15.0, 0.5, 1e-6],
        "restricted_loss": [4.7, 4.0, 3.0, 1.0, 0.1, 1e-7],
        "excluded_loss": [4.7, 2.0, 0.1, 1.0, 4.0, 5.0],
        "gini_embedding": [0.1, 0.1, 0.2, 0.3, 0.5, 0.7],
        "gini_readout": [0.1, 0.1, 0.2, 0.3, 0.6, 0.8],
        "squares": [900.0, 1200.0, 1300.0, 1200.0, 900.0, 500.0],
        "ipr": [0.01, 0.02, 0.05, 0.1, 0.2, 0.2],
        "memorized_at": 150,
        "grokked_at": 13000,
        "forming_from": 200,
        "cleaning_from": 1400,
        "clean_at": 14000,
    }


def paper_numbers() -> dict[str, Any]:
    two = a_seed() | {
        "restricted_loss": [4.7, 4.0, 2.0, 1.0, 0.1, 1e-7],
        "keys": list(range(1, 50)),
        "gini_readout": [0.1] * 6,
    }
    seed = {
        "test_accuracy": 1.0,
        "keys": [14, 35, 41, 42, 52],
        "keys_of_embedding": [14, 35, 41, 42, 52, 3],
        "keys_of_neurons": [14, 35, 41, 42, 52],
        "gini": [0.6, 0.8],
        "logits_explained": 0.95,
        "clear": 0.846,
        "readout_share": 0.994,
        "directions": [[0.93, 0.98]],
        "attention_to_equals": 0.002,
        "heads": [{"frequency": 35, "explained": 0.99}],
        "loss": 2.4e-7,
        "restricted_loss": 4.7e-8,
    }
    losses = {
        "nothing": 2.4e-7,
        "clear neurons as polynomials of their frequency": 2.5e-7,
        "clear neurons as waves of n + m": 5.5e-8,
        "neurons along the key directions alone": 1.2e-7,
        "neurons without the key directions": 5.27,
        "without the path around the MLP": 9.1e-7,
        "without the MLP": 8.0,
        "without attention": 24.3,
        "without the path around attention": 19.1,
    }
    cell = lambda learnt, grokked: {"memorized_at": learnt, "grokked_at": grokked, "test_accuracy": [1.0] * 3}  # noqa: E731
    never = [None] * 3
    return {
        "fig7": {"modulus": 113, "transformer": [a_seed() for _ in range(3)], "two_layer": two},
        "fig3": {"modulus": 113, "seeds": [copy.deepcopy(seed) for _ in range(3)]},
        "fig5": {"losses": losses, "without_key": {"14": 2e-4}, "chance": 4.7},
        "figA": {
            "steps": 25_000,
            "fraction": 0.3,
            "decay": 1.0,
            "fractions": {
                "0.2": cell([100] * 3, never),
                "0.3": cell([150] * 3, [9000] * 3),
                "0.6": cell([300] * 3, [400] * 3),
            },
            "decays": {
                "0.0": cell([100] * 3, never),
                "0.5": cell([100] * 3, [18_000] * 3),
                "1.0": cell([100] * 3, [9000] * 3),
                "3.0": cell([100] * 3, [3000] * 3),
            },
        },
    }


def outcomes(numbers: dict[str, Any]) -> dict[str, str]:
    return {claim.name: claim.verdict(numbers).outcome for claim in PAPER.claims}


def test_the_papers_own_numbers_hold() -> None:
    assert set(outcomes(paper_numbers()).values()) == {"holds"}


FAILURES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "grokking": (("fig7", "transformer", slice(None), "memorized_at"), 900),
    "excluded_rises_first": (("fig7", "transformer", slice(None), "excluded_loss"), [4.7, 2, 1, 1.1, 1.5, 5]),
    "restricted_falls_first": (("fig7", "transformer", slice(None), "restricted_loss"), [4.7] * 5 + [0.1]),
    "clean_up": (("fig7", "transformer", slice(None), "squares"), [900.0] * 6),
    "key_frequencies": (("fig3", "seeds", slice(None), "keys"), list(range(20))),
    "trigonometric_circuit": (("fig3", "seeds", slice(None), "clear"), 0.5),
    "restriction_helps": (("fig3", "seeds", slice(None), "restricted_loss"), 1e-3),
    "parts_of_the_circuit": (("fig5", "losses", "without attention"), 1e-6),
    "fractions": (("figA", "fractions", "0.2", "grokked_at"), [None, 5000, None]),
    "decays": (("figA", "decays", "3.0", "grokked_at"), [20000] * 3),
    "two_layer_network": (("fig7", "two_layer", "restricted_loss"), [4.7] * 6),
}


@pytest.mark.parametrize("name", FAILURES)
def test_every_claim_can_fail(name: str) -> None:
    numbers = paper_numbers()
    path, value = FAILURES[name]
    places = [numbers]
    for step in path[:-1]:
        places = [part for place in places for part in (place[step] if isinstance(step, slice) else [place[step]])]
    for place in places:
        place[path[-1]] = value
    assert outcomes(numbers)[name] == "does not hold here"


def test_a_single_seed_that_differs_is_a_remark() -> None:
    numbers = paper_numbers()
    numbers["fig7"]["transformer"][1]["excluded_loss"] = [4.7, 2, 1, 1.1, 1.5, 5]
    numbers["fig3"]["seeds"][2]["keys"] = [1, 2]
    found = outcomes(numbers)
    assert found["excluded_rises_first"] == found["key_frequencies"] == "holds with a remark"
    numbers["figA"]["decays"]["3.0"]["grokked_at"] = [5000] * 3
    assert outcomes(numbers)["decays"] == "holds with a remark"
    del numbers["figA"]["decays"]["3.0"], numbers["figA"]["decays"]["0.5"]
    assert outcomes(numbers)["decays"] == "undecided here"


def test_the_whole_pipeline(tmp_path: Path) -> None:
    outcome = reproduce(Request("nanda2023", "tiny", out=tmp_path), say=lambda line: None)
    assert set(outcome.verdicts) == {claim.name for claim in PAPER.claims}
    assert outcome.verdicts["grokking"].outcome == "does not hold here"
    assert "None" not in (tmp_path / "report.md").read_text()


def test_profiles_keep_what_they_promise() -> None:
    first = FULL.main()[0].resolve()
    assert (first.modulus, first.width, first.fraction, first.weight_decay, first.warmup) == (113, 128, 0.3, 1.0, 10)
    assert first.split.counts(first.load_task()) == (3831, 8938)
    assert sum(e.steps or 0 for study in PAPER.chosen((), QUICK) for e in study.needs(QUICK)) < 50_000
