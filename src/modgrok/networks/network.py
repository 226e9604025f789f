"""A network: an architecture with parameters, trained, written down or brought along; a pytree to JAX."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from modgrok.arrays import when_jax_is_imported
from modgrok.card import card
from modgrok.disk import write_bytes
from modgrok.errors import Absent, ModgrokError
from modgrok.networks.architecture import Architecture, Parameters
from modgrok.networks.taps import listening, replaced
from modgrok.shapes import Inexact, Integer, Shaped
from modgrok.tasks import Signature
from modgrok.text import abridged


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A function with weights, of any architecture, as arrays of NumPy (closed forms, measures) or JAX (training)."""

    architecture: Architecture
    signature: Signature
    parameters: Parameters

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.architecture.settings().items())
        inputs = "×".join(map(str, self.signature.sizes)) or f"ℝ^{self.signature.dimension}"
        return f"Network({self.architecture.name}: {inputs} → {self.signature.outputs}, {settings}, {self.dtype})"

    def _repr_html_(self) -> str:
        """For notebooks: what it computes from what, and the arrays it is made of."""
        inputs = "×".join(map(str, self.signature.sizes)) or f"ℝ^{self.signature.dimension}"
        shapes = {name: f"{'×'.join(map(str, array.shape))} {array.dtype}" for name, array in self.tensors.items()}
        known = {name: value for name, value in self.architecture.settings().items() if value is not None}
        rows = {"inputs": inputs, "outputs": self.signature.outputs} | known | shapes
        return card(f"{self.architecture.name} network", rows)

    def __call__(self, inputs: Any) -> Any:
        """The output of every answer for each row of inputs, such as [[1, 2], [3, 4]]; one input gives one row."""
        rows = as_rows(inputs, self.signature)
        out = outputs(self, rows)
        return out[0] if np.ndim(inputs) == 1 else out

    def save(self, path: str | Path, settings: dict[str, Any] | None = None) -> None:
        """Writes a .safetensors file, which `modgrok.load` and PyTorch read, with `settings` (JSON) in its metadata."""
        from modgrok.networks.storage import network_bytes

        if Path(path).suffix.lower() != ".safetensors":
            raise ModgrokError(f"A network is saved as a .safetensors file, which PyTorch reads too, not as {path}.")
        write_bytes(Path(path), network_bytes(self, settings))

    @property
    def tensors(self) -> Parameters:
        """The arrays as they are stored, by name."""
        return self.architecture.tensors(self.parameters)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(next(iter(self.parameters.values())).dtype)

    @property
    def arity(self) -> int:
        """S, the number of variables."""
        return len(self.signature.sizes)

    @property
    def modulus(self) -> int:
        """p, how many values a variable has."""
        return max(self.signature.sizes)

    @classmethod
    def from_matrices(
        cls,
        w_in: Any,
        w_out: Any,
        variables: int | None = None,
        activation: str = "quadratic",
        parametrization: str | None = None,
    ) -> "Network":
        """A two-layer network from two weight matrices of NumPy, JAX or PyTorch.

        `w_in` is (N, S·p) as PyTorch's `Linear` has it, (S·p, N), or (N, S, p); `w_out` is (q, N) or (N, q). Left open,
        the number of variables S follows from p = q, and the parametrization (`standard`, or `mean-field` with the
        paper's prefactors) from how large the outputs are.
        """
        from modgrok.networks.foreign import from_matrices

        return from_matrices(w_in, w_out, variables, activation, parametrization)

    def activations(self, inputs: Any) -> dict[str, Any]:
        """The inner values of a forward pass by name, one row for each input: whatever the architecture names, such as
        `embedding`, `blocks.0.pattern`, `blocks.0.residual` and `blocks.0.hidden` of a transformer."""
        found: dict[str, Any] = {}

        def hear(name: str, value: Any) -> Any:
            found[name] = value
            return value

        with listening(hear):
            self(inputs)
        if not found:
            raise ModgrokError(
                f"The `apply` of {self.architecture.name} names no inner values; it does with modgrok.networks.tap."
            )
        return found

    def with_patch(self, patches: Any = None, **more: Any) -> "Network":
        """The same network with inner values replaced wherever it is evaluated: by a function of the value, or by
        numbers that fit its shape.

            net.with_patch(hidden=0)
            net.with_patch({"blocks.0.pattern": lambda pattern: pattern.mean(axis=0, keepdims=True)})
        """
        if patches is not None and not isinstance(patches, Mapping):
            raise ModgrokError(f"Patches map names of inner values to what replaces them, unlike {abridged(patches)}.")
        chosen, kind = {**(patches or {}), **more}, type(self.architecture)
        sizes, dimension = self.signature.sizes, self.signature.dimension
        known = self.activations(np.zeros((1, len(sizes)), np.int32) if sizes else np.zeros((1, dimension)))
        if unknown := [name for name in chosen if name not in known]:
            raise ModgrokError(f"This network has no inner value {unknown[0]!r}; it has {', '.join(known)}.")

        def apply(architecture: Any, *given: Any, **named: Any) -> Any:
            with listening(partial(replaced, chosen)):
                return kind.apply(architecture, *given, **named)

        patched: Any = type(kind.__name__, (kind,), {"apply": apply, "patched": True})
        return dataclasses.replace(self, architecture=patched(**self.architecture.settings()))

    def replace(self, **tensors: Any) -> "Network":
        """The same network with some of its stored arrays replaced."""
        return dataclasses.replace(self, parameters=self.architecture.from_tensors(self.tensors | tensors))

    def __getattr__(self, name: str) -> Any:
        """Stored arrays and the architecture's settings by name: `network.w_in`, `network.width`."""
        if name.startswith("__") or name in ("architecture", "signature", "parameters"):
            raise AttributeError(name)
        tensors, settings = self.tensors, self.architecture.settings()
        for known in (settings, tensors, self.architecture.facts(self.parameters, self.signature)):
            if name in known:
                return known[name]
        raise Absent(
            f"A {self.architecture.name} network has no {name}; it has {', '.join(tensors)} and the settings "
            f"{', '.join(settings)}."
        )


def network_of(subject: Any) -> Network:
    """A network itself, or that of a run."""
    found = subject if isinstance(subject, Network) else getattr(subject, "network", None)
    if not isinstance(found, Network):
        raise ModgrokError(f"Expected a network or a run, not {abridged(subject)}.")
    return found


def as_rows(inputs: Any, signature: Signature) -> Any:
    """Inputs as an array of rows that a network of this signature takes; one input is one row."""
    length = len(signature.sizes) or signature.dimension
    try:
        rows = inputs if hasattr(inputs, "dtype") else np.asarray(inputs)
        rows = rows[None, :] if rows.ndim == 1 else rows
        fits = (
            rows.ndim == 2
            and len(rows) > 0
            and rows.shape[1] == length
            and rows.dtype.kind in ("iu" if signature.sizes else "iuf")
        )
    except (TypeError, ValueError):
        fits = False
    if not fits:
        kind = "whole numbers" if signature.sizes else "numbers"
        raise ModgrokError(f"A network takes rows of {length} {kind} each, not {abridged(inputs)}.")
    if signature.sizes and isinstance(rows, np.ndarray) and ((rows < 0) | (rows >= np.array(signature.sizes))).any():
        sizes = " and ".join(f"0 to {size - 1}" for size in dict.fromkeys(signature.sizes))
        raise ModgrokError(f"This network's inputs are {sizes}; {abridged(inputs)} has others.")
    return rows


def outputs(network: Network, inputs: Shaped[Any, "input width"]) -> Inexact[Any, "input q"]:
    r"""The output of every answer for every input, $h^{(2)}_q(n, m)$ in the paper's network."""
    out = network.architecture.apply(network.parameters, inputs, network.signature)
    return out[:, : network.signature.outputs]


def as_numpy(network: Network, dtype: Any = None) -> Network:
    """The same network on NumPy arrays, in another precision if asked."""
    converted = {name: np.asarray(value, dtype=dtype) for name, value in network.parameters.items()}
    return dataclasses.replace(network, parameters=converted)


def grid(sizes: tuple[int, ...], start: int = 0, stop: int | None = None) -> Integer[np.ndarray, "input S"]:
    """Inputs number `start` to `stop` of all there are, in the order of a raveled table."""
    index = np.arange(start, int(np.prod(sizes)) if stop is None else stop)
    return np.stack(np.unravel_index(index, sizes), axis=1)


def _register() -> None:
    import jax

    jax.tree_util.register_dataclass(Network, ["parameters"], ["architecture", "signature"])


when_jax_is_imported(_register)
