"""The transformers of two papers beside modules of PyTorch with the same weights: are the outputs the same?

The one-layer model of Nanda et al. (arXiv 2301.05217) on n + m modulo 113, and the two-layer model of Power et al.
(arXiv 2201.02177) modulo 97, over all inputs and all logits. PyTorch is no dependency of modgrok, so this script runs
in an environment of its own, which needs no modgrok:

    python -m venv .venv-torch
    .venv-torch/bin/pip install torch==2.13.0 numpy safetensors
    .venv-torch/bin/python benchmarks/torch_models.py

It calls Python in the project's environment (`.venv/bin`, or the folder given as an argument).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn

NANDA = {"modulus": 113}
POWER = {
    "modulus": 97,
    "layers": 2,
    "layer_norm": "post",
    "positions": "sinusoidal",
    "biases": False,
    "framed": True,
    "initialization": "torch",
    "vocabulary": 239,
}

OUTPUTS_OF_MODGROK = """
import json, sys
import jax, numpy as np
from safetensors.numpy import save_file
from modgrok.networks import grid
from modgrok.networks.transformer import Transformer
from modgrok.tasks import Signature

settings, precision, random, folder = json.loads(sys.argv[1]), *sys.argv[2:]
jax.config.update("jax_enable_x64", precision == "float64")
p = settings.pop("modulus")
signature, transformer = Signature((p, p), p), Transformer(**settings)
weights = transformer.init(jax.random.key(0), signature, 1.0, precision)
if random == "random":
    chance = np.random.default_rng(0)
    weights = {k: (np.asarray(w) + 0.1 * chance.normal(size=w.shape)).astype(precision) for k, w in weights.items()}
out = jax.jit(lambda w, x: transformer.apply(w, x, signature))(weights, grid((p, p)).astype("int32"))
np.save(folder + "/outputs.npy", np.asarray(out))
save_file({k: np.array(w) for k, w in weights.items()}, folder + "/weights.safetensors")
"""


class Block(nn.Module):
    """Attention and MLP, a LayerNorm behind each where there is one."""

    def __init__(self, width: int, heads: int, hidden: int, biases: bool, norm: bool) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, hidden, bias=biases), nn.ReLU(), nn.Linear(hidden, width, bias=biases)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) if norm else nn.Identity() for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        later = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        x = self.norms[0](x + self.attention(x, x, x, attn_mask=later, need_weights=False)[0])
        return self.norms[1](x + self.mlp(x))


class Decoder(nn.Module):
    """Token embedding, positions, blocks, unembedding at the last position."""

    def __init__(self, tokens: int, length: int, layers: int, biases: bool, norm: bool, sinusoidal: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tokens, 128)
        self.positions = nn.Parameter(torch.zeros(length, 128))
        if sinusoidal:
            at, i = torch.arange(length)[:, None], torch.arange(0, 128, 2)[None]
            angle = at / 10000 ** (i / 128)
            self.positions.data = torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)
        self.blocks = nn.ModuleList(Block(128, 4, 512, biases, norm) for _ in range(layers))
        self.unembedding = nn.Linear(128, tokens, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.unembedding(x)[:, -1]


def with_weights(model: Decoder, weights: dict[str, torch.Tensor]) -> Decoder:
    """The module with modgrok's tensors, every one of which is used."""
    named = {"embedding.weight": weights.pop("embedding"), "unembedding.weight": weights.pop("unembedding.weight")}
    named["positions"] = weights.pop("positions", model.positions.data)
    for i in range(len(model.blocks)):
        of = f"blocks.attention.{i}"
        parts = [weights.pop(f"{of}.{name}.weight") for name in ("query", "key", "value")]
        named[f"blocks.{i}.attention.in_proj_weight"] = torch.cat(parts)
        named[f"blocks.{i}.attention.out_proj.weight"] = weights.pop(f"{of}.output.weight")
        for place, name in (("0", "in"), ("2", "out")):
            for kind in ("weight", "bias"):
                if (tensor := weights.pop(f"blocks.mlp.{i}.{name}.{kind}", None)) is not None:
                    named[f"blocks.{i}.mlp.{place}.{kind}"] = tensor
        for j in range(2):
            for kind in ("weight", "bias"):
                if (tensor := weights.pop(f"norms.{2 * i + j}.{kind}", None)) is not None:
                    named[f"blocks.{i}.norms.{j}.{kind}"] = tensor
    if weights:
        sys.exit(f"PyTorch's modules have no {', '.join(weights)}.")
    model.load_state_dict(named)
    return model


def compare(title: str, settings: dict[str, object], precision: str, weights: str, programs: Path) -> None:
    """Prints the largest difference of the logits over all inputs."""
    p = int(str(settings["modulus"]))
    with tempfile.TemporaryDirectory() as folder:
        arguments = [json.dumps(settings), precision, weights, folder]
        subprocess.run([programs / "python", "-c", OUTPUTS_OF_MODGROK, *arguments], check=True)
        expected, tensors = np.load(f"{folder}/outputs.npy"), load_file(f"{folder}/weights.safetensors")
    torch.set_default_dtype(getattr(torch, precision))
    n, m = torch.cartesian_prod(torch.arange(p), torch.arange(p)).T
    if settings.get("framed"):
        equals, operator, frame = (torch.full_like(n, p + i) for i in range(3))
        tokens, model = torch.stack([frame, n, operator, m, equals], 1), Decoder(239, 5, 2, False, True, True)
    else:
        tokens, model = torch.stack([n, m, torch.full_like(n, p)], 1), Decoder(p + 1, 3, 1, True, False, False)
    spreads = [float(tensors["embedding"].std()), float(tensors["blocks.mlp.0.in.weight"].std())]
    with torch.no_grad():
        computed = with_weights(model, tensors)(tokens).numpy()
    difference, size = abs(computed - expected).max(), abs(expected).max()
    spread = f"{spreads[0]:>9.4f} {spreads[1]:>9.4f}"
    print(f"{title:<14} {precision:<8} {weights:<8} {computed.shape[1]:>6} {size:>8.3f} {difference:>11.1e} {spread}")
    if difference > (1e-5 if precision == "float32" else 1e-12):
        sys.exit("The outputs differ.")


def main() -> None:
    """Both models, as they start and with all weights moved at random, in both precisions."""
    programs = Path(sys.argv[1] if len(sys.argv) > 1 else ".venv/bin")
    print(f"PyTorch {torch.__version__}, logits over all inputs, and standard deviations of two tensors")
    columns = f"{'model':<14} {'numbers':<8} {'weights':<8} {'logits':>6} {'largest':>8} {'difference':>11}"
    print(f"{columns} {'embedding':>9} {'mlp':>9}")
    for title, settings in (("Nanda et al.", NANDA), ("Power et al.", POWER)):
        for precision in ("float32", "float64"):
            for weights in ("initial", "random"):
                compare(title, settings, precision, weights, programs)


if __name__ == "__main__":
    main()
