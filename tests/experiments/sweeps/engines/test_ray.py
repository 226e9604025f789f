"""A real cluster of two nodes on this machine: what dies costs its batch, and the store ends the same."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modgrok.errors import Interrupted, ModgrokError
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.planner import Failure
from modgrok.experiments.result import Result
from modgrok.experiments.sweeps import Sweep, engines
from modgrok.experiments.sweeps.engines import reaper, remote
from modgrok.experiments.sweeps.engines.local import LocalEngine
from modgrok.experiments.sweeps.engines.ray import LOOPBACK, RayEngine
from modgrok.experiments.sweeps.execution import plan
from modgrok.experiments.sweeps.table import Results
from modgrok.experiments.train import train_stored
from modgrok.tasks import task
from modgrok.training.losses import LOSSES, Loss, cross_entropy
from modgrok.training.recording import MEASURES

os.environ.update(LOOPBACK)
ray = pytest.importorskip("ray")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

BASE = Experiment("n + m", 11, width=16, fraction=0.7, lr=0.01, evaluations=10, snapshots=2)
HEALTH = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}


def sweep(steps: int) -> Sweep:
    return Sweep(Experiment.from_dict(BASE.as_dict() | {"steps": steps}), ["seed=0:6"])


class Acting(Observer):
    """Does something once, when a batch has come some way."""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action: Callable[[], None] | None = action
        self.remarks: list[str] = []
        self.results: dict[str, Any] = {}

    def advanced(self, members: Any, step: int, run_steps: int) -> None:
        action, self.action = self.action, None
        if action is not None:
            action()

    def ended(self, run: Any, result: Result) -> None:
        self.results[run.id] = result

    def remark(self, sentence: str) -> None:
        self.remarks.append(sentence)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """In a folder of its own: Ray's usual one belongs to whoever used it first on this machine, and may not exist."""
    with (
        tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True) as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("RAY_TMPDIR", folder)  # where Ray notes the address of the cluster, in a folder that it expects
        os.mkdir(f"{folder}/ray")
        found = Cluster(
            initialize_head=True,
            connect=True,
            head_node_args={
                "num_cpus": 1,
                "include_dashboard": False,
                "node_ip_address": "127.0.0.1",
                "temp_dir": f"{folder}/ray",
                "_system_config": HEALTH,
            },
        )
        yield found
        ray.shutdown()
        found.shutdown()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("reference"))
    train(sweep(STEPS), store, LocalEngine())
    return store


STEPS = 4_000


def train(what: Sweep, store: Store, engine: Any, observer: Observer | None = None) -> list[Failure]:
    return train_experiments(what.experiments, store, engine, observer)


def train_experiments(
    experiments: Sequence[Experiment], store: Store, engine: Any, observer: Observer | None = None
) -> list[Failure]:
    results = Results(experiments, store)
    failures = plan(results, engine).train(observer)
    assert failures or not results.pending
    return failures


def contents(store: Store) -> dict[str, Any]:
    """Everything a run came to, without what may differ: times, devices, and the locks."""
    found: dict[str, Any] = {}
    for run in store:
        result = dict(run.result or {})
        result.pop("seconds")
        snapshots = {step: run.snapshot(step).w_in.tobytes() for step in run.snapshots}
        network = run.network.w_in.tobytes(), run.network.w_out.tobytes()
        found[run.id] = result, run.rows(), network, snapshots, run.experiment
    return found


def worker_of(raylet: int) -> int | None:
    """The process that trains a batch on the node of that raylet."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name = (folder / "cmdline").read_bytes()
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if name.startswith(b"ray::train_batch") and parent == raylet:
            return int(folder.name)
    return None


def raylet_of(node: Any) -> int:
    return node.all_processes["raylet"][0].process.pid


def test_a_killed_worker_costs_its_batch_only(cluster: Any, reference: Store, tmp_path: Path) -> None:
    def kill() -> None:
        found = worker_of(raylet_of(cluster.head_node))
        assert found is not None
        os.kill(found, signal.SIGKILL)

    observer, store = Acting(kill), Store(tmp_path)
    assert train(sweep(STEPS), store, RayEngine(), observer) == []
    assert any("worker was lost" in remark for remark in observer.remarks)
    assert len(observer.results) == 6
    assert contents(store) == contents(reference)


def test_a_killed_node_costs_its_batch_only_and_starting_again_does_nothing(
    cluster: Any, reference: Store, tmp_path: Path
) -> None:
    node = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    cluster.wait_for_nodes()

    class KillsBusyNode(Acting):
        def advanced(self, members: Any, step: int, run_steps: int) -> None:
            if self.action is not None and worker_of(raylet_of(node)) is not None:
                super().advanced(members, step, run_steps)

    observer, store = KillsBusyNode(lambda: cluster.remove_node(node, allow_graceful=False)), Store(tmp_path)
    assert train(sweep(STEPS), store, RayEngine(), observer) == []
    assert observer.action is None
    assert any("worker was lost" in remark for remark in observer.remarks)
    assert contents(store) == contents(reference)
    again = Acting(lambda: pytest.fail("Something was trained again."))
    assert train(sweep(STEPS), store, RayEngine(), again) == []
    assert again.results == {}


def test_what_needs_too_much_memory_is_split_and_what_fails_is_reported(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stubborn(parcel: bytes, begun: Any) -> Iterator[Any]:
        batch = remote.unpack(parcel)
        if len(batch.members) > 1:
            yield "failed", "RESOURCE_EXHAUSTED", True
        elif batch.experiments[0].seed == 3:
            raise ValueError("broken")
        else:
            yield from remote.train_batch(parcel, begun)

    monkeypatch.setattr(engines.ray.remote, "train_batch", stubborn)
    observer, store = Acting(lambda: None), Store(tmp_path)
    (failure,) = train(sweep(20), store, RayEngine(), observer)
    assert [e.seed for e in failure.experiments] == [3]
    assert "broken" in str(failure)
    assert len(observer.results) == 5
    assert sum("too much memory" in remark for remark in observer.remarks) >= 2


def test_stopping_keeps_what_has_ended_and_tables_travel(cluster: Any, tmp_path: Path) -> None:
    class Stopping(Acting):
        def stop_requested(self) -> bool:
            return len(self.results) >= 2

    table = tmp_path / "table.npy"
    np.save(table, task("n - m", 11).table)
    long = Sweep(Experiment.from_dict(BASE.as_dict() | {"task": str(table)}), ["steps=20,30,3000000"])
    observer, store = Stopping(lambda: None), Store(tmp_path / "runs")
    with pytest.raises(Interrupted):
        train(long, store, RayEngine(), observer)
    left = Results(long.experiments, store)
    assert [e.steps for e in left.pending] == [3000000]
    assert store.find(left.ids[0]).task.structure.kind == "sum"
    assert train(sweep(5), store, RayEngine()) == []  # No worker trains on for nobody.


@pytest.mark.parametrize("deaf", [False, True])
def test_a_worker_that_does_not_stop_is_killed(deaf: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.ray, "CANCEL_SECONDS", 0.0 if deaf else 60.0)
    asked: list[bool] = []
    engine = RayEngine.__new__(RayEngine)
    engine.ray = SimpleNamespace(
        cancel=lambda stream, force=False: asked.append(force),
        wait=lambda streams, **how: (streams, []),
        get=lambda event: event,
        exceptions=ray.exceptions,
    )
    engine._cancel([engines.ray._Job(None, iter(["an event"]), {})])  # type: ignore[arg-type]
    assert asked == ([False, True] if deaf else [False])


NETWORKS: list[dict[str, Any]] = [
    {},
    {"network": "mlp"},
    {"network": "embedding-mlp", "embedding": 16},
    {"network": "transformer", "heads": 2},
]


def test_every_architecture_is_extended_there_and_here_with_the_same_bits(cluster: Any, tmp_path: Path) -> None:
    """Trained alone here, and on the cluster: in one go, or shorter first and then on, there or here."""
    settings = BASE.as_dict() | {"snapshots": 3, "optimizer": "adamw"}
    long = [Experiment.from_dict(settings | {"steps": 60} | network) for network in NETWORKS]
    short = [Experiment.from_dict(settings | {"steps": 25} | network) for network in NETWORKS]
    stores = {name: Store(tmp_path / name) for name in ("alone", "there", "here")}
    for experiment in long:
        train_stored([experiment], stores["alone"])
    assert train_experiments(long, Store(tmp_path / "whole"), RayEngine()) == []
    assert train_experiments(short, stores["there"], RayEngine()) == []
    shutil.copytree(stores["there"].folder, stores["here"].folder)
    heard = Acting(lambda: None)
    assert train_experiments(long, stores["there"], RayEngine(), heard) == []
    assert sum("goes on where it ended" in remark for remark in heard.remarks) == len(NETWORKS)
    train_stored(long, stores["here"])
    for experiment in long:
        alone, whole, *extended = (
            Store(tmp_path / name).add(experiment) for name in ("alone", "whole", "there", "here")
        )
        assert alone.rows() == whole.rows()
        assert all(run.keeps_state for run in (alone, whole, *extended))
        for run in (whole, *extended):
            assert weights(run) == weights(alone)
            assert run.read_state()[1].keys() == alone.read_state()[1].keys()


def weights(run: Any) -> dict[str, bytes]:
    return {name: np.asarray(value).tobytes() for name, value in run.network.parameters.items()}


SCRIPT = """
from modgrok.training.losses import LOSSES, Loss, cross_entropy
from modgrok.training.recording import record

LOSSES["own"] = Loss(lambda out, answers, count: 2 * cross_entropy(out, answers, count))

@record("own_measure")
def own_measure(network):
    return sum(abs(value).max() for value in network.parameters.values())
"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a script registers; pickled by value, since nobody can import what has no module."""
    for registry in (LOSSES, MEASURES):
        for name in ("own", "own_measure", "locked"):
            monkeypatch.setitem(registry, name, None)  # so that it is gone after the test
            del registry[name]
    exec(SCRIPT, {"__name__": "__main__"})


OWN = Experiment.from_dict({"task": "n+m", "modulus": 5, "network": "mlp", "width": 8, "steps": 5, "lr": 0.01})


def test_parts_of_a_script_are_known_to_the_workers(cluster: Any, registered: None, tmp_path: Path) -> None:
    own = Experiment.from_dict(OWN.as_dict() | {"loss": "own", "record": ["own_measure"]})
    here, there = (Store(tmp_path / name) for name in ("here", "there"))
    train_stored([own], here)
    engine = RayEngine()
    (batch,) = engine.plan([own.resolve()], there)
    assert engine.measure(batch).run_steps_per_second > 0
    assert train_experiments([own], there, engine) == []
    assert here.add(own).rows() == there.add(own).rows()


def test_parts_that_cannot_travel_are_named_before_anything_starts(
    cluster: Any, registered: None, tmp_path: Path
) -> None:
    lock = threading.Lock()

    def locked(out: Any, answers: Any, count: Any) -> Any:
        with lock:
            return cross_entropy(out, answers, count)

    locked.version = 1  # type: ignore[attr-defined]
    LOSSES["locked"] = Loss(locked)
    experiment = Experiment.from_dict(OWN.as_dict() | {"loss": "locked"})
    with pytest.raises(ModgrokError, match=r"The loss locked cannot be sent .* Train on the engine local"):
        plan(Results([experiment], Store(tmp_path)), RayEngine())


def test_a_module_that_workers_do_not_have_is_named() -> None:
    with pytest.raises(ModgrokError, match=r"No module named 'mine_that_nobody_has'\. .* install it"):
        remote.unpack(b"cmine_that_nobody_has\nLoss\n.")


def test_a_start_that_ray_gives_up_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[Any] = []

    def init(*_: Any, **__: Any) -> None:
        if (outcome := outcomes.pop(0)) is not None:
            raise outcome

    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(engines.ray, "_private_folder", lambda: "")
    outcomes += [late := Exception("The current node timed out during startup."), late, None]
    engines.ray._start()
    outcomes += [late] * 3
    with pytest.raises(ModgrokError, match=r"could not start a cluster .* timed out"):
        engines.ray._start()
    assert outcomes == []


def test_the_cluster_listens_on_loopback_only(cluster: Any) -> None:
    assert {node["NodeManagerAddress"] for node in ray.nodes()} == {"127.0.0.1"}


def test_runs_with_parents_stay_at_home(cluster: Any, tmp_path: Path) -> None:
    child = Experiment.from_dict(BASE.as_dict() | {"parent": "0123456789ab@10"})
    with pytest.raises(ModgrokError, match="engine local only"):
        RayEngine().plan([child], Store(tmp_path))


PROGRAM = """
import os, signal, sys
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Observer, Store
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.engines import reaper
from modgrok.experiments.sweeps.engines.ray import RayEngine
from modgrok.experiments.sweeps.execution import plan
from modgrok.experiments.sweeps.table import Results


class Killer(Observer):
    acted = False

    def advanced(self, members, step, run_steps):
        if not self.acted:
            self.acted = True
            os.kill(os.getpid() if sys.argv[2] == "driver" else gcs(), signal.SIGKILL)


def gcs():
    for process in reaper.belonging(os.environ[reaper.SESSION]):
        if b"gcs_server" in open(f"/proc/{process}/cmdline", "rb").read():
            return process


base = Experiment("n + m", 11, width=16, fraction=0.7, lr=0.01, evaluations=10, snapshots=2, steps=3_000_000)
sweep, store, engine, killer = Sweep(base, ["seed=0:2"]), Store(sys.argv[1]), RayEngine(), Killer()
print(os.environ[reaper.SESSION], oct(os.stat(os.environ[reaper.SESSION]).st_mode & 0o777), flush=True)
results = Results(sweep.experiments, store)
try:
    plan(results, engine).train(killer)
except ModgrokError as error:
    print(error, flush=True)
"""


def test_a_cluster_of_its_own_ends_with_its_driver_and_leaves_nothing(tmp_path: Path) -> None:
    """Nor does one whose head is killed; both at once."""
    environment = os.environ | {"PYTHONPATH": str(Path(remote.__file__).parents[4])}
    started = {
        killed: subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / killed), killed],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for killed in ("head", "driver")
    }
    for killed, process in started.items():
        first, *said = process.communicate()[0].splitlines()
        folder, mode = first.split(" ")
        assert mode == "0o700"
        if killed == "head":
            assert "has died" in said[0]
        while Path(folder).exists() or reaper.belonging(folder):  # for as long as ending takes on this machine
            time.sleep(0.1)


def test_folders_of_killed_workers_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "YOUNG_SECONDS", 0.0)
    monkeypatch.setenv(reaper.SESSION, str(tmp_path))
    (tmp_path / f"{remote.PREFIX}dead").mkdir()
    (tmp_path / "another program's").mkdir()
    with remote.private_store(), remote.private_store():
        assert len(list(tmp_path.iterdir())) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["another program's"]
