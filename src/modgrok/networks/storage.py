"""Networks as safetensors files, readable from PyTorch: named tensors, architecture and settings as JSON with them."""

import dataclasses
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modgrok.errors import Damaged, ModgrokError, Unknown
from modgrok.networks.architecture import Architecture, Parameters, architecture_named
from modgrok.networks.network import Network, as_numpy
from modgrok.networks.tensors import read_metadata, read_tensors, tensor_bytes
from modgrok.sealed import parse_json
from modgrok.setting import require_settings, settings_of
from modgrok.tasks import Signature

FORMAT = 2
"""Of a file that modgrok wrote, which is sealed."""


class StoredNetwork(NamedTuple):
    """What a network's file holds."""

    network: Network
    settings: dict[str, Any]
    """What the writer wrote down beside the network, as JSON values."""


def network_bytes(network: Network, settings: dict[str, Any] | None = None, place: str = "") -> bytearray:
    """The content of a network's file; `place` says whose weights they are, where a run keeps them."""
    tensors, own = _tensors(as_numpy(network))
    metadata = {
        "modgrok": json.dumps({"format": FORMAT} | own, sort_keys=True),
        "settings": json.dumps(settings or {}, sort_keys=True),
    }
    return tensor_bytes(tensors, metadata | ({"place": place} if place else {}))


def read_network(path: Path, place: str = "") -> StoredNetwork:
    """A network and what was written down beside it; with a place only a sealed file that was written for it."""
    file = read_tensors(path)
    if place:
        _check_place(file.metadata if file.sealed else {}, path, place)
    try:
        own, settings = (parse_json(file.metadata.get(name, "{}")) for name in ("modgrok", "settings"))
        if "modgrok" not in file.metadata or not isinstance(own, dict) or not isinstance(settings, dict):
            raise ValueError("its metadata do not describe one")
        if not file.sealed:
            raise ValueError("it has lost its digest")
        if own.pop("format") != FORMAT:
            raise ValueError(f"this version of modgrok reads format {FORMAT}")
        return StoredNetwork(_network(file.tensors, own), settings)
    except Unknown as error:
        raise Unknown(f"The {error.what} of {path} is not known here; import what registers it first.") from error
    except (ValueError, TypeError, KeyError, ModgrokError) as error:
        missing = f"it has no {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise Damaged(f"{path} is not a network that modgrok saved: {missing}.") from error


def check_place(path: Path, place: str) -> None:
    """Raises `Damaged` where a file is not, byte for byte, what was written for that place; no weights are read."""
    _check_place(read_metadata(path), path, place)


def _check_place(metadata: dict[str, str], path: Path, place: str) -> None:
    if metadata.get("place") != place:
        raise Damaged(f"{path} does not hold the weights of {place}.")


def _tensors(network: Network) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A network as named arrays and JSON values.

    Complex weights are stored as `w_in_real`, `w_in_imag` and so on, since not every reader knows complex tensors.
    """
    tensors, architecture = network.tensors, network.architecture
    if getattr(architecture, "patched", False):
        raise ModgrokError("A patched network cannot be saved or trained; use the network without patches.")
    if network.dtype.kind == "c":
        tensors = {f"{name}_{part}": getattr(w, part) for name, w in tensors.items() for part in ("real", "imag")}
    signature = dataclasses.asdict(network.signature)
    return tensors, {"network": architecture.name, "signature": signature} | architecture.settings()


def _network(tensors: dict[str, np.ndarray], own: dict[str, Any]) -> Network:
    """What `_tensors` took apart; `ValueError` or `KeyError` where the parts do not make a network."""
    halves = [name.removesuffix("_real") for name in tensors if name.endswith("_real")]
    tensors = {name: t for name, t in tensors.items() if not name.endswith(("_real", "_imag"))} | {
        name: tensors[f"{name}_real"] + 1j * tensors[f"{name}_imag"] for name in halves
    }
    described = own.pop("signature")
    sizes = described["sizes"]
    if not isinstance(sizes, list) or not all(type(size) is int and size > 0 for size in sizes):
        raise ValueError("the sizes of its inputs are not whole numbers")
    signature = Signature(**described | {"sizes": tuple(sizes)})
    kind = architecture_named(own.pop("network"))
    declared = settings_of(kind)
    require_settings(f"The network {kind.name}", own, declared)
    architecture = kind(**{name: declared[name].checked(value) for name, value in own.items()})
    architecture.check(signature)
    return checked_network(architecture, signature, tensors)


def checked_network(architecture: Architecture, signature: Signature, tensors: Parameters) -> Network:
    """The network of these stored arrays; `ValueError` or `KeyError` where they are not those of its architecture."""
    network = Network(architecture, signature, architecture.from_tensors(tensors))
    expected = architecture.shapes(signature)
    for name, shape in expected.items():
        if name not in network.parameters:
            raise ValueError(f"it has no tensor {name}")
        found = network.parameters[name]
        if found.shape != shape:
            raise ValueError(f"its {name} should have the shape {shape}, and has {found.shape}")
    kinds = {value.dtype for value in network.parameters.values()}
    if len(kinds) > 1 or next(iter(kinds)).kind not in "fc":
        raise ValueError(f"its weights are numbers of one precision, and these are {', '.join(map(str, kinds))}")
    others = [value.shape for name, value in network.parameters.items() if name not in expected]
    if others and others != [(architecture.settings().get("width"),)] * 2:
        raise ValueError("its batch statistics are one number for each neuron")
    return network
