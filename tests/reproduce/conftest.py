"""Stored runs without training: curves of a textbook case of grokking, and weights written down or random."""

import copy
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import available, solve
from modgrok.experiments import Experiment, Run, Store
from modgrok.experiments.run_writer import RunWriter
from modgrok.networks import Network, two_layer
from modgrok.reproduce.claim import Claim, Verdict
from modgrok.reproduce.gromov2023.sizes import GD_FRACTION
from modgrok.reproduce.paper import Paper, find_paper, paper_keys
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.table import Table


@pytest.fixture(scope="session", autouse=True)
def both_ways(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where all tests of this folder run, every claim of every paper is seen to hold and to fail.

    Workers share their folder for temporary files; the last one to end compares what all have seen.
    """
    seen: dict[str, tuple[Claim, set[str]]] = {}
    judge = Claim.verdict

    def noted(claim: Claim, numbers: Any) -> Verdict:
        verdict = judge(claim, numbers)
        seen.setdefault(str(id(claim)), (claim, set()))[1].add(verdict.outcome.split()[0])
        return verdict

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Claim, "verdict", noted)
        yield
    session, option = request.session, request.config.option
    whole = {*Path(__file__).parent.rglob("test_*.py")} <= {item.path for item in session.items}
    if not whole or option.keyword or option.markexpr or session.testsfailed or session.shouldstop:
        return
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    shared = tmp_path_factory.getbasetemp().parent if worker else tmp_path_factory.getbasetemp()
    claims = {f"{key}.{claim.name}": claim for key in paper_keys() for claim in find_paper(key).claims}
    found = {name: sorted(seen[str(id(claim))][1]) for name, claim in claims.items() if str(id(claim)) in seen}
    written = shared / f"{worker}.judged"
    written.with_suffix(".part").write_text(json.dumps(found))
    written.with_suffix(".part").rename(written)
    all_found = [json.loads(path.read_text()) for path in shared.glob("*.judged")]
    if len(all_found) < int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1)):
        return
    outcomes = {name: {outcome for one in all_found for outcome in one.get(name, ())} for name in claims}
    lacking = [name for name, some in outcomes.items() if not {"holds", "does"} <= some]
    assert not lacking, f"No table on which they hold, or none on which they fail: {', '.join(lacking)}"


Find = Callable[[Experiment], Run]
Write = Callable[[Sequence[Experiment]], Find]


def learned_network(experiment: Experiment) -> Network:
    """The closed form where the task has one, else random weights."""
    task = experiment.load_task()
    if "waves" in available(task.structure, task.arity):
        return solve(task, width=experiment.width, seed=experiment.seed, dtype=np.float32)
    return random_network(experiment)


def random_network(experiment: Experiment) -> Network:
    rng = np.random.default_rng(experiment.seed)
    p, width = experiment.modulus, experiment.width
    return two_layer(
        rng.standard_normal((width, 2, p)).astype(np.float32), rng.standard_normal((p, width)).astype(np.float32)
    )


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def grokking_curves(experiment: Experiment, learns: bool) -> list[dict[str, Any]]:
    """Memorization at a fifth of the steps, generalization at a half, if the function is learned at all."""
    steps, _ = experiment.schedule
    t = steps / steps[-1]
    train = sigmoid(60 * (t - 0.15))
    test = sigmoid(40 * (t - 0.5)) if learns else 0.01 + 0 * t
    bump = np.exp(-(((t - 0.4) / 0.1) ** 2))
    curves = {
        "train_loss": 0.01 * np.exp(-3 * t),
        "test_loss": 0.01 * (1 + 0.3 * bump) * (1 - 0.97 * test) + 1e-6
        if learns
        else 0.01 + 0.005 * sigmoid(20 * (t - 0.1)),
        "train_accuracy": np.where(train > 0.99, 1, train),
        "test_accuracy": np.where(test > 0.99, 1, test),
        "norm_in": 10 * (1 + 0.8 * sigmoid(30 * (t - 0.47))),
        "norm_out": 7 * (1 + 0.8 * sigmoid(30 * (t - 0.47))),
        "gradient_in": 1e-4 * (1 + 5 * bump - 0.95 * sigmoid(20 * (t - 0.6))),
        "gradient_out": 1e-4 * (1 + 5 * bump - 0.95 * sigmoid(20 * (t - 0.6))),
        "ipr": 0.01 + 0.02 * t + (0.18 * np.clip((t - 0.4) / 0.3, 0, 1) if learns else 0),
        "task_ipr": 0.01 + 0.2 * test,
    }
    return [{"step": int(step)} | {name: float(c[i]) for name, c in curves.items()} for i, step in enumerate(steps)]


def write_run(run: Run, experiment: Experiment, network: Network | None = None) -> None:
    """A finished run in the store's own format."""
    task = experiment.load_task()
    learns = task.structure.known and experiment.fraction >= GD_FRACTION
    rows = grokking_curves(experiment, learns)
    run.folder.mkdir(parents=True, exist_ok=True)
    writer = RunWriter(run)
    writer.begin(experiment, {"device": "test", "system": "test"})
    writer.append(rows)
    last_network = network or (learned_network if learns else random_network)(experiment)
    for step in experiment.schedule[1].tolist():
        writer.keep(step, random_network(experiment) if 2 * step < rows[-1]["step"] else last_network)
    reached = {
        name: next((row["step"] for row in rows if row[curve] >= 0.99), None)
        for name, curve in (("memorized_at", "train_accuracy"), ("grokked_at", "test_accuracy"))
    }
    last = {name: rows[-1][name] for name in rows[-1] if name != "step"}
    outcome = {"status": "finished", "learning_rate": experiment.lr, "diverged_at": None, "seconds": 1.0}
    writer.finish(
        {"run": run.id, "steps": rows[-1]["step"], **outcome, **last, **reached},
        last_network,
    )


class Pretended(Run):
    """A run that was never trained nor stored: curves of a textbook case of grokking, and random weights."""

    history: Any = None
    result: Any = None
    network: Any = None
    snapshots: Any = None

    def __init__(self, experiment: Experiment) -> None:
        super().__init__(Path("nowhere"))
        e = self.experiment = experiment.resolve()
        rows = grokking_curves(e, learns=True)
        self.history = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        self.history |= {"last_layer": self.history["norm_out"], "rqi": self.history["test_accuracy"]}
        times = {"memorized_at": e.steps // 5, "grokked_at": e.steps // 2, "steps": e.steps}
        self.result = rows[-1] | times
        self.snapshots = e.schedule[1].tolist()
        self.network = self.snapshot(e.steps)

    def snapshot(self, step: int) -> Network:
        signature, rng = self.experiment.load_task().signature, np.random.default_rng(step)
        shapes = self.experiment.architecture.shapes(signature)
        weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
        return Network(self.experiment.architecture, signature, weights)


@pytest.fixture
def judge() -> Callable[[Paper, Sizes], dict[str, Verdict]]:
    """Measures, draws and judges every study of a profile on pretended runs."""

    def measure_draw_and_judge(paper: Paper, profile: Sizes) -> dict[str, Verdict]:
        made: dict[Experiment, Run] = {}

        def find(experiment: Experiment) -> Run:
            return made[experiment] if experiment in made else made.setdefault(experiment, Pretended(experiment))

        numbers = {
            study.name: json.loads(json.dumps(study.measure(profile, find))) for study in paper.chosen((), profile)
        }
        for figure in paper.figures:
            if figure.study.name in numbers:
                assert figure.draw(numbers[figure.study.name]).axes
        verdicts = {claim.name: claim.verdict(numbers) for claim in paper.claims}
        for claim in paper.claims:
            if not set(claim.studies) <= set(numbers):
                assert verdicts[claim.name].outcome == "undecided here"
        return verdicts

    return measure_draw_and_judge


Rows = list[dict[str, Any]]
Change = tuple[str, dict[str, Any], str, Any]
"""Which study, which of its rows (those that have these values), the column, and what it holds instead."""


@pytest.fixture
def outcomes() -> Callable[..., dict[str, str]]:
    """Judges tables that were written down, after changes."""

    def judge(paper: Paper, tables: dict[str, Rows], *changes: Change) -> dict[str, str]:
        rows = copy.deepcopy(tables)
        for study, where, column, value in changes:
            for row in rows[study]:
                if where.items() <= row.items():
                    row[column] = value
        numbers = {name: Table(some).to_json(5) for name, some in rows.items()}
        return {claim.name: claim.verdict(numbers).outcome for claim in paper.claims}

    return judge


@pytest.fixture
def write_runs(tmp_path: Path) -> Write:
    """Writes finished runs of experiments, and gives access to them."""
    store = Store(tmp_path / "runs")

    def write(experiments: Sequence[Experiment]) -> Find:
        for experiment in experiments:
            run = store.add(experiment)
            if run.result is None:
                write_run(run, experiment.resolve())
        return store.add

    return write
