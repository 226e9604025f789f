"""One run's folder: settings, environment, curves, snapshots, checkpoints, result.

experiment.json         settings and environment, written before the first step
curves.jsonl            one line for each evaluation, appended as the run goes
snapshots/00000100.safetensors   weights at that step
checkpoint.safetensors  all that is needed to go on, until the run ends; checkpoint.before.safetensors is the one before
network.safetensors     the weights at the end
state.safetensors       all that is needed to go on after the end, where snapshots are kept
result.json             the outcome; its presence means that the run has ended
label.json              name, tags and note that a person gave it

Every file is verified when it is used: all but the curves are sealed with a digest (`modgrok.sealed`), each line of the
curves has a checksum. Checkpoints and results say how far the curves had come and which snapshots there were. Files are
written in an order in which every beginning of the sequence of writes is a valid run.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.card import card, curves_picture
from modgrok.errors import Damaged, ModgrokError, Unknown
from modgrok.experiments.columns import Frame
from modgrok.experiments.curves import Curves, Mark
from modgrok.experiments.experiment import Experiment, describe_task
from modgrok.experiments.label import Label, read_label, write_label
from modgrok.experiments.named_task import require_known, task_name
from modgrok.experiments.result import Result
from modgrok.experiments.stored_json import build, read_sealed_json, write_sealed_json
from modgrok.networks import Network
from modgrok.networks.storage import check_place, read_network
from modgrok.networks.tensors import read_tensors
from modgrok.sealed import exists, parse_json
from modgrok.tasks import Task
from modgrok.text import count, percent, steps_between

CURVES, STATE = "curves.jsonl", "state.safetensors"
FORMAT = 2
"""Of a run's folder."""


@dataclass(frozen=True)
class Settings:
    """What `experiment.json` holds."""

    experiment: dict[str, Any]
    environment: dict[str, str | int | float | None]
    run: str
    format: int


@dataclass(frozen=True)
class Manifest:
    """What a checkpoint or a result says of the other files: they held as much when it was written."""

    curves: Mark
    snapshots: tuple[int, ...]


class History(Frame):
    """The curves of a run as arrays over its evaluations."""

    words = ("history", "curve")


class Run:
    """A stored run, finished or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.id = folder.name

    def __repr__(self) -> str:
        return f"Run({self.id}, {self.title}, {self.experiment.network}, {self.status})"

    def _repr_html_(self) -> str:
        """For notebooks: what it is, and how it ended."""
        e = self.experiment
        rows: dict[str, Any] = {"task": self.title, "network": e.network, "optimizer": e.optimizer, "seed": e.seed}
        rows |= {"status": self.status}
        if (result := self.result) is not None:
            rows["steps"] = count(result.steps)
            rows["accuracy"] = f"train {percent(result.train_accuracy)}, test {percent(result.test_accuracy)}"
            rows["memorized at step"] = steps_between(result.memorized_after, result.memorized_at)
            rows["grokked at step"] = steps_between(result.grokked_after, result.grokked_at)
        history = self.history
        known = len(history["step"]) > 1
        picture = curves_picture(history["train_accuracy"], history["test_accuracy"]) if known else ""
        return card(f"Run {self.id}", rows, picture)

    @property
    def settings(self) -> dict[str, Any]:
        """What `experiment.json` holds: `experiment` and `environment`."""
        found = read_settings(self.folder)
        return {"experiment": found.experiment, "environment": found.environment}

    @cached_property
    def experiment(self) -> Experiment:
        settings = self.settings["experiment"]
        try:
            require_known(settings.get("task"))
            return Experiment.from_dict(settings)
        except Unknown as error:
            raise Unknown(
                f"The {error.what} of run {self.id} is not known here; import what registers it, and read the run from "
                f"Python."
            ) from error
        except (TypeError, ValueError, OverflowError, ModgrokError) as error:
            path = self.folder / "experiment.json"
            raise Damaged(f"{path} does not describe an experiment: {str(error).rstrip('.')}.") from error

    @property
    def task_name(self) -> str:
        """The task's text, or the given name of its table."""
        return task_name(self.experiment.task, self.folder.parent / "tables")

    @property
    def title(self) -> str:
        """What is learned, such as `n+m mod 97`."""
        return describe_task(self.experiment, self.task_name)

    @property
    def task(self) -> Task:
        return self.experiment.load_task(self.folder.parent / "tables")

    @property
    def result(self) -> Result | None:
        """The outcome, or None while the run has not ended."""
        return self._result_and_manifest()[0]

    def _result_and_manifest(self) -> tuple[Result | None, Manifest | None]:
        path = self.folder / "result.json"
        if not exists(path):
            return None, None
        content = read_sealed_json(path)
        kept = _manifest(content.pop("kept", None), path)
        result = Result.from_dict(content, path)
        if result.run != self.id:
            raise Damaged(f"{path} is not the result of run {self.id}.")
        return result, kept

    @property
    def status(self) -> str:
        """`finished`, `diverged`, `collapsed`, or `unfinished`."""
        result = self.result
        return result.status if result else "unfinished"

    @property
    def memorized_at(self) -> int | None:
        """The step by which the training accuracy reached the threshold; None if it has not, or is not known yet."""
        return self.result.memorized_at if self.result else None

    @property
    def grokked_at(self) -> int | None:
        """The same for the test accuracy."""
        return self.result.grokked_at if self.result else None

    def label(self, name: str | None = None, tags: str | Iterable[str] | None = None, note: str | None = None) -> "Run":
        """Gives the run a name (which `modgrok.load` finds), tags or a note, and returns the run. What you leave out
        stays unchanged."""
        write_label(self.folder, name, tags, note)
        return self

    @property
    def labels(self) -> Label:
        """Its name, tags and note."""
        return read_label(self.folder)

    def plot(self, measure: str = "accuracy", **options: Any) -> Any:
        """Draws a measure over the steps; options are those of `modgrok.plot.curves`."""
        import modgrok  # The picture is drawn a layer above.

        return modgrok.plot.curves(self, measure, **options)

    @property
    def history(self) -> History:
        """Every curve as an array over evaluations, including `step`; NaN where a value does not exist."""
        rows = self.rows()
        names = rows[0].keys() if rows else ("step",)
        kinds = {name: np.int64 if name == "step" else np.float64 for name in names}
        values = {name: [np.nan if row[name] is None else row[name] for row in rows] for name in names}
        return History({name: np.array(values[name], dtype=kinds[name]) for name in names})

    def rows(self) -> list[dict[str, Any]]:
        """The lines of the curves; a last line that a crash cut short does not count."""
        result, kept = self._result_and_manifest()  # Before the curves, which go on until there is a result.
        rows = self._curves.lines().rows
        if result is not None:
            self._check_curves(kept)
            if not rows or rows[-1]["step"] != result.steps:
                raise Damaged(f"{self._curves.path} does not end at step {result.steps}, where the run did.")
        return [dict(row) for row in rows]

    @cached_property
    def _curves(self) -> Curves:
        return Curves(self.folder / CURVES, self.id)

    @property
    def network(self) -> Network:
        """The network at the end, or at the latest snapshot while the run goes on."""
        result, steps = self.result, self.snapshots
        if result is not None:
            return read_network(self._last_weights, self.place(result.steps)).network
        if not steps:
            raise ModgrokError(f"Run {self.id} has kept no weights yet; let it go on for a while.")
        return self.snapshot(steps[-1])

    @property
    def snapshots(self) -> list[int]:
        """Steps with stored weights, ascending."""
        stems = [path.stem for path in (self.folder / "snapshots").glob("[0-9]*.safetensors")]
        return sorted(int(stem) for stem in stems if stem.isdecimal() and len(stem) < 20)

    def snapshot(self, step: int) -> Network:
        """The network at a step with stored weights."""
        path = self.snapshot_path(step) if isinstance(step, int | np.integer) else None
        if path is None or not exists(path):
            kept = ", ".join(map(str, self.snapshots)) or "none"
            raise ModgrokError(f"Run {self.id} has kept no weights of step {step}; it has those of {kept}.")
        return read_network(path, self.place(step)).network

    @property
    def _last_weights(self) -> Path:
        return self.folder / "network.safetensors"

    def snapshot_path(self, step: int) -> Path:
        return self.folder / "snapshots" / f"{step:08d}.safetensors"

    def place(self, step: int) -> str:
        """Whose weights a file holds, as the file says itself."""
        return f"{self.id}@{step}"

    @property
    def checkpoints(self) -> list[Path]:
        """The files of checkpoints, the latest first."""
        paths = (self.folder / "checkpoint.safetensors", self.folder / "checkpoint.before.safetensors")
        return [path for path in paths if exists(path)]

    def read_checkpoint(self) -> tuple[int, dict[str, np.ndarray], Manifest] | None:
        """Step, state and what else there was of the latest checkpoint that is intact, None where there is none;
        `Damaged` where there are checkpoints and none of them is."""
        first: Damaged | None = None
        for path in self.checkpoints:
            try:
                return self.read_checkpoint_file(path)
            except Damaged as damage:
                if exists(path):  # If not, the run has gone on or ended since.
                    first = first or damage
        if first is not None:
            raise first
        return None

    def read_checkpoint_file(self, path: Path) -> tuple[int, dict[str, np.ndarray], Manifest]:
        """Step, state and what else there was; `Damaged` where the file is not what was written."""
        step, tensors, about = self._read_sealed(path, "a checkpoint")
        return step, tensors, _manifest(about.get("kept"), path)

    def _read_sealed(self, path: Path, what: str) -> tuple[int, dict[str, np.ndarray], dict[str, Any]]:
        """Step, tensors, and all that the file says of itself."""
        file = read_tensors(path)
        try:
            about = parse_json(file.metadata["modgrok"])
            if not file.sealed or about["run"] != self.id:
                raise ValueError("it is another run's, or has lost its digest")
            return int(about["step"]), file.tensors, about
        except (ValueError, TypeError, KeyError) as error:
            raise Damaged(f"{path} is not {what} of run {self.id}: {error}.") from error

    @property
    def files(self) -> dict[str, Path]:
        """All its files by their names in its folder; the result comes last, since it says that the rest is there."""
        found = [path for path in sorted(self.folder.rglob("[!.]*")) if path.is_file() and path.name != "lock"]
        found.sort(key=lambda path: path.name == "result.json")
        return {path.relative_to(self.folder).as_posix(): path for path in found}

    @property
    def keeps_state(self) -> bool:
        """Whether the state in which it ended is kept, so that more steps can go on from it."""
        return exists(self.folder / STATE)

    def read_state(self) -> tuple[int, dict[str, np.ndarray]]:
        """The last step and the state after it."""
        return self._read_sealed(self.folder / STATE, "the last state")[:2]

    def check(self, snapshots: bool = False) -> None:
        """Raises `Damaged` where the folder does not hold a run: settings, curves and snapshots as far as the result or
        the latest intact checkpoint says, the network of a run that has ended; with `snapshots` their content too."""
        _ = self.experiment
        result, kept = self._result_and_manifest()
        if result is not None:
            _ = self.rows(), self.network
        else:
            checkpoint = self.read_checkpoint()
            kept = checkpoint[2] if checkpoint else None
            self._check_curves(kept)
        self._check_snapshots(kept)
        if snapshots:
            for step in self.snapshots:
                self.snapshot(step)

    def intact_result(self) -> Result | None:
        """The outcome, once settings, curves and network have turned out to be what was written with it, by their
        digests alone: a thousand runs in a second. `check` also reads what the files hold."""
        result, kept = self._result_and_manifest()
        if result is None or kept is None:
            return None
        _ = self.settings
        if self._curves.end() != kept.curves:
            raise self._other_curves(kept)
        check_place(self._last_weights, self.place(result.steps))
        self._check_snapshots(kept)
        return result

    def _check_snapshots(self, kept: Manifest | None) -> None:
        missing = set(kept.snapshots) - set(self.snapshots) if kept and kept.snapshots else ()
        if missing:
            raise Damaged(f"{self.snapshot_path(min(missing))} is missing.")

    def _other_curves(self, kept: Manifest) -> Damaged:
        return Damaged(f"{self._curves.path} does not have the {kept.curves.rows} points that it had before.")

    def _check_curves(self, kept: Manifest | None) -> None:
        """Whether the curves go on from where a checkpoint or a result saw them; those of a result end there."""
        lines = self._curves.lines()
        if kept is not None:
            rows = kept.curves.rows
            if not 0 <= rows <= len(lines.rows) or lines.mark(rows) != kept.curves:
                raise self._other_curves(kept)


def _manifest(content: Any, path: Path) -> Manifest:
    if not isinstance(content, dict) or not isinstance(content.get("curves"), dict):
        raise Damaged(f"{path} does not list the other files.")
    steps = content.get("snapshots")
    if not isinstance(steps, list) or not all(type(step) is int for step in steps):
        raise Damaged(f"{path} does not list the snapshots.")
    return Manifest(build(Mark, content["curves"], path), tuple(steps))


def write_settings(folder: Path, experiment: dict[str, Any], environment: dict[str, Any]) -> None:
    """Makes a folder one of a run, named by its id."""
    about = {"format": FORMAT, "run": folder.name}
    write_sealed_json(folder / "experiment.json", about | {"experiment": experiment, "environment": environment})


def read_settings(folder: Path) -> Settings:
    """What `write_settings` wrote; `Damaged` if it belongs to another folder."""
    path = folder / "experiment.json"
    found = build(Settings, read_sealed_json(path), path)
    if found.format != FORMAT:
        raise ModgrokError(f"{path} has format {found.format}; this version of modgrok reads format {FORMAT}.")
    if found.run != folder.name:
        raise Damaged(f"The settings in {folder} are not those of run {folder.name}.")
    return found
