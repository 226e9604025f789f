"""Hostile settings for every test: shapes in signatures are checked while it runs."""

import os

os.environ.setdefault("JAX_NUMPY_RANK_PROMOTION", "raise")
os.environ.setdefault("JAX_NUMPY_DTYPE_PROMOTION", "strict")
os.environ["MODGROK_CACHE"] = "off"

from hypothesis import settings
from jaxtyping import install_import_hook

install_import_hook("modgrok", "beartype.beartype")

settings.register_profile("modgrok", deadline=None, max_examples=30, derandomize=bool(os.environ.get("CI")))
settings.load_profile("modgrok")
