"""One run's folder: settings, environment, curves, snapshots, checkpoint, result.

experiment.json         settings and environment, written before the first step
curves.jsonl            one line for each evaluation, appended as the run goes
snapshots/00000100.safetensors   weights at that step
checkpoint.safetensors  all that is needed to go on, until the run ends
network.safetensors     the weights at the end
result.json             the outcome; its presence means that the run has ended
"""

import json
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment
from modgrok.experiments.files import explained, read_tensors, remove_unfinished, write_bytes, write_json, write_tensors
from modgrok.networks import Network, load_network
from modgrok.networks.storage import network_bytes
from modgrok.tasks import Task


class Damaged(ModgrokError):
    """A run's folder does not hold what modgrok wrote there."""


class Run:
    """A stored run, finished or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

    def __repr__(self) -> str:
        return f"Run({self.id}, {self.experiment.task!r} mod {self.experiment.modulus}, {self.status})"

    @property
    def settings(self) -> dict[str, Any]:
        """What `experiment.json` holds: `experiment` and `environment`."""
        return _read_json(self.folder / "experiment.json")

    @cached_property
    def experiment(self) -> Experiment:
        try:
            experiment = Experiment.from_dict(self.settings["experiment"])
        except (KeyError, TypeError, ModgrokError) as error:
            raise Damaged(f"{self.folder / 'experiment.json'} does not describe an experiment: {error}") from error
        if experiment.id != self.id:
            raise Damaged(f"The settings in {self.folder} are not those of run {self.id}.")
        return experiment

    @property
    def task(self) -> Task:
        return self.experiment.load_task(self.folder.parent / "tables")

    @property
    def result(self) -> dict[str, Any] | None:
        """The outcome, or None while the run has not ended."""
        path = self.folder / "result.json"
        return _read_json(path) if path.exists() else None

    @property
    def status(self) -> str:
        """`finished`, `diverged`, `collapsed`, or `unfinished`."""
        result = self.result
        return result["status"] if result else "unfinished"

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Every curve as an array over evaluations, `step` among them; NaN where a number does not exist."""
        rows = self.rows()
        names = rows[0].keys() if rows else ("step",)
        kinds = {name: np.int64 if name == "step" else np.float64 for name in names}
        values = {name: [np.nan if row[name] is None else row[name] for row in rows] for name in names}
        return {name: np.array(values[name], dtype=kinds[name]) for name in names}

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the curves; a last line that a crash cut short does not count."""
        path = self.folder / "curves.jsonl"
        if not path.exists():
            return []
        try:
            lines = path.read_text().splitlines(keepends=True)
            rows = [json.loads(line) for line in lines if line.endswith("\n")]
        except (OSError, ValueError) as error:
            raise Damaged(f"{path} cannot be read: {error}.") from error
        if not all(isinstance(row, dict) and isinstance(row.get("step"), int) for row in rows):
            raise Damaged(f"{path} has a line that is not a point of the curves.")
        return rows

    @property
    def network(self) -> Network:
        """The network at the end, or at the latest snapshot while the run goes on."""
        path = self.folder / "network.safetensors"
        if path.exists():
            return load_network(path)
        steps = self.snapshots
        if not steps:
            raise ModgrokError(f"Run {self.id} has kept no weights yet; let it go on for a while.")
        return self.snapshot(steps[-1])

    @property
    def snapshots(self) -> list[int]:
        """Steps whose weights are kept, ascending."""
        return sorted(int(path.stem) for path in (self.folder / "snapshots").glob("[0-9]*.safetensors"))

    def snapshot(self, step: int) -> Network:
        """The network at a kept step."""
        path = self.snapshot_path(step)
        if not path.exists():
            kept = ", ".join(map(str, self.snapshots)) or "none"
            raise ModgrokError(f"Run {self.id} has kept no weights of step {step}; it has those of {kept}.")
        return load_network(path)

    def snapshot_path(self, step: int) -> Path:
        return self.folder / "snapshots" / f"{step:08d}.safetensors"

    # What a trainer writes, holding the folder's lock.

    def begin(self, experiment: Experiment, environment: dict[str, Any]) -> None:
        """Writes the settings of a fresh run; the curves of one that was killed before its first checkpoint go."""
        remove_unfinished(self.folder)
        write_bytes(self.folder / "curves.jsonl", b"")
        write_json(self.folder / "experiment.json", {"experiment": experiment.as_dict(), "environment": environment})

    def append(self, rows: list[dict[str, Any]]) -> None:
        path = self.folder / "curves.jsonl"
        with explained(path), open(path, "a") as file:
            file.write("".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))

    def truncate(self, step: int) -> None:
        """Drops all curve points after a step: they are about to be made again."""
        remove_unfinished(self.folder)
        kept = [row for row in self.rows() if row["step"] <= step]
        write_bytes(self.folder / "curves.jsonl", "".join(json.dumps(row) + "\n" for row in kept).encode())

    def keep(self, step: int, network: Network) -> None:
        write_bytes(self.snapshot_path(step), network_bytes(network))

    def checkpoint(self, step: int, leaves: list[Any]) -> None:
        tensors = {str(number): leaf for number, leaf in enumerate(leaves)}
        write_tensors(self.folder / "checkpoint.safetensors", tensors, {"step": str(step)})

    def read_checkpoint(self) -> tuple[int, list[np.ndarray]] | None:
        """Step and state of the last checkpoint, or None where there is none."""
        from safetensors import SafetensorError

        path = self.folder / "checkpoint.safetensors"
        if not path.exists():
            return None
        try:
            tensors, metadata = read_tensors(path)
            return int(metadata["step"]), [tensors[str(number)] for number in range(len(tensors))]
        except FileNotFoundError:
            return None  # The run has ended since.
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise Damaged(f"{path} is not a checkpoint: {error}.") from error

    def finish(self, result: dict[str, Any], network: Network) -> None:
        """Writes the end of a run, the result last, since it is what says that the rest is there."""
        write_bytes(self.folder / "network.safetensors", network_bytes(network, self.experiment.as_dict()))
        write_json(self.folder / "result.json", result)
        (self.folder / "checkpoint.safetensors").unlink(missing_ok=True)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise Damaged(f"{path} is missing.") from error
    except (OSError, ValueError) as error:
        raise Damaged(f"{path} cannot be read: {error}.") from error
    if not isinstance(value, dict):
        raise Damaged(f"{path} does not hold a JSON object.")
    return value
