"""Networks as safetensors files, readable from PyTorch: tensors `w_in`, `w_out`, settings as JSON in the metadata."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from modgrok.errors import Damaged, ModgrokError
from modgrok.networks import activation, parametrization
from modgrok.networks.network import Network, Normalization, as_numpy
from modgrok.networks.tensors import read_tensors, tensor_bytes
from modgrok.sealed import parse_json

FORMAT = 2
"""Files of format 2 are sealed; those of format 1, which say no number, have no digest."""


class StoredNetwork(NamedTuple):
    """What a network's file holds."""

    network: Network
    settings: dict[str, Any]
    """What the writer wrote down beside the network, as JSON values."""


def save_network(network: Network, path: str | Path, settings: dict[str, Any] | None = None) -> None:
    """Writes a network; `settings` (any JSON values) go into the metadata beside the network's own."""
    try:
        Path(path).write_bytes(network_bytes(network, settings))
    except OSError as error:
        raise ModgrokError(f"The network could not be written to {path}: {error}.") from error


def load_network(path: str | Path) -> Network:
    """Reads a network that `save_network` wrote, on NumPy arrays."""
    return read_network(Path(path)).network


def network_bytes(network: Network, settings: dict[str, Any] | None = None, place: str = "") -> bytes:
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
    if place and (not file.sealed or file.metadata.get("place") != place):
        raise Damaged(f"{path} does not hold the weights of {place}.")
    try:
        own, settings = (parse_json(file.metadata.get(name, "{}")) for name in ("modgrok", "settings"))
        if "modgrok" not in file.metadata or not isinstance(own, dict) or not isinstance(settings, dict):
            raise ValueError("its metadata do not describe one")
        if own.pop("format", 1) != 1 and not file.sealed:
            raise ValueError("it has lost its digest")
        return StoredNetwork(_network(file.tensors, own), settings)
    except (ValueError, TypeError, KeyError, ModgrokError) as error:
        missing = f"it has no {error}" if isinstance(error, KeyError) else str(error).rstrip(".")
        raise Damaged(f"{path} is not a network that modgrok saved: {missing}.") from error


def _tensors(network: Network) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A network as named arrays and JSON values.

    Complex weights are stored as `w_in_real`, `w_in_imag` and so on, since not every reader knows complex tensors.
    """
    tensors: dict[str, np.ndarray] = {"w_in": network.w_in, "w_out": network.w_out}
    if network.dtype.kind == "c":
        tensors = {f"{name}_{part}": getattr(w, part) for name, w in tensors.items() for part in ("real", "imag")}
    if network.normalization is not None:
        tensors |= {"mean": network.normalization.mean, "std": network.normalization.std}
    return tensors, {"activation": network.activation, "parametrization": network.parametrization}


def _network(tensors: dict[str, np.ndarray], own: dict[str, Any]) -> Network:
    """What `_tensors` took apart; `ValueError` or `KeyError` where the parts do not make a network."""
    if "w_in" not in tensors:
        tensors = tensors | {name: tensors[f"{name}_real"] + 1j * tensors[f"{name}_imag"] for name in ("w_in", "w_out")}
    w_in, w_out = tensors["w_in"], tensors["w_out"]
    if w_in.ndim != 3 or 0 in w_in.shape or w_out.shape != (w_in.shape[2], w_in.shape[0]):
        raise ValueError(f"its weights are (N, S, p) and (p, N), and these have shapes {w_in.shape} and {w_out.shape}")
    if w_in.dtype.kind not in "fc" or w_in.dtype != w_out.dtype:
        raise ValueError(f"its weights are numbers of one precision, and these are {w_in.dtype} and {w_out.dtype}")
    if not isinstance(own["activation"], str) or not isinstance(own["parametrization"], str):
        raise ValueError("its activation and parametrization are names")
    activation.check(own["activation"])
    parametrization.scales(own["parametrization"], 1, 1)
    norm = None
    if "mean" in tensors:
        norm = Normalization(tensors["mean"], tensors["std"])
        if norm.mean.shape != w_in.shape[:1] or norm.std.shape != w_in.shape[:1]:
            raise ValueError("its batch statistics are one number for each neuron")
    return Network(w_in, w_out, own["activation"], own["parametrization"], norm)
