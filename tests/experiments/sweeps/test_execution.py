"""From a sweep to its table: what is stored is not trained again, and what is done is always on disk."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from modgrok import plot
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.cost import estimate
from modgrok.experiments.planner import Failure, out_of_memory, plan_experiments
from modgrok.experiments.result import Result
from modgrok.experiments.stored_json import write_sealed_json
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.engines import engine_named
from modgrok.experiments.sweeps.engines.local import LocalEngine
from modgrok.experiments.sweeps.execution import plan, run_sweep
from modgrok.experiments.sweeps.record import Record, find_sweep, stored_sweeps
from modgrok.experiments.sweeps.summary import summarize
from modgrok.experiments.sweeps.table import Results, sweep_table
from modgrok.experiments.train import train_stored

BASE = Experiment("n + m", 11, width=16, steps=30, snapshots=0)
SWEEP = Sweep(BASE, ["fraction=0.4:0.8:0.2", "seed=0:2", "optimizer=adam,adamw"])


def grokked(experiment: Experiment) -> dict[str, Any]:
    late = experiment.fraction < 0.5
    return {"grokked_at": None if late else round(100 * experiment.fraction) + experiment.seed, "test_accuracy": 0.9}


@pytest.fixture
def trained(pretended: Any, tmp_path: Path) -> tuple[Store, Results]:
    store, engine = Store(tmp_path), pretended(grokked)
    run_sweep(SWEEP, store, engine)
    assert len(engine.trained) == 12
    return store, Results(SWEEP.experiments, store)


def test_the_table_has_settings_and_outcomes(trained: tuple[Store, Results], tmp_path: Path) -> None:
    table = sweep_table(SWEEP, trained[1])
    assert list(table)[:7] == ["task", "modulus", "fraction", "seed", "optimizer", "steps", "snapshots"]
    assert table.settings == tuple(list(table)[: list(table).index("run")])
    assert table["grokked_at"][:4] == [None] * 4
    assert table["grokked_at"][-1] == 81
    assert table.complete
    assert len(table.rows) == 12
    with open(tmp_path / "sweeps" / SWEEP.id / "table.csv", newline="") as file:
        read = list(csv.DictReader(file))
    assert [row["run"] for row in read] == table["run"]
    assert (read[0]["grokked_at"], read[-1]["grokked_at"]) == ("", "81")
    with pytest.raises(ModgrokError, match="no column 'loss'"):
        _ = table["loss"]


def test_pandas_and_parquet(trained: tuple[Store, Results], tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    table = sweep_table(Sweep(BASE, ["lr=auto,0.1", "seed=0:2"]), Results([BASE] * 4, Store(tmp_path)))
    frame = sweep_table(SWEEP, trained[1]).to_pandas()
    assert frame.groupby("fraction")["grokked_at"].mean().tolist()[1:] == [60.5, 80.5]
    assert pandas.DataFrame(table).shape == table.to_pandas().shape
    pytest.importorskip("pyarrow")
    table.write(tmp_path / "table.parquet")
    read = pandas.read_parquet(tmp_path / "table.parquet")
    assert read["lr"].tolist() == ["auto", "auto", "0.1", "0.1"]
    assert set(read["status"]) == {"unfinished"}
    with pytest.raises(ModgrokError, match=r"\.csv or \.parquet"):
        table.write(tmp_path / "table.xls")


def test_starting_again_trains_what_is_missing(trained: tuple[Store, Results], pretended: Any) -> None:
    store, results = trained
    larger = Sweep(BASE, ["fraction=0.4:0.8:0.2", "seed=0:3", "optimizer=adam,adamw"])
    engine = pretended(grokked)
    assert run_sweep(larger, store, engine).complete
    assert {e.seed for e in engine.trained} == {2}
    assert plan(results, engine).batches == ()
    (store.folder / results.ids[0] / "result.json").write_text("{")
    assert len(Results(SWEEP.experiments, store).pending) == 1


def test_a_sweep_is_found_by_its_name(trained: tuple[Store, Results], pretended: Any) -> None:
    store, _ = trained
    assert find_sweep(store, SWEEP.id[:5]) == find_sweep(store, "last") == SWEEP
    about = next(stored_sweeps(store))
    assert (about["id"], about["runs"]) == (SWEEP.id, 12)
    run_sweep(Sweep(BASE), store, pretended(grokked))
    for name, says in (("zzz", "no sweep 'zzz'"), ("", "no sweep")):
        with pytest.raises(ModgrokError, match=says):
            find_sweep(store, name)
    write_sealed_json(store.folder / "sweeps" / SWEEP.id / "sweep.json", {"experiment": 3})
    with pytest.raises(ModgrokError, match=r"sweep\.json has no"):
        find_sweep(store, SWEEP.id)


def test_a_stopped_sweep_leaves_its_table(pretended: Any, tmp_path: Path) -> None:
    from modgrok.errors import Interrupted

    class Stopping(Observer):
        count = 0

        def ended(self, run: Any, result: Result) -> None:
            self.count += 1
            if self.count == 5:
                raise Interrupted("Stopped.")

    store, engine = Store(tmp_path), pretended(grokked)
    results = Results(SWEEP.experiments, store)
    with pytest.raises(Interrupted):
        plan(results, engine).train(Stopping(), Record(SWEEP, store))
    text = (tmp_path / "sweeps" / SWEEP.id / "table.csv").read_text()
    assert text.count("finished") - text.count("unfinished") == 5
    assert len(Results(SWEEP.experiments, store).pending) == 7
    assert run_sweep(SWEEP, store, engine).complete
    assert len(engine.trained) == 12


def test_summaries(trained: tuple[Store, Results]) -> None:
    table = sweep_table(SWEEP, trained[1])
    summary = summarize(table, "grokked_at")
    assert (summary.x, summary.y) == ("fraction", "optimizer")
    assert summary.cells[0][0].as_dict()["with_value"] == 0
    assert (summary.cells[1][2].low, summary.cells[1][2].median, summary.cells[1][2].high) == (80, 80.5, 81)
    assert summarize(table) == summary
    shares = summarize(table, "grokked", x="fraction")
    assert [cell.mean for cell in shares.cells[0]] == [0, 1, 1]
    assert [cell.ended for cell in shares.cells[0]] == [4, 4, 4]
    json.dumps(summary.as_dict(), allow_nan=False)
    with pytest.raises(ModgrokError, match="x and y are both fraction"):
        summarize(table, x="fraction", y="fraction")
    for outcome, x, says in (("grokked_at", "width", "does not vary"), ("status", None, "An outcome is")):
        with pytest.raises(ModgrokError, match=says):
            summarize(table, outcome, x)
    single = Sweep(BASE)
    assert summarize(sweep_table(single, Results([BASE], trained[0])), "test_loss").cells[0][0].ended == 0


@pytest.mark.parametrize("kind", ["curves", "map", "auto"])
def test_figures(trained: tuple[Store, Results], tmp_path: Path, kind: Any) -> None:
    summary = summarize(sweep_table(SWEEP, trained[1]), "grokked_at", "optimizer" if kind == "map" else None)
    if kind == "map":
        with pytest.raises(ModgrokError, match="two settings"):
            plot.sweep(summary, kind)
        summary = summarize(sweep_table(SWEEP, trained[1]), "test_accuracy", "fraction", "seed")
    plot.save(plot.sweep(summary, kind), tmp_path / "figure.svg")
    table = sweep_table(SWEEP, trained[1])
    assert plot.sweep(table, outcome="test_accuracy", x="fraction").get_xlabel() == "training fraction α"
    assert (tmp_path / "figure.svg").stat().st_size > 5000
    with pytest.raises(ModgrokError, match=r"\.png, \.svg or \.pdf"):
        plot.save(plot.sweep(summary), tmp_path / "figure.txt")


def test_training_sets_of_all_lengths_share_batches_on_a_cpu(tmp_path: Path) -> None:
    store = Store(tmp_path)
    experiments = Results(SWEEP.experiments, store).pending
    found = plan_experiments(experiments, store, "cpu", lambda *_: 3)
    assert [len(batch.experiments) for batch in found] == [3] * 4
    assert [sorted({e.fraction for e in batch.experiments}) for batch in found] == [
        [0.8],
        [0.6, 0.8],
        [0.4, 0.6],
        [0.4],
    ]
    together = plan_experiments(experiments, store, "gpu", lambda *_: 100)
    assert [len(batch.experiments) for batch in together] == [12]
    other = Experiment("n + m", 13, width=16).resolve()
    assert len(plan_experiments([*experiments, other], store, "gpu", lambda *_: 100)) == 2


def test_the_local_engine_splits_what_needs_too_much_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from modgrok.experiments.sweeps.engines import local

    tried: list[int] = []

    def train_batches(batches: Any, store: Store, observer: Observer) -> None:
        (batch,) = batches
        tried.append(len(batch.members))
        if len(batch.members) > 1:
            raise RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 12 bytes.")
        if batch.experiments[0].seed == 1:
            raise ValueError("broken")

    monkeypatch.setattr(local, "train_batches", train_batches)
    store, engine = Store(tmp_path), LocalEngine()
    experiments = Results(SWEEP.experiments[:4], store).pending
    failures = engine.train(plan_experiments(experiments, store, "cpu", lambda *_: 4), store, Observer())
    assert tried == [4, 4, 2, 1, 1, 2, 1, 1]  # once more when the programs of earlier batches have been forgotten
    assert [str(failure) for failure in failures] == ["1 run of n+m mod 11 failed: ValueError: broken"] * 2
    assert out_of_memory(MemoryError())


def test_a_sweep_with_a_run_that_needs_too_much_memory_does_not_begin(tmp_path: Path) -> None:
    sweep = Sweep(BASE, ["width=8,1000000000"])
    with pytest.raises(ModgrokError, match=r"width 1000000000 needs about .* are free"):
        plan(Results(sweep.experiments, Store(tmp_path)), LocalEngine())


def test_a_small_sweep_trains_on_the_local_engine(tmp_path: Path) -> None:
    store, engine = Store(tmp_path), engine_named("local")
    sweep = Sweep(BASE, ["seed=0:3"])
    results = Results(sweep.experiments, store)
    planned = plan(results, engine)
    speed = engine.measure(planned.batches[0])
    cost = estimate(planned.batches, speed)
    assert cost.run_steps == 90
    assert cost.seconds > 0
    assert not list(store), "measuring leaves no run behind"
    table = run_sweep(sweep, store)
    assert table["status"] == ["finished"] * 3
    assert len(set(table["test_loss"])) == 3


@pytest.mark.parametrize(
    ("name", "address", "says"), [("local", "auto", "--engine ray"), ("slurm", None, "local or ray")]
)
def test_engines_by_name(name: str, address: str | None, says: str) -> None:
    with pytest.raises(ModgrokError, match=says):
        engine_named(name, address)


@pytest.mark.parametrize("name", ["experiment.json", "network.safetensors"])
def test_a_damaged_member_is_trained_again(tmp_path: Path, name: str) -> None:
    store, sweep = Store(tmp_path), Sweep(BASE, ["seed=0:2"])
    before = run_sweep(sweep, store)
    path = store.run(before["run"][1]).folder / name
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    damaged = Results(sweep.experiments, store)
    assert [e.seed for e in damaged.pending] == [1]
    assert len(Results(sweep.experiments, store, trusting=True).outcomes) == 2
    again = run_sweep(sweep, store)
    assert again["test_loss"] == before["test_loss"]
    assert not Results(sweep.experiments, store).pending
    assert len(list((tmp_path / "damaged").iterdir())) == 1


class FailingEngine(LocalEngine):
    """Cannot train runs of these seeds."""

    def __init__(self, *seeds: int) -> None:
        self.seeds = seeds

    def train(self, batches: Any, store: Store, observer: Observer) -> list[Failure]:
        experiments = [e for batch in batches for e in batch.experiments]
        failing = tuple(e for e in experiments if e.seed in self.seeds)
        train_stored([e for e in experiments if e not in failing], store, observer)
        return [Failure(failing, "ValueError: broken")] if failing else []


def test_what_failed_is_warned_of_and_is_an_error_where_nothing_was_trained(tmp_path: Path) -> None:
    store, sweep = Store(tmp_path), Sweep(BASE, ["seed=0:3"])
    with pytest.raises(ModgrokError, match=r"Of 3 runs to train none could be trained\. .* failed: ValueError: broken"):
        run_sweep(sweep, store, FailingEngine(0, 1, 2))
    with pytest.warns(UserWarning, match=r"1 run of n\+m mod 11 failed: ValueError: broken"):
        table = run_sweep(sweep, store, FailingEngine(1))
    assert table["status"] == ["finished", "unfinished", "finished"]
    with pytest.raises(ModgrokError, match="Of 1 run to train none"):
        run_sweep(sweep, store, FailingEngine(1))


def test_cells_count_bad_ends(pretended: Any, tmp_path: Path) -> None:
    ends = {0: "diverged", 1: "collapsed", 2: "finished"}
    engine = pretended(lambda experiment: {"status": ends[experiment.seed]})
    table = run_sweep(Sweep(BASE, ["lr=0.1,0.2", "seed=0:3"]), Store(tmp_path), engine)
    for cell in summarize(table, x="lr").cells[0]:
        assert cell.as_dict() | {"ended": 3, "diverged": 1, "collapsed": 1} == cell.as_dict()
