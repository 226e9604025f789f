"""Networks as safetensors files, readable from PyTorch: tensors `w_in`, `w_out`, settings as JSON in the metadata."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.network import Network, Normalization, as_numpy


def save_network(network: Network, path: str | Path, settings: dict[str, Any] | None = None) -> None:
    """Writes a network; `settings` (any JSON values) go into the metadata beside the network's own."""
    try:
        Path(path).write_bytes(network_bytes(network, settings))
    except OSError as error:
        raise ModgrokError(f"The network could not be written to {path}: {error}.") from error


def network_bytes(network: Network, settings: dict[str, Any] | None = None) -> bytes:
    """The content of a network's file.

    Complex weights are stored as `w_in_real`, `w_in_imag` and so on, since not every reader knows complex tensors.
    """
    from safetensors.numpy import save

    network = as_numpy(network)
    tensors: dict[str, np.ndarray] = {"w_in": network.w_in, "w_out": network.w_out}
    if network.dtype.kind == "c":
        tensors = {f"{name}_{part}": getattr(w, part) for name, w in tensors.items() for part in ("real", "imag")}
    if network.normalization is not None:
        tensors |= {"mean": network.normalization.mean, "std": network.normalization.std}
    own = {"activation": network.activation, "parametrization": network.parametrization}
    metadata = {"modgrok": json.dumps(own, sort_keys=True), "settings": json.dumps(settings or {}, sort_keys=True)}
    return save({name: np.ascontiguousarray(t) for name, t in tensors.items()}, metadata=metadata)


def load_network(path: str | Path) -> Network:
    """Reads a network that `save_network` wrote, on NumPy arrays."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="numpy") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        own = json.loads(metadata["modgrok"])
        if "w_in" not in tensors:
            tensors |= {name: tensors[f"{name}_real"] + 1j * tensors[f"{name}_imag"] for name in ("w_in", "w_out")}
        norm = Normalization(tensors["mean"], tensors["std"]) if "mean" in tensors else None
        return Network(tensors["w_in"], tensors["w_out"], own["activation"], own["parametrization"], norm)
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModgrokError(f"{path} is not a network that modgrok saved: {error}.") from error
