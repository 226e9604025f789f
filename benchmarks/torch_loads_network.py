"""Networks saved by `modgrok solve`, loaded and evaluated in plain PyTorch: are the outputs the same?

PyTorch is no dependency of modgrok, so this script runs in an environment of its own, which needs no modgrok:

    python -m venv .venv-torch
    .venv-torch/bin/pip install torch==2.13.0 numpy safetensors
    .venv-torch/bin/python benchmarks/torch_loads_network.py

It calls `modgrok` in the project's environment (`.venv/bin`, or the folder given as an argument).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open

CASES = (
    ("n + m", 97, ("--form", "exact")),
    ("n + m", 97, ("--form", "exact", "--frequencies", "1")),
    ("n + m", 97, ("--form", "waves", "--parametrization", "standard")),
    ("n + m", 97, ("--form", "waves", "--activation", "relu")),
    ("n + m", 97, ("--form", "complex")),
    ("(n+m)^2", 97, ("--form", "waves")),
    ("n*m", 97, ("--form", "exact")),
    ("n1 + n2 + n3", 7, ("--form", "exact")),
)

OUTPUTS_OF_MODGROK = """
import sys, numpy, modgrok, modgrok.networks as networks
network = modgrok.load(sys.argv[1])
numpy.save(sys.argv[2], numpy.concatenate(list(networks.output_blocks(network))))
"""


def main() -> None:
    """Prints, for every case, the largest difference between the outputs over all inputs."""
    programs = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv/bin")
    print(f"PyTorch {torch.__version__}, outputs over all inputs")
    print(f"{'command':<66} {'width':>5} {'difference':>11} {'accuracy':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for expression, modulus, flags in CASES:
            file, expected = Path(folder, "network.safetensors"), Path(folder, "outputs.npy")
            arguments = ["solve", expression, "--modulus", str(modulus), *flags]
            command = [programs / "modgrok", *arguments, "--json", "--save", str(file)]
            result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            subprocess.run([programs / "python", "-c", OUTPUTS_OF_MODGROK, str(file), str(expected)], check=True)
            computed = outputs(file).numpy()
            difference = abs(computed - np.load(expected)).max()
            shown = " ".join([f'solve "{expression}" --modulus {modulus}', *flags])
            print(f"{shown:<66} {result['width']:>5} {difference:>11.1e} {result['accuracy']:>9.4f}")
            if difference > 1e-12:
                sys.exit("The outputs differ.")


def outputs(path: Path) -> torch.Tensor:
    """The network's outputs on every input, with one-hot inputs and two matrix products."""
    with safe_open(str(path), framework="pt") as file:
        own = json.loads(file.metadata()["modgrok"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    if "w_in" not in tensors:
        for name in ("w_in", "w_out"):
            tensors[name] = torch.complex(tensors[f"{name}_real"], tensors[f"{name}_imag"])
    w_in, w_out = tensors["w_in"], tensors["w_out"]
    width, arity, modulus = w_in.shape
    one_hot = torch.nn.functional.one_hot(torch.cartesian_prod(*[torch.arange(modulus)] * arity), modulus)
    x = one_hot.flatten(1).to(w_in.dtype)
    mean_field = own["parametrization"] == "mean-field"
    h = x @ w_in.flatten(1).T / ((arity * modulus) ** 0.5 if mean_field else 1)
    z = activation(own["activation"], h) @ w_out.T / (width if mean_field else 1)
    return z.real if z.is_complex() else z


def activation(name: str, h: torch.Tensor) -> torch.Tensor:
    """The activations of the cases above."""
    if name == "relu":
        return torch.relu(h)
    return h ** (2 if name == "quadratic" else int(name.removeprefix("x^")))


if __name__ == "__main__":
    main()
