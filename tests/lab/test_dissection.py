"""What is drawn of a transformer's circuit, against the measures themselves."""

from typing import Any

import numpy as np
import pytest

from modgrok.lab.dissection import has_circuit, keys_of, picture, progress
from modgrok.measures.circuit import Circuit
from modgrok.measures.progress_measures import cross_entropy, excluded_loss, restricted_loss, squared_error
from modgrok.networks import Network
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Task, task

P = 7


def network(of: Task, **settings: Any) -> Network:
    architecture, rng = Transformer(8, heads=2, **settings), np.random.default_rng(0)
    shapes = architecture.shapes(of.signature)
    return Network(architecture, of.signature, {name: rng.normal(size=shape) for name, shape in shapes.items()})


def test_progress_measures_are_those_of_the_logits() -> None:
    addition = task("n + m", P)
    net, train = network(addition), np.arange(0, P * P, 2)
    logits, trained = Circuit(net).logits, np.arange(P * P).reshape(P, P) % 2 == 0
    keys = keys_of(net, addition)
    found = progress(net, addition, train, keys, "cross_entropy")
    assert found["restricted"] == pytest.approx(restricted_loss(logits, addition.table, keys))
    assert found["excluded"] == pytest.approx(excluded_loss(logits, addition.table, keys, trained))
    assert sum(found["embedding"]) == pytest.approx(1, abs=0.01)
    assert 0 < sum(found["logits"]) < 1
    nothing = progress(net, addition, train, [], "cross_entropy")
    assert nothing["excluded"] == pytest.approx(cross_entropy(logits, addition.table, trained))
    assert progress(net, addition, train, [], "mse")["excluded"] == pytest.approx(
        squared_error(logits, addition.table, trained)
    )


@pytest.mark.parametrize("text", ["n - m", "2*n + 3*m + 1", "n * m"])
def test_other_functions_are_read_along_their_own_circle(text: str) -> None:
    """A network that answers with waves of the coordinate's sum has nothing but these."""
    function = task(text, P)
    along = function.structure.coordinate
    assert along is not None
    net, length = network(function), along.length
    assert has_circuit(net.architecture, function)
    wave = np.cos(
        2 * np.pi * (np.subtract.outer(np.add.outer(np.arange(length), np.arange(length)), np.arange(length)) / length)
    )
    first, second = (np.argsort(index)[-length:] for index in along.index)
    logits = np.zeros((P, P, P))
    logits[np.ix_(first, second, along.readout)] = 9 * wave
    circuit = Circuit(net)
    circuit.__dict__["logits"] = logits
    found = progress_of(circuit, function)
    assert found["logits"][0] == pytest.approx(1)
    assert found["restricted"] < 0.1 < 1 < found["excluded"]


def progress_of(circuit: Circuit, function: Task) -> dict[str, Any]:
    """The measures of a circuit whose logits were set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modgrok.lab.dissection.Circuit", lambda _: circuit)
        return progress(circuit.network, function, np.arange(P * P), (1,), "cross_entropy")


def test_attention_of_every_pair() -> None:
    header, arrays = picture(network(task("n + m", P)))
    assert arrays["attention"].shape == (P, P, 2, 3)
    assert abs(arrays["attention"].sum(axis=3, dtype=int) - 255).max() <= 2
    assert [set(head) for head in header["heads"]] == [{"frequency", "explained"}] * 2


def test_networks_and_tasks_without_such_a_circuit(monkeypatch: pytest.MonkeyPatch) -> None:
    addition = task("n + m", P)
    assert has_circuit(network(addition).architecture, addition)
    assert not has_circuit(Transformer(8, heads=2, layers=2), addition)
    assert not has_circuit(Transformer(8, heads=2), task("n^2 + m^2", P))
    assert not has_circuit(Transformer(8, heads=2), task("group:S3"))
    assert not has_circuit(Transformer(8, heads=2), task("n1 + n2 + n3", P))
    monkeypatch.setattr("modgrok.lab.limits.CIRCUIT_FLOATS", 100)
    assert not has_circuit(network(addition).architecture, addition)
