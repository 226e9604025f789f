from pathlib import Path

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli

TINY = {"width": 16, "lr": 0.1, "steps": 3, "evaluations": 3}


def test_functions_are_swept_and_keep_their_names(tmp_path: Path) -> None:
    def difference(n: int, m: int) -> int:
        return n - m

    named = {"square": lambda n, m: (n + m) ** 2, "plain": "n + m"}
    table = mg.sweep("n + m", 7, vary={"task": named, "seed": range(2)}, store=tmp_path, **TINY)
    assert table["task"] == ["square", "square", "plain", "plain"]
    assert table["steps_taken"] == [3] * 4
    table = mg.sweep("n + m", 7, vary=[{"task": [difference, "n * m"]}], store=tmp_path, **TINY)
    assert table["task"] == ["difference", "n * m"]
    table = mg.sweep("n + m", 7, vary={"task": "n+m,n*m"}, store=tmp_path, **TINY)
    assert table["task"] == ["n+m", "n*m"]


def test_own_training_inputs_are_part_of_the_experiment(tmp_path: Path) -> None:
    mask = np.random.default_rng(1).random((7, 7)) < 0.5
    run = mg.train("n + m", 7, train_on=mask, store=tmp_path, **TINY)
    assert mg.train("n + m", 7, train_on=np.flatnonzero(mask), store=tmp_path, **TINY).id == run.id
    np.testing.assert_array_equal(run.experiment.split.divide(run.task)[0], np.flatnonzero(mask))
    assert run.experiment.fraction == pytest.approx(mask.mean())
    assert mg.train("n + m", 7, train_on=~mask, store=tmp_path, **TINY).id != run.id
    same = mg.train("n + m", 7, train_on=mg.Split(0.6, seed=3), store=tmp_path, **TINY)
    assert same.id == mg.train("n + m", 7, fraction=0.6, split_seed=3, store=tmp_path, **TINY).id
    np.save(tmp_path / "mask.npy", mask)
    named = mg.Experiment("n + m", 7, train_on=str(tmp_path / "mask.npy"), **TINY)
    assert named.id == run.id
    with pytest.raises(mg.ModgrokError, match="fraction has no effect beside train_on"):
        mg.train("n + m", 7, train_on=mask, fraction=0.3, store=tmp_path, **TINY)


def test_names_that_were_given_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def div(n: int, m: int) -> int | None:
        return n * pow(m, -1, 7) % 7 if m else None

    run = mg.train(div, 7, store=tmp_path, **TINY)
    assert "div mod 7" in repr(run)
    assert run.task.name == "div"
    cli.main(["runs", "list", "--store", str(tmp_path)])
    text = capsys.readouterr().out
    assert "div" in text
    assert "table:" not in text
    table = mg.sweep("n + m", 7, vary={"task": {"cube": lambda n, m: n**3 + 2 * m**2}}, store=tmp_path, **TINY)
    assert table["task"] == ["cube"]
    cli.main(["sweep", "show", "last", "--x", "task", "--outcome", "test_accuracy", "--store", str(tmp_path)])
    assert "cube" in capsys.readouterr().out
    assert mg.load("last", tmp_path).task_name == "cube"
    table = mg.sweep("n + m", 7, vary={"task": [lambda n, m: n**3 + m**2]}, store=tmp_path, **TINY)
    assert table["task"][0].startswith("table:")


def test_training_starts_from_a_network_or_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"store": tmp_path, "lr": 1e-3, "weight_decay": 0.0, "steps": 3, "evaluations": 3}
    exact = mg.solve("n + m", 7, form="exact")
    run = mg.train("n + m", start=exact, **settings)
    assert (run.experiment.width, run.experiment.modulus, run.history["test_accuracy"][0]) == (exact.width, 7, 1)
    path = tmp_path / "exact.safetensors"
    exact.save(path)
    assert mg.train("n + m", start=path, **settings).id == run.id
    mg.replay(run, tmp_path / "replay.html")
    assert run.id in (tmp_path / "replay.html").read_text()
    flags = "--lr 1e-3 --weight-decay 0 --steps 3 --evaluations 3".split()
    cli.main(["train", "n + m", "--start", str(path), "--store", str(tmp_path), *flags])
    assert run.id in capsys.readouterr().out
    with pytest.raises(mg.ModgrokError, match="real weights"):
        mg.train("n + m", start=mg.solve("n + m", 7, form="complex", width=16), **settings)


def test_the_modulus_is_97_where_nothing_else_is_said() -> None:
    assert mg.classify("n/m").kind == "product"
    assert mg.solve("n + m", width=8).modulus == 97
    assert mg.solve("n + m", 7).width == mg.solve("n + m", 7, form="exact").width == 13
    with pytest.raises(mg.ModgrokError, match="modulus"):
        mg.classify(lambda n, m: n + m)


def test_every_setting_is_a_keyword_but_those_that_are_searched() -> None:
    import inspect

    for function in (mg.train, mg.sweep, mg.critical, mg.landscape):
        assert {"weight_decay", "width"} <= inspect.signature(function).parameters.keys()
        assert "weight_decay: " in (function.__doc__ or "")
    assert inspect.signature(mg.sweep).parameters["until"].default == 0
    with pytest.raises(mg.ModgrokError, match="fraction is varied here"):
        mg.critical("n + m", 7, fraction=0.5)
    with pytest.raises(mg.ModgrokError, match="seed is varied here"):
        mg.landscape(modulus=7, seed=1)


def test_one_name_loads_a_run_or_a_network(tmp_path: Path) -> None:
    run = mg.train("n + m", 7, store=tmp_path, **TINY)
    for name in ("last", run.id, run.id[:6]):
        found = mg.load(name, tmp_path)
        assert isinstance(found, mg.Run)
        assert found.id == run.id
    run.network.save(tmp_path / "net.safetensors")
    for file in (tmp_path / "net.safetensors", str(tmp_path / "net.safetensors")):
        network = mg.load(file)
        assert isinstance(network, mg.Network)
        np.testing.assert_array_equal(network.w_in, run.network.w_in)
    with pytest.raises(mg.ModgrokError, match="A run knows its activation"):
        mg.load("last", tmp_path, activation="relu")


def test_what_cannot_be_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(mg.ModgrokError, match="width must be a whole number, not '5'"):
        mg.solve("n + m", 7, width="5")
    with pytest.raises(mg.ModgrokError, match=r"raised ZeroDivisionError \(.*\) at n=0, m=0"):
        mg.task(lambda n, m: 1 // (n - m), 7)
    with pytest.raises(mg.ModgrokError, match="a figure of Matplotlib or its axes, not None"):
        mg.plot.save(None, tmp_path / "x.png")
