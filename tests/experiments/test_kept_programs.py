"""Programs kept whole: a second start traces nothing, and finds the same bits; what is kept is used where it fits."""

import os
import pathlib
import subprocess
import sys

import jax
import pytest

from modgrok import signals
from modgrok.experiments import Store
from modgrok.experiments.trainer import Interrupted, train_stored
from modgrok.training import batch, compilation_cache, kept_programs
from modgrok.training.compilation_cache import enable_cache

PROGRAM = "import sys; sys.argv[0] = 'modgrok'; from modgrok.cli import main; main()"
WORDS = ["train", "n + m", "--modulus", "11", "--width", "32", "--steps", "5", "--lr", "0.2"]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the program `modgrok`, which this process is now."""
    before = jax.config.jax_compilation_cache_dir
    monkeypatch.setenv("MODGROK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(signals.Process, "is_program", True)
    forget()
    yield tmp_path / "cache"
    forget()
    jax.config.update("jax_compilation_cache_dir", before)


def forget():
    """What a process has in memory."""
    jax.config.update("jax_compilation_cache_dir", None)
    compilation_cache.compilation_cache.reset_cache()
    for function in (enable_cache, batch.compiled, batch.starts_of_one_run, kept_programs._surroundings):
        function.cache_clear()
    jax.clear_caches()


@pytest.fixture
def start(lab, tmp_path, monkeypatch):
    """Trains in a fresh store, with nothing in memory; the run, and what was traced for it."""

    def start(**changes):
        traced = []

        def noting(function):
            def noted(*arguments):
                traced.append(function.__name__)
                return function(*arguments)

            noted.__name__ = function.__name__
            return noted

        forget()
        with monkeypatch.context() as patch:
            for function in (batch.start_randomly, batch.advance):
                patch.setattr(batch, function.__name__, noting(function))
            (run,) = train_stored([lab.small(**changes)], Store(tmp_path / f"runs{len(list(tmp_path.iterdir()))}"))
        return run, set(traced)

    return start


def kept(cache):
    return sorted(cache.rglob("*.program"))


def test_a_second_start_traces_nothing_and_finds_the_same_bits(cache, start, lab, trained):
    first, traced = start()
    again, traced_again = start()
    assert (traced, traced_again) == ({"start_randomly", "advance"}, set())
    lab.assert_same(first, trained)
    lab.assert_same(again, trained)


def test_programs_of_double_precision_are_kept(cache, start, lab):
    first, again = start(precision="float64"), start(precision="float64")
    assert again[1] == set()
    lab.assert_same(first[0], again[0])


def test_other_shapes_and_features_are_other_programs(cache, start):
    start()
    known = kept(cache)
    assert start(width=33)[1] == start(record=("last_layer",))[1] == start(warmup=2)[1] == {"start_randomly", "advance"}
    assert len(kept(cache)) == 4 * len(known)
    assert start(lr=0.1, seed=3)[1] == set()


def test_a_run_goes_on_with_a_kept_program(cache, start, lab, store, trained):
    start()
    forget()
    with pytest.raises(Interrupted):
        train_stored([lab.small()], store, lab.Listener(stop_after=3))
    (run,) = train_stored([lab.small()], store)
    lab.assert_same(run, trained)


@pytest.mark.parametrize("content", [b"", b"nonsense", None])
def test_a_damaged_program_is_compiled_again(content, cache, start, lab, trained):
    start()
    for path in kept(cache):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if content is None else content)
    run, traced = start()
    assert traced == {"start_randomly", "advance"}
    lab.assert_same(run, trained)
    assert start()[1] == set()


@pytest.mark.parametrize("name", ["JAX_DEFAULT_MATMUL_PRECISION", "XLA_FLAGS"])
def test_what_the_environment_tells_jax_is_part_of_the_name(name, cache, start, monkeypatch):
    start()
    monkeypatch.setenv(name, "")
    assert start()[1] == {"start_randomly", "advance"}


def test_changed_sources_are_compiled_anew(cache, start, monkeypatch, tmp_path):
    start()
    (tmp_path / "modgrok").mkdir()
    (tmp_path / "modgrok" / "__init__.py").touch()
    monkeypatch.setattr(kept_programs.modgrok, "__file__", str(tmp_path / "modgrok" / "__init__.py"))
    assert start()[1] == {"start_randomly", "advance"}


def test_a_users_own_program_keeps_nothing(cache, start, monkeypatch):
    monkeypatch.setattr(signals.Process, "is_program", False)
    start()
    assert kept(cache) == []


def test_a_program_that_cannot_be_kept_trains_all_the_same(cache, start, lab, trained, monkeypatch):
    def full(path, content):
        raise OSError("No space left on device")

    monkeypatch.setattr(pathlib.Path, "write_bytes", full)
    lab.assert_same(start()[0], trained)
    assert kept(cache) == []


def test_the_program_itself_finds_what_another_process_kept(tmp_path):
    environment = os.environ | {"MODGROK_CACHE": str(tmp_path / "cache")}
    written = []
    for number in range(2):
        words = [*WORDS, "--store", str(tmp_path / str(number)), "--json"]
        subprocess.run([sys.executable, "-c", PROGRAM, *words], env=environment, capture_output=True, check=True)
        written.append([(path.name, path.stat().st_mtime_ns) for path in kept(tmp_path / "cache")])
    assert len(written[0]) == 2
    assert written[0] == written[1]
