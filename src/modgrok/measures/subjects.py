"""What measures of waves are taken of: a two-layer network or a run with one, along a coordinate or that of a task."""

from typing import Any

from modgrok.errors import ModgrokError
from modgrok.networks import Network
from modgrok.networks.network import network_of
from modgrok.tasks import Basis, Task
from modgrok.text import abridged


def two_layer_network(subject: Any) -> Network:
    """The network of a subject; a sentence where it has no waves."""
    network = network_of(subject)
    if not network.architecture.has_waves:
        kind = network.architecture.name
        raise ModgrokError(f"Waves and phases need a two-layer network, not {kind}.")
    return network


def coordinate_of(given: Any) -> Basis | None:
    """A coordinate as it is, that of a task, or None for the raw index."""
    if given is None or isinstance(given, Basis):
        return given
    if isinstance(given, Task):
        return given.structure.coordinate
    raise ModgrokError(f"A coordinate must be a task or its task.structure.coordinate, not {abridged(given)}.")
