"""The store: finding and removing runs, and what happens to damaged ones."""

import errno
import json
import os
import shutil

import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments import Run, Store, batch_training, files
from modgrok.experiments.files import Lock
from modgrok.experiments.trainer import Interrupted, train_all


@pytest.fixture
def copied(trained, store):
    """A finished run in a store of its own."""
    store.folder.mkdir()
    shutil.copytree(trained.folder, store.folder / trained.id)
    return next(iter(store))


@pytest.fixture
def stopped(lab, store):
    """A run that was stopped after its eighth evaluation."""
    with pytest.raises(Interrupted):
        train_all([lab.small()], store, lab.Listener(stop_after=8))
    return next(iter(store))


def replace_by(content):
    return lambda path: path.write_bytes(content)


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_a_line(path):
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:2] + lines[3:]))


def another_seed(path):
    settings = json.loads(path.read_text())
    settings["experiment"]["seed"] = 99
    path.write_text(json.dumps(settings))


DAMAGE = {
    "no JSON": ("experiment.json", replace_by(b"{")),
    "not an object": ("experiment.json", replace_by(b"[]")),
    "not an experiment": ("experiment.json", replace_by(b'{"experiment": {"depth": 3}}')),
    "another experiment": ("experiment.json", another_seed),
    "missing": ("experiment.json", os.remove),
    "binary curves": ("curves.jsonl", replace_by(b"\xff\xfe\n")),
    "foreign curves": ("curves.jsonl", replace_by(b"5\n")),
    "curves with a gap": ("curves.jsonl", without_a_line),
    "no curves": ("curves.jsonl", os.remove),
}
OF_FINISHED = {
    "no result": ("result.json", replace_by(b"")),
    "foreign result": ("result.json", replace_by(b"{}")),
    "half a network": ("network.safetensors", cut_in_half),
    "no network": ("network.safetensors", os.remove),
}
OF_STOPPED = {
    "half a checkpoint": ("checkpoint.safetensors", cut_in_half),
    "empty checkpoint": ("checkpoint.safetensors", replace_by(b"")),
}


def assert_set_aside(lab, store, run, trained, name, damage):
    damage(run.folder / name)
    broken = {path.name for path in run.folder.iterdir()}
    listener = lab.Listener()
    (again,) = train_all([lab.small()], store, listener)
    lab.assert_same(again, trained)
    (remark,) = listener.remarks
    (aside,) = (store.folder / "damaged").iterdir()
    assert run.id in remark
    assert name in remark or "settings" in remark
    assert str(aside) in remark
    assert {path.name for path in aside.iterdir()} == broken
    assert [found.id for found in store] == [run.id]


@pytest.mark.parametrize(("name", "damage"), (DAMAGE | OF_FINISHED).values(), ids=DAMAGE | OF_FINISHED)
def test_a_damaged_finished_run_is_named_moved_aside_and_trained_again(lab, store, copied, trained, name, damage):
    assert_set_aside(lab, store, copied, trained, name, damage)


@pytest.mark.parametrize(("name", "damage"), (DAMAGE | OF_STOPPED).values(), ids=DAMAGE | OF_STOPPED)
def test_a_damaged_stopped_run_is_named_moved_aside_and_trained_again(lab, store, stopped, trained, name, damage):
    assert_set_aside(lab, store, stopped, trained, name, damage)


def test_what_a_kill_may_leave_is_not_damage(lab, store, stopped, trained):
    """A line that was cut short, points after the checkpoint, and files that were not yet moved to their place."""
    stopped.append([stopped.rows()[-1] | {"step": 59}])
    with open(stopped.folder / "curves.jsonl", "a") as file:
        file.write('{"step": 6')
    (stopped.folder / ".checkpoint.safetensors.1").write_bytes(b"half")
    listener = lab.Listener()
    (run,) = train_all([lab.small()], store, listener)
    lab.assert_same(run, trained)
    assert listener.remarks == []
    assert not list(run.folder.glob(".*"))


def test_a_run_killed_before_its_first_checkpoint_begins_again(lab, store, stopped, trained):
    (stopped.folder / "checkpoint.safetensors").unlink()
    (run,) = train_all([lab.small()], store)
    lab.assert_same(run, trained)


def test_a_run_that_was_killed_while_born_is_no_damage(lab, store, trained):
    folder = store.folder / trained.id
    folder.mkdir(parents=True)
    for name in ("lock", "curves.jsonl", ".experiment.json.1"):
        (folder / name).write_bytes(b"")
    listener = lab.Listener()
    (run,) = train_all([lab.small()], store, listener)
    lab.assert_same(run, trained)
    assert listener.remarks == []


@pytest.mark.parametrize("writer", ["replace", "append"])
def test_a_full_disk_is_a_sentence_and_the_checkpoint_stays_good(lab, store, trained, monkeypatch, writer):
    """The disk fills up once the second checkpoint is on it; afterwards the run goes on from there."""
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(batch_training, "CHECKPOINT_SHARE", 1e9)
    place, made = files.os.replace, []

    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def replace(beside, path):
        made.append(path.name)
        if made.count("checkpoint.safetensors") > 2 and writer == "replace" and beside.name.startswith("."):
            full()
        place(beside, path)

    write = Run.append

    def append(run, rows):
        if made.count("checkpoint.safetensors") == 2 and writer == "append":
            with open(run.folder / "curves.jsonl", "a") as file:
                file.write('{"ste')
            with files.translate_os_errors(run.folder / "curves.jsonl"):
                full()
        write(run, rows)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", replace)
        patch.setattr(Run, "append", append)
        intact = r"No space is left .* make room and run the same command again\. .* checkpoint, which is intact"
        with pytest.raises(ModgrokError, match=intact if writer == "replace" else "make room"):
            train_all([lab.small()], store)
    listener = lab.Listener()
    (run,) = train_all([lab.small()], store, listener)
    assert listener.batches[0].step > 0
    assert listener.remarks == []
    lab.assert_same(run, trained)


def test_runs_are_found_by_prefix_and_by_last(lab, store, copied):
    assert store.find(copied.id[:4]).id == store.find("last").id == copied.id
    for name in ("zzz", ""):
        with pytest.raises(ModgrokError, match=f"no run '{name}'"):
            store.find(name)
    twin = copied.id[:6] + "0" * 6
    shutil.copytree(copied.folder, store.folder / twin)
    with pytest.raises(ModgrokError, match=r"2 runs .* write more of the id"):
        store.find(copied.id[:6])


def test_an_empty_store_has_no_runs(store):
    assert list(store) == []
    with pytest.raises(ModgrokError, match="no run 'last'"):
        store.find("last")


def test_runs_are_removed_unless_they_are_being_trained(store, copied):
    lock = Lock(copied.folder)
    assert lock.acquire()
    with pytest.raises(ModgrokError, match="being trained right now"):
        store.remove(copied)
    lock.release()
    store.remove(copied)
    assert list(store) == []


def test_a_store_is_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModgrokError, match="is a file"):
        Store(tmp_path / "file")
    monkeypatch.setenv("MODGROK_STORE", str(tmp_path / "elsewhere"))
    assert Store().folder == tmp_path / "elsewhere"
