"""Runs of format 1, which have no digests and were named by another hash: every reading command opens them."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import save_file

from modgrok import cli
from modgrok.experiments import Run, Store
from modgrok.networks.tensors import read_tensors


def without_digests(path: Path) -> None:
    """The file as format 1 had it."""
    if path.suffix == ".safetensors":
        tensors, metadata, _ = read_tensors(path)
        own = json.loads(metadata["modgrok"])
        del own["format"]
        settings = metadata.get("settings", "{}")
        save_file(tensors, path, metadata={"modgrok": json.dumps(own, sort_keys=True), "settings": settings})
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({k: row[k] for k in row if k != "crc"}) + "\n" for row in rows))
    elif path.suffix == ".json":
        content = json.loads(path.read_text())
        new = ("digest", "format", "kept") if path.name == "result.json" else ("digest", "format", "run")
        path.write_text(json.dumps({k: v for k, v in content.items() if k not in new}))


@pytest.fixture
def older(grokked: Path, tmp_path: Path) -> Run:
    """A run of format 1 that has ended, alone in its store."""
    (run,) = Store(shutil.copytree(grokked, tmp_path / "store"))
    settings = json.dumps({"format": 1} | run.experiment.as_dict(), sort_keys=True, separators=(",", ":"))
    name = hashlib.sha256(settings.encode()).hexdigest()[:12]
    for path in run.folder.rglob("*.*"):
        without_digests(path)
    result = run.folder / "result.json"
    result.write_text(json.dumps(json.loads(result.read_text()) | {"run": name}))
    run.folder.rename(run.folder.with_name(name))
    return Run(run.folder.with_name(name))


@pytest.mark.parametrize("ended", [True, False])
def test_reading_commands_open_it(
    older: Run, grokked: Path, run_json: Any, capsys: pytest.CaptureFixture[str], ended: bool
) -> None:
    if not ended:
        (older.folder / "result.json").unlink()
        (older.folder / "checkpoint.safetensors").write_bytes(b"of format 1")
    store = str(older.folder.parent)
    (row,) = run_json("runs", "list", "--store", store)["runs"]
    assert row["status"] == ("finished" if ended else "unfinished")
    assert run_json("runs", "show", older.id, "--store", store)["experiment"]["modulus"] == 23
    newer = run_json("inspect", "last", "--store", str(grokked))
    assert run_json("inspect", older.id, "--store", store)["accuracy"] == newer["accuracy"]
    cli.main(["runs", "export", "--store", store])
    exported = capsys.readouterr().out.splitlines()
    assert len(exported) == len(older.rows()) + 1 > 10


def test_it_is_checked_as_far_as_it_can_be(older: Run, capsys: pytest.CaptureFixture[str]) -> None:
    settings = json.loads((older.folder / "experiment.json").read_text())
    settings["experiment"]["seed"] = 5
    (older.folder / "experiment.json").write_text(json.dumps(settings))
    with pytest.raises(SystemExit):
        cli.main(["runs", "show", older.id, "--store", str(older.folder.parent)])
    assert "not those of run" in capsys.readouterr().err
