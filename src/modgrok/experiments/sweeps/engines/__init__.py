"""Where batches execute: this process's devices, or a Ray cluster. Nothing else differs."""

from typing import Literal, get_args

from modgrok.errors import ModgrokError
from modgrok.experiments.sweeps.engines.engine import Engine

__all__ = ["Engine", "EngineName", "check_engine", "engine_named"]

EngineName = Literal["local", "ray"]


def check_engine(name: str, address: str | None) -> None:
    """`ModgrokError` where there is no such engine, or it has no address."""
    if name not in get_args(EngineName):
        raise ModgrokError(f"engine must be {' or '.join(get_args(EngineName))}, not {name!r}.")
    if name == "local" and address is not None:
        raise ModgrokError("An address is that of a Ray cluster; add --engine ray.")


def engine_named(name: str, address: str | None = None) -> Engine:
    """The engine of that name: `local`, or `ray` on the cluster at `address`, or on one started here without it."""
    check_engine(name, address)
    if name == "local":
        from modgrok.experiments.sweeps.engines.local import LocalEngine

        return LocalEngine()
    from modgrok.experiments.sweeps.engines.ray import RayEngine

    return RayEngine(address)
