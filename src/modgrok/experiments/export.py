"""Curves of stored runs for other programs: CSV, Parquet, TensorBoard, Weights & Biases, MLflow."""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from modgrok.disk import translate_os_errors, write_bytes
from modgrok.errors import ModgrokError, import_extra
from modgrok.experiments.columns import Frame, to_parquet
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.run import Run
from modgrok.sealed import exists


def long_columns(runs: Sequence[Run]) -> Frame:
    """One row for each evaluation of each run: the run's id, its settings as far as any of the runs differs from the
    defaults in them, then its curves; None where a number does not exist."""
    settings = [run.experiment.as_dict() | {"task": run.task_name, "record": None} for run in runs]
    usual = {name: (None, one.default) for name, one in known_settings().items()}
    shown = [name for name in usual if any(one.get(name) not in usual[name] for one in settings)]
    rows = [
        {"run": run.id} | {name: own.get(name) for name in shown} | row
        for run, own in zip(runs, settings, strict=True)
        for row in run.rows()
    ]
    names = dict.fromkeys(name for row in rows for name in row) or ("run", "step")
    return Frame({name: [row.get(name) for row in rows] for name in names})


def curves_csv(runs: Sequence[Run]) -> str:
    """All curves as text, an empty field where a number does not exist."""
    return long_columns(runs).to_csv()


def write_csv(runs: Sequence[Run], path: Path) -> None:
    """`curves_csv` into a file."""
    write_bytes(path, curves_csv(runs).encode())


def write_parquet(runs: Sequence[Run], path: Path) -> None:
    """All curves as one table, whose metadata holds the settings of every run under `modgrok`."""
    settings = json.dumps({run.id: run.experiment.as_dict() for run in runs})
    write_bytes(path, to_parquet(long_columns(runs), {"modgrok": settings}))


def write_tensorboard(runs: Sequence[Run], folder: Path) -> None:
    """One folder for each run, with its curves as scalars and its settings as text."""
    tensorboard = import_extra("tensorboardX", "TensorBoard files need tensorboardX", "export")
    for run in runs:
        place = folder / run.id
        if exists(place):
            raise ModgrokError(f"{place} exists, and TensorBoard would show both; name another folder.")
        with translate_os_errors(place), tensorboard.SummaryWriter(str(place)) as writer:
            writer.add_text("settings", f"```json\n{json.dumps(run.experiment.as_dict(), indent=1)}\n```", 0)
            for row in run.rows():
                for name, value in _numbers(row).items():
                    writer.add_scalar(name, value, row["step"])


def write_wandb(runs: Sequence[Run], folder: Path) -> None:
    """One run of the project `modgrok` for each, in a folder that `wandb sync` sends; nothing is sent from here unless
    `WANDB_MODE` says so."""
    wandb = import_extra("wandb", "Weights & Biases needs an extra", "wandb")
    mode = os.environ.get("WANDB_MODE", "offline")
    with translate_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    where = {"dir": str(folder), "mode": mode, "settings": {"silent": mode == "offline"}}
    for run in runs:
        about = {"project": "modgrok", "id": run.id, "name": run.title, "config": run.experiment.as_dict()}
        with _refusals("Weights & Biases"), wandb.init(**where, reinit="finish_previous", **about) as written:
            for row in run.rows():
                written.log(_numbers(row), step=row["step"])


def write_mlflow(runs: Sequence[Run], folder: Path) -> None:
    """One run of the experiment `modgrok` for each, in a folder's `mlflow.db`, the database that
    `mlflow ui --backend-store-uri sqlite:///…/mlflow.db` shows."""
    mlflow = import_extra("mlflow", "MLflow needs an extra", "mlflow")
    with translate_os_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    place = folder.resolve()
    with _refusals("MLflow"):
        mlflow.set_tracking_uri(f"sqlite:///{place / 'mlflow.db'}")
        if mlflow.get_experiment_by_name("modgrok") is None:
            mlflow.create_experiment("modgrok", artifact_location=(place / "artifacts").as_uri())
        mlflow.set_experiment("modgrok")
        for run in runs:
            settings = {name: value for name, value in run.experiment.as_dict().items() if value is not None}
            with mlflow.start_run(run_name=run.id):
                mlflow.log_params(settings)
                for row in run.rows():
                    mlflow.log_metrics(_numbers(row), step=row["step"])


@contextlib.contextmanager
def _refusals(program: str) -> Iterator[None]:
    """What another program says when it does not take the curves, as a sentence."""
    try:
        yield
    except Exception as error:
        raise ModgrokError(f"{program} did not take the curves: {str(error).rstrip('.')}.") from error


def _numbers(row: dict[str, Any]) -> dict[str, float]:
    """What was measured at a step."""
    return {name: value for name, value in row.items() if name != "step" and value is not None}


WRITERS = {
    "csv": write_csv,
    "parquet": write_parquet,
    "tensorboard": write_tensorboard,
    "wandb": write_wandb,
    "mlflow": write_mlflow,
}
