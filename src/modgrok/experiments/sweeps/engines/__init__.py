"""Where batches execute: this process's devices, or a Ray cluster. Nothing else differs."""

from modgrok.errors import ModgrokError
from modgrok.experiments.sweeps.engines.engine import Engine

__all__ = ["Engine", "engine_named"]


def engine_named(name: str, address: str | None = None) -> Engine:
    """The engine of that name: `local`, or `ray` on the cluster at `address`, or on one started here without it."""
    if name == "local":
        from modgrok.experiments.sweeps.engines.local import LocalEngine

        if address is not None:
            raise ModgrokError("An address is that of a Ray cluster; add --engine ray.")
        return LocalEngine()
    if name == "ray":
        from modgrok.experiments.sweeps.engines.ray import RayEngine

        return RayEngine(address)
    raise ModgrokError(f"The engine is local or ray, not {name!r}.")
