"""The store: finding and removing runs, and what happens to damaged ones."""

import errno
import json
import os
import shutil

import pytest

from modgrok import disk
from modgrok.disk import Lock
from modgrok.errors import Damaged, Interrupted, ModgrokError
from modgrok.experiments import Store, batch_training, run_writer
from modgrok.experiments.run_writer import RunWriter
from modgrok.experiments.store import check_intact
from modgrok.experiments.train import train_stored


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
        train_stored([lab.small()], store, lab.Listener(stop_after=8))
    return next(iter(store))


def replace_by(content):
    return lambda path: path.write_bytes(content)


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip_a_bit(path):
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 16
    path.write_bytes(content)


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
    "a flipped bit in the network": ("network.safetensors", flip_a_bit),
    "a flipped bit in a snapshot": ("snapshots/00000000.safetensors", flip_a_bit),
    "no last line": ("curves.jsonl", lambda path: path.write_bytes(path.read_bytes().rpartition(b"{")[0])),
}
OF_STOPPED = {
    "half a checkpoint": ("checkpoint.safetensors", cut_in_half),
    "empty checkpoint": ("checkpoint.safetensors", replace_by(b"")),
    "a flipped bit in the checkpoint": ("checkpoint.safetensors", flip_a_bit),
}
ALWAYS = {
    "a flipped bit in the settings": ("experiment.json", flip_a_bit),
    "a flipped bit in the curves": ("curves.jsonl", flip_a_bit),
    "a missing snapshot": ("snapshots/00000000.safetensors", os.remove),
}
DAMAGE |= ALWAYS


def assert_set_aside(lab, store, run, trained, name, damage):
    damage(run.folder / name)
    broken = {path.name for path in run.folder.iterdir()}
    listener = lab.Listener()
    (again,) = train_stored([lab.small()], store, listener)
    lab.assert_same(again, trained)
    (remark,) = listener.remarks
    (aside,) = (store.folder / "damaged").iterdir()
    assert run.id in remark
    assert name in remark or "settings" in remark or "curves.jsonl" in remark
    assert str(aside) in remark
    assert {path.name for path in aside.iterdir()} == broken
    assert [found.id for found in store] == [run.id]


@pytest.mark.parametrize(("name", "damage"), (DAMAGE | OF_FINISHED).values(), ids=DAMAGE | OF_FINISHED)
def test_a_damaged_finished_run_is_named_moved_aside_and_trained_again(lab, store, copied, trained, name, damage):
    assert_set_aside(lab, store, copied, trained, name, damage)


@pytest.mark.parametrize("kind", sorted((DAMAGE | OF_FINISHED).keys() - {"a flipped bit in a snapshot"}))
def test_digests_alone_show_the_damage(copied, kind):
    assert copied.intact_result() == copied.result
    name, damage = (DAMAGE | OF_FINISHED)[kind]
    damage(copied.folder / name)
    with pytest.raises(Damaged):
        copied.intact_result()


def test_a_network_of_another_run_shows(copied, lab, store):
    (other,) = train_stored([lab.small(seed=5)], store)
    shutil.copyfile(other.folder / "network.safetensors", copied.folder / "network.safetensors")
    with pytest.raises(Damaged, match="does not hold the weights of"):
        copied.intact_result()


@pytest.mark.parametrize(("name", "damage"), (DAMAGE | OF_STOPPED).values(), ids=DAMAGE | OF_STOPPED)
def test_a_damaged_stopped_run_is_named_moved_aside_and_trained_again(lab, store, stopped, trained, name, damage):
    # Slow machines make two checkpoints on the way, and would go on from the older one.
    (stopped.folder / "checkpoint.before.safetensors").unlink(missing_ok=True)
    assert_set_aside(lab, store, stopped, trained, name, damage)


def test_what_a_kill_may_leave_is_not_damage(lab, store, stopped, trained):
    """A line that was cut short, points after the checkpoint, and files that were not yet moved to their place."""
    RunWriter(stopped).append([stopped.rows()[-1] | {"step": 59}])
    with open(stopped.folder / "curves.jsonl", "a") as file:
        file.write('{"step": 6')
    (stopped.folder / ".checkpoint.safetensors.1").write_bytes(b"half")
    listener = lab.Listener()
    (run,) = train_stored([lab.small()], store, listener)
    lab.assert_same(run, trained)
    assert listener.remarks == []
    assert not list(run.folder.glob(".*"))


def test_a_run_killed_before_its_first_checkpoint_begins_again(lab, store, stopped, trained):
    (stopped.folder / "checkpoint.safetensors").unlink()
    (run,) = train_stored([lab.small()], store)
    lab.assert_same(run, trained)


def test_a_run_that_was_killed_while_born_is_no_damage(lab, store, trained):
    folder = store.folder / trained.id
    folder.mkdir(parents=True)
    for name in ("lock", ".experiment.json.1"):
        (folder / name).write_bytes(b"")
    listener = lab.Listener()
    (run,) = train_stored([lab.small()], store, listener)
    lab.assert_same(run, trained)
    assert listener.remarks == []


@pytest.mark.parametrize("writer", ["replace", "append"])
def test_a_full_disk_is_a_sentence_and_the_checkpoint_stays_good(lab, store, trained, monkeypatch, writer):
    """The disk fills up once the second checkpoint is on it; afterwards the run goes on from there."""
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "SHARE", 1e9)
    place, made = disk.os.replace, []

    def full():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def replace(beside, path):
        made.append(path.name)
        if made.count("checkpoint.safetensors") > 2 and writer == "replace" and beside.name.startswith("."):
            full()
        place(beside, path)

    write = RunWriter.append

    def append(written, rows):
        if made.count("checkpoint.safetensors") == 2 and writer == "append":
            with open(written.folder / "curves.jsonl", "a") as file:
                file.write('{"ste')
            with disk.translate_os_errors(written.folder / "curves.jsonl"):
                full()
        write(written, rows)

    with monkeypatch.context() as patch:
        patch.setattr(disk.os, "replace", replace)
        patch.setattr(RunWriter, "append", append)
        intact = r"No space is left .* make room and rerun the command\. .* checkpoint, which is intact"
        with pytest.raises(ModgrokError, match=intact if writer == "replace" else "make room"):
            train_stored([lab.small()], store)
    listener = lab.Listener()
    (run,) = train_stored([lab.small()], store, listener)
    assert listener.batches[0].step > 0
    assert listener.remarks == []
    lab.assert_same(run, trained)


def checkpoint_twice(lab, store, monkeypatch):
    """A run that was stopped with two checkpoints, and the steps of both."""
    monkeypatch.setattr(batch_training, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(run_writer, "SHARE", 1e9)
    with pytest.raises(Interrupted):
        train_stored([lab.small()], store, lab.Listener(stop_after=8))
    (run,) = store
    return run, [run.read_checkpoint_file(path)[0] for path in run.checkpoints]


def test_an_intact_older_checkpoint_is_used_where_the_latest_is_damaged(lab, store, trained, monkeypatch):
    run, (latest, before) = checkpoint_twice(lab, store, monkeypatch)
    assert before < latest == run.read_checkpoint()[0]
    flip_a_bit(run.checkpoints[0])
    damaged = run.checkpoints[0].read_bytes()
    assert run.read_checkpoint()[0] == before
    check_intact(run)
    listener = lab.Listener()
    (again,) = train_stored([lab.small()], store, listener)
    assert listener.batches[0].step == before
    (remark,) = listener.remarks
    assert "checkpoint.safetensors is not what was written" in remark
    (aside,) = (store.folder / "damaged").rglob("*.safetensors")
    assert str(aside) in remark
    assert aside.read_bytes() == damaged
    lab.assert_same(again, trained)


def test_a_run_without_an_intact_checkpoint_starts_afresh(lab, store, trained, monkeypatch):
    run, _ = checkpoint_twice(lab, store, monkeypatch)
    for path in run.checkpoints:
        flip_a_bit(path)
    with pytest.raises(Damaged, match=r"checkpoint\.safetensors"):
        run.read_checkpoint()
    (again,) = train_stored([lab.small()], store)
    lab.assert_same(again, trained)


def test_a_run_stopped_before_its_first_step_is_intact_also_when_it_begins_again(lab, store, trained, monkeypatch):
    with pytest.raises(Interrupted):
        train_stored([lab.small()], store, lab.Listener(stop_after=1))
    (run,) = store
    assert run.read_checkpoint()[0] == 0
    with monkeypatch.context() as patch:
        patch.setattr(batch_training.BatchTraining, "run", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            train_stored([lab.small()], store)
    check_intact(run)
    listener = lab.Listener()
    (again,) = train_stored([lab.small()], store, listener)
    assert listener.remarks == []
    lab.assert_same(again, trained)


def test_checkpoints_left_at_the_end_are_deleted(lab, store, copied):
    (copied.folder / "checkpoint.safetensors").write_bytes(b"left by a process that was killed here")
    listener = lab.Listener()
    train_stored([lab.small()], store, listener)
    assert copied.checkpoints == []
    assert copied.status == "finished"
    assert listener.remarks == []


def test_two_identical_runs_have_identical_files(lab, store, trained):
    """But for the time that they took, and the digest of the file that says so."""
    (again,) = train_stored([lab.small()], store)
    names = [path.relative_to(again.folder) for path in again.folder.rglob("*") if path.is_file()]
    assert {str(name) for name in names} >= {"experiment.json", "curves.jsonl", "network.safetensors", "result.json"}
    for name in names:
        one, other = (run.folder / name for run in (again, trained))
        if name.name == "result.json":
            one, other = (json.loads(path.read_text()) | {"seconds": 0, "digest": ""} for path in (one, other))
            assert one == other
        else:
            assert one.read_bytes() == other.read_bytes(), name


def test_a_link_to_a_run_is_read_and_not_removed(store, copied, tmp_path):
    copied.folder.rename(tmp_path / copied.id)
    copied.folder.symlink_to(tmp_path / copied.id)
    check_intact(store.find("last"))
    with pytest.raises(ModgrokError, match="is a link to"):
        store.remove(copied)
    assert copied.status == "finished"


@pytest.mark.parametrize("target", ["nowhere", "0123456789ab"], ids=["dangling", "loop"])
def test_links_that_lead_nowhere_are_sentences(store, copied, target):
    (store.folder / "0123456789ab").symlink_to(target)
    check_intact(store.find(copied.id))
    for run in (*store, *store.remains()):
        if run.id != copied.id:
            with pytest.raises(ModgrokError, match="symbolic links"):
                check_intact(run)


def test_runs_are_found_by_prefix_and_by_last(lab, store, copied):
    assert store.find(copied.id[:4]).id == store.find("last").id == copied.id
    for name in ("zzz", ""):
        with pytest.raises(ModgrokError, match=f"no run '{name}'"):
            store.find(name)
    twin = copied.id[:6] + "0" * 6
    shutil.copytree(copied.folder, store.folder / twin)
    with pytest.raises(ModgrokError, match=r"2 runs .* write one of these ids"):
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
