"""A lab on a store with two tiny runs, in this process for requests and in its own for the browser."""

import asyncio
import dataclasses
import json as json_module
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.experiments import Experiment, Run, Store
from modgrok.experiments.result import RunProgress
from modgrok.experiments.run_writer import RunWriter
from modgrok.lab.server import Lab
from modgrok.measures import average_ipr
from modgrok.networks import Network, grid, score

PORT, TOKEN = 8642, "the-token"
TINY = Experiment("n + m", 13, width=64, fraction=0.7, lr=0.1, steps=30, evaluations=12, snapshots=5)
NOISE = dataclasses.replace(TINY, seed=9, lr=0.001)
LONG = Experiment("+".join(["n*m^2"] * 60), 13, width=8, lr=0.1, steps=5, evaluations=3, snapshots=2)
SMALL = Experiment("n + m", 7, width=12, fraction=0.7, lr=0.1, steps=5, evaluations=3, snapshots=2)
PRODUCT = Experiment("n * m", 11, width=24, fraction=0.7, lr=0.1, steps=20, evaluations=8, snapshots=0)
SHORT = {"steps": 4, "evaluations": 4, "snapshots": 2}
KINDS = {
    "transformer": Experiment("n + m", 7, width=16, network="transformer", heads=2, **SHORT),
    "embedding": Experiment("n * m", 11, width=16, network="embedding-mlp", embedding=8, record=("rqi",), **SHORT),
    "group": Experiment("group:S3", network="mlp", width=16, **SHORT),
    "vectors": Experiment("group:S3", width=16, **SHORT),
    "parity": Experiment("parity:8,2", network="mlp", width=16, examples=40, **SHORT),
    "integers": Experiment("add:10", network="embedding-mlp", width=16, embedding=4, **SHORT),
    "teacher": Experiment("teacher:20", network="mlp", width=8, **SHORT),
    "codes": Experiment("group:S3,codes=5", network="embedding-mlp", width=8, embedding=4, **SHORT),
    "three": Experiment("n1 + n2 + n3", 5, width=16, activation="x^3", **SHORT),
}
"""A run of every kind."""


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run of addition that kept snapshots, and one of multiplication that kept only its end."""
    store = Store(tmp_path_factory.mktemp("written"))
    for experiment in (TINY, PRODUCT):
        write_run(store, experiment.resolve())
    return store.folder


@pytest.fixture(scope="session")
def many(written: Path, kinds: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with five more seeds, a run that never left its noise, one whose function is long, one of few neurons
    and runs of every kind."""
    folder = tmp_path_factory.mktemp("many") / "store"
    shutil.copytree(written, folder)
    store = Store(folder)
    for seed in range(1, 6):
        write_run(store, dataclasses.replace(TINY, seed=seed, snapshots=0, evaluations=4).resolve())
    write_run(store, NOISE.resolve(), moves=False)
    write_run(store, LONG.resolve(), moves=False)
    write_run(store, SMALL.resolve())
    for run in kinds.values():
        shutil.copytree(run.folder, folder / run.id)
    return folder


@pytest.fixture(scope="session")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """A run of every kind, none of them trained."""
    store = Store(tmp_path_factory.mktemp("kinds"))
    return {name: write_untrained(store, experiment.resolve()) for name, experiment in KINDS.items()}


@pytest.fixture
def store(written: Path, tmp_path: Path) -> Store:
    """A copy of that store."""
    shutil.copytree(written, tmp_path / "store")
    return Store(tmp_path / "store")


def write_run(store: Store, experiment: Experiment, moves: bool = True) -> None:
    """Stores a run whose weights move from noise to a closed form in a straight line, without training anything."""
    run, task = store.add(experiment), experiment.load_task()
    writer = RunWriter(run)
    writer.begin(experiment, {})
    progress = RunProgress(experiment)
    addition = Experiment("n + m", experiment.modulus).load_task()
    closed = solve(task if moves else addition, "waves", width=experiment.width, dtype=np.float32)
    rng = np.random.default_rng(0)
    noise_in, noise_out = (rng.normal(0, 3, w.shape).astype(np.float32) for w in (closed.w_in, closed.w_out))
    evaluated, kept = experiment.schedule
    network = closed
    for step in evaluated.tolist():
        done = step / evaluated[-1] if moves else 0
        w_in, w_out = done * closed.w_in + (1 - done) * noise_in, done * closed.w_out + (1 - done) * noise_out
        network = closed.replace(w_in=w_in.astype(np.float32), w_out=w_out.astype(np.float32))
        progress.add({"step": step} | _measure(network, experiment))
        if step in kept:
            writer.keep(step, network)
    writer.append(progress.unwritten())
    writer.finish(progress.result(run.id, "finished", 1.0), network)


def write_untrained(store: Store, experiment: Experiment) -> Run:
    """Stores a run of any kind whose weights stay as they begin."""
    run, task = store.add(experiment), experiment.load_task()
    writer = RunWriter(run)
    writer.begin(experiment, {})
    progress, rng = RunProgress(experiment), np.random.default_rng(0)
    shapes = experiment.architecture.shapes(task.signature)
    weights = {name: rng.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    network = Network(experiment.architecture, task.signature, weights)
    scores = {f"{part}_{what}": 0.5 for part in ("train", "test") for what in ("loss", "accuracy")}
    if task.enumerable and task.vectors is None and task.codes is None:
        scores |= _scores(network, experiment)
    evaluated, kept = experiment.schedule
    for step in evaluated.tolist():
        progress.add({"step": step} | scores | dict.fromkeys(experiment.record, step / 4))
        if step in kept:
            writer.keep(step, network)
    writer.append(progress.unwritten())
    writer.finish(progress.result(run.id, "finished", 1.0), network)
    return run


def _scores(network: Network, experiment: Experiment) -> dict[str, float]:
    task = experiment.load_task()
    parts = zip(("train", "test"), experiment.split.divide(task), strict=True)
    inputs = grid(task.sizes)
    scores = {name: score(network, inputs[part], task.table.reshape(-1)[part]) for name, part in parts}
    return {
        **{f"{name}_loss": float(found.loss) for name, found in scores.items()},
        **{f"{name}_accuracy": float(found.accuracy) for name, found in scores.items()},
    }


def _measure(network: Network, experiment: Experiment) -> dict[str, float]:
    task = experiment.load_task()
    return {
        **_scores(network, experiment),
        "norm_in": float(np.linalg.norm(network.w_in)),
        "norm_out": float(np.linalg.norm(network.w_out)),
        "gradient_in": 0.0,
        "gradient_out": 0.0,
        "ipr": float(average_ipr(network.w_in).mean),
        "task_ipr": float(average_ipr(network.w_in, task.structure.coordinate).mean),
    }


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json_module.loads(self.content)


class Client:
    """A caller at one host; requests reach the application as written, nothing tidies their paths or headers."""

    def __init__(self, app: Any, host: str) -> None:
        self.app = app
        self.headers = {"host": host}

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.request("GET", path, headers)

    def post(self, path: str, json: Any = None, content: bytes | None = None) -> Answer:
        return self.request("POST", path, content=json_module.dumps(json).encode() if content is None else content)

    def request(self, method: str, path: str, headers: dict[str, str] | None = None, content: bytes = b"") -> Answer:
        asked = self._request(method, path, self.headers | (headers or {}), content)
        with ThreadPoolExecutor(1) as thread:  # Playwright keeps a loop in this one.
            return thread.submit(asyncio.run, asked).result()

    async def _request(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Answer:
        if method == "POST":
            headers = {"content-length": str(len(content))} | headers
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        try:
            await self.app(scope, receive, send)
        except Exception:
            if not sent:
                raise
        head = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))


@pytest.fixture
def bare(store: Store) -> Client:
    """A caller that does not know the token. The training process is not started."""
    return Client(Lab(store, PORT, TOKEN).app, f"127.0.0.1:{PORT}")


@pytest.fixture
def client(bare: Client) -> Client:
    """A caller that knows it."""
    bare.headers["x-modgrok-token"] = TOKEN
    return bare


@pytest.fixture
def kinds_client(kinds: dict[str, Run]) -> Client:
    """The same of the store with runs of every kind."""
    folder = next(iter(kinds.values())).folder.parent
    client = Client(Lab(Store(folder), PORT, TOKEN).app, f"127.0.0.1:{PORT}")
    client.headers["x-modgrok-token"] = TOKEN
    return client


class LabProcess:
    """`modgrok lab` as a person starts it."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        command = [sys.executable, "-c", "from modgrok.cli import main; main()", "lab", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--port", str(port), "--store", str(folder)],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "default"},
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line + self.process.stderr.read()
        self.url, self.port, self.token = found[0], int(found[1]), found[2]

    def close(self, number: signal.Signals = signal.SIGINT) -> tuple[int, str]:
        """Ends it by a signal, Ctrl-C unless told; the exit code, and what it said."""
        self.process.send_signal(number)
        _, said = self.process.communicate()
        return self.process.returncode, said


@pytest.fixture(scope="session")
def start_lab() -> type[LabProcess]:
    """Starts a lab that whoever asked for it closes."""
    return LabProcess


@pytest.fixture
def lab_process() -> Iterator[Callable[..., LabProcess]]:
    """Starts labs, and closes those that are still open."""
    started: list[LabProcess] = []

    def start(folder: Path, port: int = 0) -> LabProcess:
        started.append(LabProcess(folder, port))
        return started[-1]

    yield start
    for lab in started:
        if lab.process.poll() is None:
            lab.close()
