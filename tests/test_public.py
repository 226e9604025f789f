import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli

NAMES = [
    "Analysis",
    "Architecture",
    "Effort",
    "Experiment",
    "GroupAnalysis",
    "Interrupted",
    "ModgrokError",
    "Network",
    "Observer",
    "Overview",
    "Run",
    "Score",
    "Split",
    "Store",
    "Structure",
    "Sweep",
    "Task",
    "analyze",
    "average_ipr",
    "classify",
    "critical",
    "distance_to_closed_form",
    "grokked_at",
    "landscape",
    "load",
    "memorized_at",
    "neuron_waves",
    "pack",
    "plot",
    "power_spectrum",
    "predictions",
    "record",
    "replay",
    "reproduce_paper",
    "run_sweep",
    "runs",
    "score",
    "score_table",
    "solve",
    "sweep",
    "task",
    "train",
    "train_all",
    "two_layer",
    "unpack",
]

PLOTS = [
    "against_modulus",
    "answers",
    "classify",
    "critical",
    "curves",
    "film",
    "gaps",
    "landscape",
    "phase_diagram",
    "phases",
    "portrait",
    "progress",
    "purity",
    "representations",
    "save",
    "spectrum",
    "sweep",
    "transitions",
    "weights",
]
COMMANDS = [
    "classify",
    "solve",
    "train",
    "analyze",
    "film",
    "runs",
    "sweep",
    "critical",
    "landscape",
    "reproduce",
    "lab",
    "bench",
    "doctor",
]

TINY = {"width": 16, "lr": 0.1, "steps": 3, "evaluations": 3, "snapshots": 2}


def test_the_surface_is_declared() -> None:
    assert sorted(mg.__all__) == NAMES
    assert set(NAMES) <= set(dir(mg))
    for name in NAMES:
        assert getattr(mg, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'grok'"):
        _ = mg.grok
    assert sorted(mg.plot.__all__) == PLOTS
    assert [*cli.COMMANDS] == COMMANDS


def test_importing_it_imports_nothing_heavy() -> None:
    script = """
import sys
import modgrok as mg
from modgrok import cli
assert not {"numpy", "jax", "rich"} & sys.modules.keys()
mg.Experiment, mg.Store, mg.solve, mg.analyze, mg.train, mg.Sweep
assert not {"jax", "matplotlib"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": "src"})


def test_train_returns_a_run_and_finds_it_again(tmp_path: Path) -> None:
    run = mg.train("n + m", modulus=7, store=tmp_path, **TINY)
    assert run.status == "finished"
    assert run.history["step"].tolist() == [0, 1, 2, 3]
    assert (run.network.modulus, run.network.width) == (7, 16)
    written = (run.folder / "result.json").stat().st_mtime_ns
    again = mg.train("n+m", modulus=7, store=mg.Store(tmp_path), **TINY)
    assert (again.id, (again.folder / "result.json").stat().st_mtime_ns) == (run.id, written)
    assert mg.analyze(run).score.accuracy == mg.score_table(run.network, run.task.table).accuracy


def test_train_takes_what_task_takes(tmp_path: Path) -> None:
    table = np.add.outer(np.arange(7), np.arange(7)) % 7
    named = mg.train(mg.task("n + m", 7), store=tmp_path, **TINY)
    assert named.experiment.task == "n+m"
    runs = [
        mg.train(table, store=tmp_path, **TINY),
        mg.train(lambda n, m: n + m, 7, store=tmp_path, **TINY),
        mg.train(mg.Task.from_table(table), 7, store=tmp_path, **TINY),
    ]
    assert len({run.id for run in runs}) == 1
    np.testing.assert_array_equal(runs[0].task.table, table)
    np.testing.assert_array_equal(runs[0].network.w_in, named.network.w_in)


def test_train_refuses_with_sentences(tmp_path: Path) -> None:
    with pytest.raises(mg.ModgrokError, match="has no setting 'learning_rate'"):
        mg.train("n+m", 7, store=tmp_path, learning_rate=1)
    with pytest.raises(mg.ModgrokError, match="modulus=97"):
        mg.train(lambda n, m: n, store=tmp_path)


def test_train_all(tmp_path: Path) -> None:
    experiments = [mg.Experiment("n+m", 7, **TINY | {"steps": steps}) for steps in (3, 2, 3)]
    runs = mg.train_all(experiments, tmp_path)
    assert [run.result["steps"] for run in runs] == [3, 2, 3]
    assert len(list(mg.Store(tmp_path))) == 2


def test_the_package_is_a_program() -> None:
    command = [sys.executable, "-m", "modgrok"]
    shown = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"modgrok {mg.__version__}\n"
    wrong = subprocess.run([*command, "trian"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'train'?" in wrong.stderr


def test_train_takes_every_network_and_kind_of_task(tmp_path: Path) -> None:
    tiny = {name: value for name, value in TINY.items() if name != "width"} | {"store": tmp_path}
    runs = [
        mg.train("add:4", network="mlp", width=8, **tiny),
        mg.train("group:S3", network="embedding-mlp", width=8, embedding=4, **tiny),
    ]
    assert [run.network.signature.outputs for run in runs] == [7, 6]
    assert [run.network.architecture.name for run in runs] == ["mlp", "embedding-mlp"]


def test_a_measure_is_a_function(tmp_path: Path) -> None:
    from modgrok.training.recording import MEASURES

    def smallest(network: mg.Network, data: object) -> object:
        return abs(network.w_out).min()

    try:
        run = mg.train("n + m", modulus=7, store=tmp_path, record=[smallest], **TINY)
    finally:
        MEASURES.pop("smallest", None)
    assert run.history["smallest"][-1] == pytest.approx(np.abs(run.network.w_out).min(), rel=1e-6)
    assert run.result["smallest"] == run.history["smallest"][-1]


def test_a_measure_that_is_no_number_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    from modgrok.training.recording import MEASURES

    def per_neuron(network: mg.Network, data: object) -> object:
        return (network.w_in**2).sum((1, 2))

    try:
        with pytest.raises(mg.ModgrokError, match=r"per_neuron returns an array of the shape \(16,\)"):
            mg.train("n + m", modulus=7, store=tmp_path, record=[per_neuron], **TINY)
    finally:
        MEASURES.pop("per_neuron", None)
    assert not list(mg.Store(tmp_path))


def test_names_that_one_guesses(tmp_path: Path) -> None:
    run = mg.train("n + m", 7, store=tmp_path, **TINY)
    assert run.grokked_at == run.result.grokked_at
    assert run.memorized_at == run.result.memorized_at
    assert [one.id for one in mg.runs(tmp_path)] == [one.id for one in mg.runs(tmp_path, width=16)] == [run.id]
    assert mg.runs(tmp_path, optimizer="gd") == []
    frame = run.history.to_pandas()
    assert (len(frame), frame["step"].tolist()) == (len(run.history), run.history["step"].tolist())
    assert run.history.to_csv().startswith("step,")
    assert run.plot("loss").get_ylabel() == "loss"
    with pytest.raises(mg.ModgrokError, match="no curve 'test_acuracy'; did you mean 'test_accuracy'"):
        _ = run.history["test_acuracy"]
    with pytest.raises(mg.ModgrokError, match="no setting 'optimiser'; did you mean 'optimizer'"):
        mg.runs(tmp_path, optimiser="gd")


def test_a_network_is_a_function(tmp_path: Path) -> None:
    net = mg.solve("n + m", 7)
    assert net([[1, 2], [3, 4], [6, 6]]).argmax(axis=1).tolist() == [3, 0, 5]
    np.testing.assert_array_equal(net([1, 2]), net([[1, 2]])[0])
    net.save(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(mg.load(tmp_path / "net.safetensors")([1, 2]), net([1, 2]))
    assert isinstance(mg.analyze(net, "n + m"), mg.Analysis)
    for wrong in ([[1, 2, 3]], [[1, 7]], [[-1, 0]], [[0.5, 1]], "n", [], [[1], [1, 2]]):
        with pytest.raises(mg.ModgrokError, match=r"rows of 2 whole numbers|network's inputs are 0 to 6"):
            net(wrong)
    for call in (
        lambda: net.save("y.pt"),
        lambda: mg.analyze(net),
        lambda: inspect.unwrap(mg.analyze)("n + m"),
        lambda: mg.load("no"),
    ):
        with pytest.raises(mg.ModgrokError, match=r"\.$"):
            call()


def test_public_objects_have_no_method_that_harms_a_run() -> None:
    harmful = {"append", "begin", "checkpoint", "finish", "keep", "truncate", "remove_checkpoints"}
    assert not harmful & set(dir(mg.Run))


def test_a_table_is_as_long_as_it_has_rows(tmp_path: Path) -> None:
    table = mg.sweep("n + m", 5, vary={"seed": range(3)}, store=tmp_path, **TINY)
    assert len(table) == len(table.to_pandas()) == len(table.rows) == 3


def test_python_takes_what_the_command_line_takes() -> None:
    named = mg.Experiment("n + m", 7, steps=1e4, activation="ReLU", optimizer="AdamW", width=1e2)
    assert named == mg.Experiment("n + m", 7, steps=10_000, activation="relu", optimizer="adamw", width=100)
    with pytest.raises(mg.ModgrokError, match=r"steps must be a whole number, not 10\.5"):
        mg.Experiment("n + m", 7, steps=10.5)


def test_more_careless_calls(tmp_path: Path) -> None:
    run = mg.train("n + m", 7, store=tmp_path, **TINY)
    assert mg.score_table(run, run.task) == mg.score_table(run.network, run.task.table)
    assert mg.score(run, [[1, 2]], [3]).accuracy in (0, 1)
    np.testing.assert_array_equal(mg.predictions(run), mg.predictions(run.network))
    for call, words in (
        (lambda: mg.solve("n + m", p=7), "did you mean 'modulus'"),
        (lambda: mg.solve("n + m", 7, widht=3), "did you mean 'width'"),
        (lambda: mg.task("n + m", p=7), "did you mean 'modulus'"),
        (lambda: mg.classify("n + m", p=7), "did you mean 'modulus'"),
        (lambda: mg.critical("n + m", 7, effort={"seeds": 2}), "effort must be a modgrok.Effort"),
        (lambda: run.snapshot(None), "no weights of step None"),
        (lambda: mg.sweep("n + m", 7), "what the sweep varies"),
        (lambda: mg.critical("n + m", 7, engine="slurm"), "engine must be local or ray"),
        (lambda: mg.plot.sweep("last"), "the table that modgrok.sweep returns"),
        (lambda: mg.plot.curves("last"), "modgrok.load"),
        (lambda: mg.predictions("last"), "a network or a run"),
    ):
        with pytest.raises(mg.ModgrokError, match=words):
            call()


def test_several_tasks_are_searched_by_their_names(tmp_path: Path) -> None:
    def twisted(n: int, m: int) -> int:
        return n * m + 3 * n * n * m * m + m

    effort = mg.Effort(seeds=1, points=2, rounds=0)
    how: dict[str, Any] = {"width": 4, "lr": 0.1, "steps": 2, "effort": effort, "store": tmp_path}
    found = mg.critical(["n + m", twisted], 5, **how)
    assert [one.task_name for one in found] == ["n+m", "twisted"]
    assert "twisted mod 5" in repr(found[1])
    (mine,) = mg.critical({"mine": lambda n, m: n * n * m + 2 * m}, 5, **how)
    assert mine.task_name == "mine"
    legend = mg.plot.transitions([*found, mine]).get_legend()
    assert [text.get_text().split(":")[0] for text in legend.get_texts()] == ["n+m", "twisted", "mine"]
    table = mg.task("n * m + n", 5).table.tolist()
    assert len(mg.critical(table, **how)) == 1
    with pytest.raises(mg.ModgrokError, match="at least one task"):
        mg.critical([], 5, **how)


def test_a_sweep_is_packed_by_its_table_or_its_name(tmp_path: Path) -> None:
    table = mg.sweep("n + m", 5, vary={"seed": range(3)}, width=4, lr=0.1, steps=2, store=tmp_path / "one")
    packed = mg.pack(table, tmp_path / "table.zip", tmp_path / "one")
    assert [run.id for run in packed] == table["run"]
    (folder,) = (tmp_path / "one" / "sweeps").iterdir()
    mg.pack(folder.name, tmp_path / "id.zip", tmp_path / "one")
    assert (tmp_path / "id.zip").read_bytes() == (tmp_path / "table.zip").read_bytes()
    assert {run.id for run in mg.unpack(tmp_path / "id.zip", tmp_path / "two")} == set(table["run"])
    for slip in ("nothing", 3, []):
        with pytest.raises(mg.ModgrokError, match=r"no run 'nothing'|not 3\.|Name the runs"):
            mg.pack(slip, tmp_path / "x.zip", tmp_path / "one")  # type: ignore[arg-type]
