"""Curves for other programs; Weights & Biases and MLflow are played by stand-ins that write down what they are told."""

import contextlib
import sys
from types import SimpleNamespace

import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments.export import long_columns, write_mlflow, write_wandb


def test_rows_carry_the_settings_that_are_not_the_default(trained):
    first = {name: column[0] for name, column in long_columns([trained]).items()}
    assert (first["run"], first["task"], first["modulus"], first["width"]) == (trained.id, "n+m", 11, 32)
    assert first["step"] == 0
    assert "network" not in first
    assert "dropout" not in first


class Told(list):
    def hear(self, name, result=None):
        def heard(*given, **named):
            self.append((name, given, named))
            return result or contextlib.nullcontext(SimpleNamespace(log=self.hear("log")))

        return heard


def test_wandb(trained, tmp_path, monkeypatch):
    told = Told()
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=told.hear("init")))
    monkeypatch.delenv("WANDB_MODE", raising=False)
    write_wandb([trained], tmp_path / "curves")
    (_, _, about), *logged = told
    assert (about["id"], about["mode"], about["config"]["modulus"]) == (trained.id, "offline", 11)
    assert [named["step"] for _, _, named in logged] == [row["step"] for row in trained.rows()]
    assert logged[-1][1][0]["train_accuracy"] == trained.result.train_accuracy


def test_mlflow(trained, tmp_path, monkeypatch):
    told = Told()
    names = "set_tracking_uri get_experiment_by_name set_experiment start_run log_params log_metrics".split()
    monkeypatch.setitem(sys.modules, "mlflow", SimpleNamespace(**{name: told.hear(name) for name in names}))
    write_mlflow([trained], tmp_path)
    said = {name: given for name, given, _ in told}
    assert said["set_tracking_uri"] == (f"sqlite:///{tmp_path / 'mlflow.db'}",)
    assert said["log_params"][0]["width"] == 32
    assert sum(name == "log_metrics" for name, _, _ in told) == len(trained.rows())


@pytest.mark.parametrize(("name", "write"), [("wandb", write_wandb), ("mlflow", write_mlflow)])
def test_what_is_missing_is_named(name, write, trained, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModgrokError, match=rf"modgrok\[{name}\]"):
        write([trained], tmp_path)


@pytest.mark.parametrize(("name", "write"), [("wandb", write_wandb), ("mlflow", write_mlflow)])
def test_what_another_program_refuses_is_said(name, write, trained, tmp_path, monkeypatch):
    def refuse(*given, **named):
        raise RuntimeError("no key.")

    monkeypatch.setitem(sys.modules, name, SimpleNamespace(init=refuse, set_tracking_uri=refuse))
    with pytest.raises(ModgrokError, match=r"did not take the curves: no key\.$"):
        write([trained], tmp_path)


def test_wandb_itself(trained, tmp_path):
    pytest.importorskip("wandb")
    write_wandb([trained], tmp_path)
    assert len(list(tmp_path.glob(f"wandb/offline-run-*/run-{trained.id}.wandb"))) == 1


@pytest.mark.filterwarnings("ignore")
def test_mlflow_itself(trained, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    write_mlflow([trained], tmp_path / "curves")
    write_mlflow([trained], tmp_path / "curves")
    found = mlflow.search_runs(experiment_names=["modgrok"], output_format="list")
    assert [run.info.run_name for run in found] == [trained.id] * 2
    assert found[0].data.params["width"] == "32"
    assert found[0].data.metrics["train_accuracy"] == trained.result.train_accuracy
    assert [entry.name for entry in (tmp_path / "curves").iterdir()] == ["mlflow.db"]
