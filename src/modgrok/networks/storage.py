"""Networks as safetensors files, readable from PyTorch: named tensors, architecture and settings as JSON beside them."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.architecture import architecture_named
from modgrok.networks.network import Network, as_numpy
from modgrok.networks.two_layer import Normalization, two_layer
from modgrok.tasks import Signature


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

    tensors = as_numpy(network).tensors
    if network.dtype.kind == "c":
        tensors = {f"{name}_{part}": getattr(w, part) for name, w in tensors.items() for part in ("real", "imag")}
    own = {
        "network": network.architecture.name,
        "signature": dataclasses.asdict(network.signature),
        **network.architecture.settings(),
    }
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
        halves = [name.removesuffix("_real") for name in tensors if name.endswith("_real")]
        tensors |= {name: tensors.pop(f"{name}_real") + 1j * tensors.pop(f"{name}_imag") for name in halves}
        if "network" not in own:
            norm = Normalization(tensors["mean"], tensors["std"]) if "mean" in tensors else None
            return two_layer(tensors["w_in"], tensors["w_out"], own["activation"], own["parametrization"], norm)
        signature = own.pop("signature")
        signature = Signature(**signature | {"sizes": tuple(signature["sizes"])})
        architecture = architecture_named(own.pop("network"))(**own)
        return Network(architecture, signature, architecture.from_tensors(tensors))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ModgrokError(f"{path} is not a network that modgrok saved: {error}.") from error
