"""Spectra, weights, progress measures and the trained loss of every architecture."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import modgrok as mg
from modgrok import cli
from modgrok.experiments.analysis import progress_of
from modgrok.measures.progress_measures import key_frequencies_of

mpl.use("agg")
NETWORKS: dict[str, dict[str, Any]] = {
    "two-layer": {"width": 8, "loss": "cross_entropy"},
    "mlp": {"width": 8},
    "embedding-mlp": {"width": 8, "embedding": 4, "loss": "stablemax"},
    "transformer": {"width": 8, "heads": 2, "layers": 2},
}


@pytest.fixture(scope="module", params=NETWORKS)
def run(request, tmp_path_factory) -> mg.Run:
    settings = NETWORKS[request.param] | {"network": request.param, "steps": 4, "evaluations": 3, "snapshots": 3}
    return mg.train("n + m", 5, store=tmp_path_factory.mktemp("store"), **settings)


def test_the_loss_is_the_one_that_was_trained(run: mg.Run) -> None:
    score, result = mg.analyze(run).score, run.result
    assert score.loss_name == run.experiment.loss != "mse"
    trained = round(25 * run.experiment.fraction)
    mean = (trained * result["train_loss"] + (25 - trained) * result["test_loss"]) / 25
    assert score.loss == pytest.approx(mean, rel=1e-5)
    assert mg.analyze(run.network, "n + m").score.loss_name == "mse"


def test_spectrum_weights_and_portrait(run: mg.Run) -> None:
    found = mg.analyze(run)
    if run.experiment.network != "two-layer":
        assert found.spectrum.shape == (3,)
        assert found.spectrum.sum() == pytest.approx(1)
        assert found.weights.shape[1:] == (2, 5)
    bars = mg.plot.spectrum(run).patches
    assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx([1, 2])
    assert mg.plot.weights(run).images[0].get_array().shape[1] == 10
    assert len(mg.plot.portrait(run).axes) >= 5


def test_progress_measures(run: mg.Run) -> None:
    found = progress_of(run)
    assert found["step"].tolist() == run.snapshots
    assert found["frequencies"] == key_frequencies_of(run.network)
    drawn = mg.plot.progress(run)
    assert [line.get_label() for line in drawn.lines] == ["train", "test", "restricted", "excluded"]
    np.testing.assert_array_equal(drawn.lines[3].get_ydata(), found["excluded_loss"])
    if run.experiment.network == "mlp":
        assert found["train_loss"][-1] == pytest.approx(run.result["train_loss"], rel=1e-5)


def test_a_group_has_representations(tmp_path: Path, capsys) -> None:
    settings: dict[str, Any] = {"width": 8, "heads": 2, "steps": 2, "evaluations": 2, "snapshots": 0}
    run = mg.train("group:S3", network="transformer", store=tmp_path, **settings)
    found = mg.analyze(run)
    assert found.spectrum.shape == (3,)
    w = run.network.parameters["embedding"][:6].astype(np.float64)
    constant = 6 * np.square(w.mean(axis=0)).sum() / np.square(w).sum()
    assert found.spectrum[0] == pytest.approx(constant, rel=1e-5)
    mg.plot.portrait(run)
    with pytest.raises(mg.ModgrokError, match="along numbers modulo p"):
        mg.plot.weights(mg.analyze(mg.solve("group:S3"), "group:S3"))
    cli.main(["analyze", run.id, "--store", str(tmp_path), "--figure", str(tmp_path / "x.png")])
    shown = " ".join(capsys.readouterr().out.split())
    assert "loss (cross entropy)" in shown
    assert "Strongest representations, by dimension, of the input weights:" in shown
    assert (tmp_path / "x.png").exists()


def test_what_has_no_progress_measures() -> None:
    with pytest.raises(mg.ModgrokError, match="pairs modulo p"):
        mg.plot.progress(mg.solve("n1 + n2 + n3", 3), "n1 + n2 + n3")
