"""Hostile settings for every test: shapes in signatures are checked while it runs.

Programs are small and run for moments, so they are compiled without much optimization, once for all processes.
"""

import os
import tempfile
from collections.abc import Iterator

os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "true")
if "PYTEST_XDIST_WORKER" not in os.environ:
    compiled = tempfile.TemporaryDirectory()
    os.environ["MODGROK_CACHE"] = compiled.name

import pytest
from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("modgrok", "beartype.beartype")

settings.register_profile("modgrok", deadline=None, max_examples=30, derandomize=bool(os.environ.get("CI")))
settings.load_profile("modgrok")


@pytest.fixture(scope="module")
def optimized() -> Iterator[None]:
    """Programs of this process and of those it starts are compiled as users have them."""
    import jax

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "false")
        jax.config.update("jax_disable_most_optimizations", False)
        jax.clear_caches()
        yield
        jax.config.update("jax_disable_most_optimizations", True)
        jax.clear_caches()
