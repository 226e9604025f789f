"""Programs compiled ahead in another process."""

from modgrok.experiments import Experiment, Store
from modgrok.experiments.planner import plan_experiments
from modgrok.experiments.sweeps.engines.compilers import Compilers, ask, start_compiler


def batch_of_width(width, store):
    experiment = store.resolve(Experiment(task="n+m", modulus=7, width=width, steps=3))
    (batch,) = plan_experiments([experiment], store, "cpu", lambda *_: 1)
    return batch


def test_another_process_fills_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MODGROK_CACHE", str(tmp_path / "cache"))
    batch = batch_of_width(19, Store(tmp_path / "runs"))
    with start_compiler() as process:
        ask(process, (lambda: "no pickle",))  # is answered at once, and harms nothing
        ask(process, (batch.program, batch.padded_shape, batch.members[0], 1))
    assert process.returncode == 0
    assert list((tmp_path / "cache").rglob("*-own"))


def test_compilers_end_when_nothing_is_left_to_compile(tmp_path, monkeypatch):
    monkeypatch.setenv("MODGROK_CACHE", str(tmp_path / "cache"))
    store = Store(tmp_path / "runs")
    with Compilers({width: batch_of_width(width, store) for width in (17, 18, 21)}, workers=1) as compilers:
        compilers.settle(21)  # taken back before it was begun
        compilers.settle(17)
        compilers.settle("another shape")
        compilers.threads[0].join()
        assert [process.returncode for process in compilers.processes] == [0]
        assert compilers.compiled[18].is_set()
        assert not compilers.compiled[21].is_set()
    assert list((tmp_path / "cache").rglob("*-own"))


def test_compilers_are_stopped_with_the_training(tmp_path):
    with Compilers({19: batch_of_width(19, Store(tmp_path / "runs"))}, workers=1) as compilers:
        pass
    assert compilers.compiled[19].is_set()
    assert compilers.closed
    assert not compilers.threads[0].is_alive()
