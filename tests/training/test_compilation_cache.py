"""Compiled programs kept on disk: where, for whom, how much, and that a second start finds them."""

import os
import subprocess
import sys

import jax
import pytest

from modgrok.training import compilation_cache
from modgrok.training.compilation_cache import OwnFiles, enable_cache, machine, shrink, user_folder

SCRIPT = """
import jax
from modgrok.training import compilation_cache
compilation_cache.WORTH_SECONDS = 0.0
seen = []
jax.monitoring.register_event_listener(lambda event, **_: seen.append(event))
print(compilation_cache.enable_cache())
found = jax.jit(lambda x: x @ x)(jax.numpy.ones((4, 4)))
print(found.tobytes().hex())
print("hit" if "/jax/compilation_cache/cache_hits" in seen else "missed")
"""


@pytest.fixture(autouse=True)
def _fresh():
    before = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_compilation_cache_dir", None)
    enable_cache.cache_clear()
    yield
    enable_cache.cache_clear()
    jax.config.update("jax_compilation_cache_dir", None)  # The next training asks for it again.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", before)
    compilation_cache.compilation_cache.reset_cache()


def started(folder):
    environment = os.environ | {"MODGROK_CACHE": str(folder)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_second_start_compiles_nothing(tmp_path):
    folder, found, first = started(tmp_path)
    assert folder.startswith(str(tmp_path))
    assert first == "missed"
    assert started(tmp_path) == [folder, found, "hit"]


def truncate(path):
    path.write_bytes(path.read_bytes()[:-1])


def swap(path):
    path.write_bytes(path.with_name("other-own").read_bytes())


def replace_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replace_by_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


@pytest.mark.parametrize(
    "harm", [truncate, swap, replace_by_pipe, replace_by_link, lambda path: path.chmod(0o622), os.unlink]
)
def test_only_what_was_stored_is_read(tmp_path, harm):
    files = OwnFiles(tmp_path)
    files.put("one", b"program")
    files.put("other", b"another program")
    assert files.get("one") == b"program"
    harm(tmp_path / "one-own")
    assert files.get("one") is None
    files.put("one", b"program")
    assert files.get("one") == b"program"
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("*-own")} == {0o600}


def test_files_of_others_are_not_read(tmp_path, monkeypatch):
    files = OwnFiles(tmp_path)
    files.put("one", b"program")
    monkeypatch.setattr(os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    assert files.get("one") is None


def test_a_program_that_was_planted_is_compiled_anew(tmp_path):
    folder, found, _ = started(tmp_path)
    for kept in tmp_path.glob("*/*-own"):
        kept.write_bytes(b"planted" + kept.read_bytes())
    assert started(tmp_path) == [folder, found, "missed"]
    assert started(tmp_path) == [folder, found, "hit"]


@pytest.mark.parametrize("word", ["off", "OFF", "0", "no"])
def test_it_can_be_turned_off(word, monkeypatch):
    monkeypatch.setenv("MODGROK_CACHE", word)
    assert enable_cache() is None
    assert jax.config.jax_compilation_cache_dir is None


def test_a_folder_that_was_chosen_already_is_kept(tmp_path, monkeypatch):
    monkeypatch.delenv("MODGROK_CACHE", raising=False)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    assert enable_cache() is None
    assert jax.config.jax_compilation_cache_dir == str(tmp_path)
    jax.config.update("jax_compilation_cache_dir", None)


def test_a_folder_that_cannot_be_written_is_remarked_on(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").touch()
    monkeypatch.setenv("MODGROK_CACHE", str(tmp_path / "file"))
    assert enable_cache() is None
    assert "MODGROK_CACHE" in caplog.text


def test_every_processor_has_its_own_folder(monkeypatch):
    here = machine()
    assert here == machine()
    monkeypatch.setattr(compilation_cache, "processor_features", lambda: {"sse2"})
    assert machine() != here


def test_the_user_folder_follows_the_conventions(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_folder() == tmp_path
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_folder() == tmp_path / ".cache"


def test_what_was_not_used_for_longest_is_removed(tmp_path):
    for age, name in enumerate(("newest", "middle", "oldest")):
        path = tmp_path / name / "program"
        path.parent.mkdir()
        path.write_bytes(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - age))
    shrink(tmp_path, 250)
    assert {path.parent.name for path in tmp_path.rglob("program")} == {"newest", "middle"}
