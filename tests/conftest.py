"""Hostile settings for every test: where signatures have shapes, they are checked while it runs.

Programs are small and run for moments, so they are compiled without much optimization, once for all processes; without
XLA's emitters of fused kernels that takes half the time, and a tenth less where nobody notes which line asked for what.
Each of them runs in one thread: more would wait for each other.
"""

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")
os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Workers share the cores; more threads would wait for each other.
if "PYTEST_XDIST_WORKER" not in os.environ:
    compiled = tempfile.TemporaryDirectory()
    os.environ["MODGROK_CACHE"] = compiled.name
# Another version than the one that all tests run with may end at a flag it does not know.
if f"jaxlib=={version('jaxlib')}\n" in Path(__file__).parents[1].joinpath("constraints.txt").read_text():
    flags = "use_fusion_emitters multi_thread_eigen enable_concurrency_optimized_scheduler"
    few = ["--xla_cpu_parallel_codegen_split_count=1", *(f"--xla_cpu_{flag}=false" for flag in flags.split())]
    os.environ.setdefault("XLA_FLAGS", " ".join(few))

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

# What starts in the background ignores Ctrl-C, under nohup also a hang-up; so would the commands that tests signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_DFL)

source = Path(__file__).parents[1] / "src"
shaped = [path.relative_to(source) for path in source.rglob("*.py") if "from modgrok.shapes import" in path.read_text()]
install_import_hook([".".join(path.with_suffix("").parts) for path in shaped], "beartype.beartype")

settings.register_profile("search", deadline=None, max_examples=300)
settings.register_profile("same", deadline=None, max_examples=30, derandomize=True, database=None)
settings.load_profile("same")


STARTED = {"chromium": "browser", "cluster": "ray", "site": "site", "environment": "wheel"}
"""Fixtures that take long to start, and the group of tests that share one of them."""
LONG = """
attacks commands/test_analyze commands/test_film commands/test_surroundings commands/test_sweep commands/test_train
docs/test_extending docs/test_pages examples experiments/sweeps/engines experiments/sweeps/test_critical
experiments/sweeps/test_execution experiments/test_overview experiments/test_processes experiments/test_same_bits
experiments/test_settings experiments/test_train experiments/test_user_code lab/test_visitors
networks/test_architecture reproduce/gromov2023/test_figures reproduce/gromov2023/test_scaling_claims reproduce/test_
test_public training
"""
"""Tests that train for more than a moment or start other programs, by the beginnings of their paths."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what was started, and all others of one file, run in one worker; those that take long begin."""
    long = tuple(f"tests/{beginning}" for beginning in LONG.split())
    groups = list(STARTED.values())
    rank = {}
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        shared = [group for name, group in STARTED.items() if name in fixtures]
        item.add_marker(pytest.mark.xdist_group(shared[0] if shared else item.nodeid.partition("::")[0]))
        takes_long = bool(shared) or "lab_process" in fixtures or item.nodeid.startswith(long)
        if takes_long:
            item.add_marker(pytest.mark.long)
        rank[item] = (not takes_long, groups.index(shared[0]) if shared else len(groups))
    items.sort(key=lambda item: rank[item])


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end; the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def optimized() -> Iterator[None]:
    """Programs of this process and of those it starts are optimized, as users have them."""
    import jax

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "false")
        jax.config.update("jax_disable_most_optimizations", False)
        jax.clear_caches()
        yield
        jax.config.update("jax_disable_most_optimizations", True)
        jax.clear_caches()
