"""Runs in one file that others can unpack: a ZIP archive of stored files and a manifest with the digest of each.

Nothing in it is compressed, so that what comes out is no larger than the archive, and only names that a store has are
written. Runs are checked in a folder of their own before they are moved into the store.
"""

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from modgrok.disk import Lock, move, translate_os_errors, write_bytes
from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import settings_hash
from modgrok.experiments.label import FILE as LABEL
from modgrok.experiments.named_task import TABLE
from modgrok.experiments.run import CURVES, STATE, Run
from modgrok.experiments.store import NETWORK, Store, check_intact
from modgrok.sealed import UNSEALED, check_seal, exists, parse_json, seal

FORMAT = 1
MANIFEST = "manifest.json"
LONGEST_TEXT = 100_000
"""Bytes of names and notes."""
_FILES = f"experiment.json {CURVES} network.safetensors {STATE} {LABEL} checkpoint.safetensors result.json"
_NAME = re.compile(
    f"[0-9a-f]{{12}}/(?:{'|'.join(map(re.escape, _FILES.split()))}|checkpoint[.]before[.]safetensors"
    r"|snapshots/[0-9]{8,19}[.]safetensors)|tables/[0-9a-f]{16}(?:-q[0-9]{1,9})?[.](?:npy|txt)"
    r"|networks/[0-9a-f]{16}[.]safetensors",
    re.ASCII,
)


def pack(runs: Sequence[Run], path: Path) -> None:
    """Writes runs, with the tables and starting weights they need, into a .zip file."""
    if path.suffix.lower() != ".zip":
        raise ModgrokError(f"Runs are packed into a .zip file, not into {path.name}.")
    if not runs:
        raise ModgrokError("Name the runs to pack by their ids; `modgrok runs list` shows them.")
    for run in runs:
        check_intact(run, snapshots=True)
    files = {name: file for run in runs for name, file in _files(run)}
    listed = {name: {"size": file.stat().st_size, "sha256": _digest(file.read_bytes())} for name, file in files.items()}
    about = {"digest": UNSEALED, "format": FORMAT, "runs": sorted({run.id for run in runs}), "files": listed}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with translate_os_errors(path):
        os.makedirs(path.parent, exist_ok=True)
        try:
            with zipfile.ZipFile(beside, "w") as archive:
                archive.writestr(zipfile.ZipInfo(MANIFEST), seal(json.dumps(about, indent=1).encode()))
                for name, file in files.items():
                    archive.writestr(zipfile.ZipInfo(name), file.read_bytes())
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


def unpack(path: Path, store: Store) -> tuple[list[Run], list[Run]]:
    """Adds the runs of an archive to a store; returns those that came, and those that were there before and stay."""
    with translate_os_errors(store.folder):
        os.makedirs(store.folder, exist_ok=True)
        staging = Store(tempfile.mkdtemp(prefix=".unpack-", dir=store.folder))
    try:
        for name, content in _contents(path):
            write_bytes(staging.folder / name, content)
        runs = list(staging)
        if not runs or list(staging.remains()):
            raise ModgrokError(f"{path} holds no whole run.")
        for run in runs:
            _check(run, staging)
        for file in [*staging.folder.glob("tables/*"), *staging.folder.glob("networks/*")]:
            if not exists(target := store.folder / file.relative_to(staging.folder)):
                move(file, target)
        moved = [(_move(run, store), store.run(run.id)) for run in runs]
        return [run for new, run in moved if new], [run for new, run in moved if not new]
    finally:
        shutil.rmtree(staging.folder, ignore_errors=True)


def _files(run: Run) -> Iterator[tuple[str, Path]]:
    """The files of a run and those it needs, by their names in a store; the result last."""
    store, experiment = Store(run.folder.parent), run.experiment
    if experiment.task.startswith(TABLE):
        table = store.tables / f"{experiment.task.removeprefix(TABLE)}.npy"
        yield from ((f"tables/{one.name}", one) for one in (table, table.with_suffix(".txt")) if one.exists())
    if experiment.parent.startswith(NETWORK):
        weights = store.network_file(experiment.parent)
        yield f"networks/{weights.name}", weights
    yield from ((f"{run.id}/{name}", file) for name, file in run.files.items())


def _contents(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files of an archive, each as its digest says; raises before anything else is read where the archive is not
    one that `pack` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            _check_members(path, archive.infolist())
            listed = _manifest(path, archive.read(MANIFEST))
            if listed.keys() != members.keys() - {MANIFEST}:
                raise ModgrokError(f"{path} does not hold the files that its manifest lists.")
            for name, about in listed.items():
                content = archive.read(name)
                if len(content) != about["size"] or _digest(content) != about["sha256"]:
                    raise ModgrokError(f"{path} was changed: the digest of {name} does not fit its content.")
                yield name, content
    except FileNotFoundError:
        raise ModgrokError(f"There is no file {str(path)!r}.") from None
    except (zipfile.BadZipFile, EOFError, KeyError, NotImplementedError, OSError, RuntimeError, ValueError) as error:
        raise ModgrokError(f"{path} is no archive of runs: {str(error).rstrip('.')}.") from error


def _check_members(path: Path, members: Sequence[zipfile.ZipInfo]) -> None:
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        raise ModgrokError(f"{path} holds a file twice, and no archive of runs does.")
    for member in members:
        kind = stat.S_IFMT(member.external_attr >> 16)
        if member.filename != MANIFEST and not _NAME.fullmatch(member.filename):
            raise ModgrokError(f"{path} holds {member.filename[:80]!r}, which is no file of a run.")
        if kind not in (0, stat.S_IFREG) or member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise ModgrokError(f"{path} holds {member.filename!r} as a link, compressed or encrypted; nothing is read.")
        if member.filename.endswith((LABEL, ".txt")) and member.file_size > LONGEST_TEXT:
            raise ModgrokError(
                f"{path} holds {member.filename!r} of {member.file_size:,} bytes, far longer than a name."
            )
    if sum(member.file_size for member in members) > path.stat().st_size:
        raise ModgrokError(f"{path} would unpack to more than it has bytes; nothing is read.")


def _manifest(path: Path, content: bytes) -> dict[str, Any]:
    check_seal(content, path)
    about = parse_json(content)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise ModgrokError(f"{path} has another format than {FORMAT}, which this version of modgrok reads.")
    listed = about["files"]
    if not isinstance(listed, dict) or not all(isinstance(one, dict) for one in listed.values()):
        raise ValueError("its manifest lists no files")
    return listed


def _check(run: Run, staging: Store) -> None:
    """Raises where a run is not whole, has not the settings that its id says, or lacks its table or its weights."""
    check_intact(run, snapshots=True)
    if settings_hash(run.settings["experiment"]) != run.id:
        raise ModgrokError(f"Run {run.id} has other settings than its id says.")
    _ = run.task, run.labels
    parent = run.experiment.parent
    if parent.startswith(NETWORK):
        file = staging.network_file(parent)
        if not exists(file) or _digest(file.read_bytes())[:16] != file.stem:
            raise ModgrokError(f"The weights that run {run.id} starts from are not in the archive as they were.")


def _move(run: Run, store: Store) -> bool:
    """Moves a run into the store, its result last; False where the store has it."""
    target = store.run(run.id)
    lock = Lock(target.folder)
    if not lock.acquire(wait=False):
        raise ModgrokError(f"Run {run.id} is being trained here right now{lock.holder}; wait for it.")
    with lock:
        if exists(target.folder / "experiment.json"):
            return False
        for name, file in run.files.items():
            move(file, target.folder / name)
        return True


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
