"""Terminals that know no Greek, full disks, folders that may not be read or written: one sentence and exit code 2."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.experiments import Store

NOBODY = 65534
PROGRAM = "from modgrok.cli import main; main()"


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(Path("src").resolve())} | options.pop("env", {})
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, stderr=subprocess.PIPE, text=True, env=environment, **options)


@pytest.fixture
def run_as_nobody(capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command as a user without rights, in this process, which has imported what may be out of reach then."""

    def run_as_nobody(*words: str) -> subprocess.CompletedProcess[str]:
        root, code = os.geteuid() == 0, 0
        if root:
            os.seteuid(NOBODY)
        try:
            cli.main(words)
        except SystemExit as ended:
            code = ended.code  # type: ignore[assignment]
        finally:
            if root:
                os.seteuid(0)
        said = capsys.readouterr()
        return subprocess.CompletedProcess(words, code, said.out, said.err)

    return run_as_nobody


@pytest.fixture
def store(grokked: Path, tmp_path: Path) -> Path:
    copy = Path(shutil.copytree(grokked, tmp_path / "store"))
    for folder in (copy, tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    return copy


def assert_one_sentence(ended: subprocess.CompletedProcess[str], words: str) -> None:
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("modgrok: ")
    assert words in ended.stderr


def test_a_terminal_without_greek(store: Path) -> None:
    for words in (["runs", "list"], ["runs", "show", "last"], ["analyze", "last"]):
        ended = run(*words, "--store", str(store), env={"PYTHONIOENCODING": "ascii"}, stdout=subprocess.PIPE)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.isascii()
        if words == ["runs", "list"]:
            head, row, *_ = ended.stdout.splitlines()
            assert head.index("alpha") + len("alpha") == row.index("0.8 ") + len("0.8")
            assert len(head) == len(row)


def test_a_pipe_obeys_columns(store: Path) -> None:
    wide, narrow = (
        run("runs", "list", "--store", str(store), env={"COLUMNS": columns}, stdout=subprocess.PIPE).stdout
        for columns in ("", "60")
    )
    assert "seed" in wide
    assert "seed" not in narrow
    assert "grokked at" in narrow
    assert max(map(len, narrow.splitlines())) <= 60


def test_no_color_is_no_escape_at_all(store: Path) -> None:
    for environment, plain in (({"NO_COLOR": "1"}, True), ({"NO_COLOR": ""}, False)):
        forced = environment | {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
        ended = run("runs", "show", "--store", str(store), env=forced, stdout=subprocess.PIPE)
        assert ("\x1b" not in ended.stdout) == plain


@pytest.mark.parametrize("words", [["runs", "list"], ["runs", "export"], ["runs", "show", "last", "--json"]], ids=str)
def test_a_full_disk_behind_stdout(store: Path, words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        assert_one_sentence(run(*words, "--store", str(store), stdout=full), "No space left on device")


@pytest.mark.parametrize("words", [["runs", "list"], ["runs", "show", "last", "--json"]], ids=str)
def test_nobody_reads_on(store: Path, words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    ended = run(*words, "--store", str(store), stdout=write)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (128 + signal.SIGPIPE, "")


def test_a_full_disk_behind_out(store: Path) -> None:
    ended = run("runs", "export", "--out", "/dev/full", "--store", str(store), stdout=subprocess.PIPE)
    assert_one_sentence(ended, "No space is left to write /dev/full")


@pytest.mark.parametrize("name", ["experiment.json", "curves.jsonl", "result.json", "network.safetensors"])
def test_files_that_may_not_be_read(store: Path, run_as_nobody: Any, name: str) -> None:
    (found,) = Store(store)
    (found.folder / name).chmod(0)
    ended = run_as_nobody("runs", "list", "--store", str(store))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"{found.id} is unreadable: " in ended.stdout
    for words in (["runs", "show", "last"], ["runs", "export"], ["analyze", "last"]):
        assert_one_sentence(run_as_nobody(*words, "--store", str(store)), "Permission denied")


@pytest.mark.parametrize("mode", [0o000, 0o444, 0o555], ids=oct)
def test_stores_that_may_not_be_used(
    store: Path, addition: tuple[str, ...], run_as_nobody: Any, run_json: Any, mode: int
) -> None:
    (found,) = Store(store)
    assert run_json("train", *addition, "--store", str(store))["run"] == found.id
    for folder in (found.folder, store):
        folder.chmod(mode)
    try:
        for words in (["train", *addition, "--seed", "5"], ["runs", "remove", found.id, "--yes"]):
            assert_one_sentence(run_as_nobody(*words, "--store", str(store)), "Permission denied")
        ended = run_as_nobody("runs", "list", "--store", str(store))
        assert ended.returncode == (0 if mode == 0o555 else 2) or "unreadable" in ended.stdout
    finally:
        for folder in (store, found.folder):
            folder.chmod(0o755)
