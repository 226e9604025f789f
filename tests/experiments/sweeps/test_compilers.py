"""Programs compiled ahead in another process."""

from modgrok.experiments import Experiment, Store
from modgrok.experiments.planner import plan_experiments
from modgrok.experiments.sweeps.engines.compilers import ask, start_compiler


def test_another_process_fills_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MODGROK_CACHE", str(tmp_path / "cache"))
    store = Store(tmp_path / "runs")
    experiment = store.resolve(Experiment(task="n+m", modulus=7, width=19, steps=3))
    (batch,) = plan_experiments([experiment], store, "cpu", lambda *_: 1)
    with start_compiler() as process:
        ask(process, (lambda: "no pickle",))  # is answered at once, and harms nothing
        ask(process, (batch.program, batch.room, batch.members[0], 1))
    assert process.returncode == 0
    assert list((tmp_path / "cache").rglob("*-cache"))
