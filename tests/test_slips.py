"""Calls that a newcomer makes: each does what was meant, or says a sentence."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import modgrok as mg
from modgrok.networks import outputs

mpl.use("agg")
TINY: dict[str, Any] = {"steps": 3, "evaluations": 3, "snapshots": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> mg.Run:
    return mg.train("n + m", 5, width=6, store=tmp_path_factory.mktemp("store"), **TINY)


@pytest.fixture(scope="module")
def transformer(run: mg.Run) -> mg.Run:
    settings: dict[str, Any] = {"network": "transformer", "width": 8, "heads": 2}
    return mg.train("n + m", 5, store=run.folder.parent, **settings, **TINY)


def test_what_was_meant_is_done(run: mg.Run, transformer: mg.Run, tmp_path: Path) -> None:
    net, task = run.network, mg.task("n + m", 5)
    mg.plot.save(mg.plot.curves(run), str(tmp_path / "x.png"))
    assert (tmp_path / "x.png").stat().st_size > 1000
    drawn = mg.plot.curves(transformer, "norm")
    labels = [text.get_text() for text in drawn.get_legend().get_texts()]
    assert sorted(labels) == ["attention", "embedding", "mlp", "unembedding"]
    drawn = mg.plot.curves(run, "gradient")
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["$W^{(1)}$", "$W^{(2)}$"]
    assert mg.analyze(net, "n + m").score == mg.analyze(run).score == mg.analyze(net, task).score
    assert mg.plot.answers(net, "n+m").get_title() == mg.plot.answers(run).get_title()
    coordinate = task.structure.coordinate
    np.testing.assert_array_equal(mg.neuron_waves(run).phases, mg.neuron_waves(net).phases)
    assert mg.distance_to_closed_form(net, task) == mg.distance_to_closed_form(net, coordinate)
    assert mg.average_ipr(net) == mg.average_ipr(run, task) == mg.average_ipr(net.w_in, coordinate)
    np.testing.assert_array_equal(net([[1, 2]]), outputs(net, np.array([[1, 2]])))
    mg.plot.weights(mg.analyze(net, "n + m"))


def test_all_else_is_a_sentence(run: mg.Run, transformer: mg.Run, tmp_path: Path) -> None:
    net = run.network
    slips = {
        "did you mean 'test_accuracy'": lambda: mg.plot.curves(run, "test_acuracy"),
        "No curve 7 was recorded": lambda: mg.plot.curves(run, 7),
        "There is no run to draw": lambda: mg.plot.curves([]),
        "name its task": lambda: mg.plot.weights(net),
        "knows its task": lambda: mg.plot.answers(run, "n + m"),
        "not transformer": lambda: mg.neuron_waves(transformer),
        "Expected a network or a run, not 'n": lambda: mg.average_ipr("n + m"),
        "A coordinate must be a task": lambda: mg.distance_to_closed_form(net, "n + m"),
        r"shape \(N, S, p\), not \(5, 6\)": lambda: mg.power_spectrum(net.w_out),
        "observer must be a modgrok.Observer": lambda: mg.train("n + m", 5, store=tmp_path, observer=print, **TINY),
        r"\.safetensors file, which PyTorch reads": lambda: net.save(tmp_path / "y.pt"),
        r"\.png, \.svg or \.pdf": lambda: mg.plot.save(mg.plot.curves(run), tmp_path / "x.bmp"),
    }
    for sentence, slip in slips.items():
        with pytest.raises(mg.ModgrokError, match=sentence):
            slip()
    assert not list(mg.Store(tmp_path))
    assert not list(tmp_path.iterdir())
