"""The transformer of Nanda et al. (arXiv 2301.05217) against the same formulas in PyTorch, measured side by side."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch_contestants
from modgrok.experiments import Experiment
from modgrok.experiments.bench import Contestant, Workload, time_in_turns


@dataclass(frozen=True)
class TransformerWorkload(Workload):
    """Full-batch AdamW on n + m modulo 113 with 30 % of the pairs, without evaluations."""

    modulus: int = 113
    width: int = 128
    fraction: float = 0.3
    runs: int | None = 16

    def experiment(self, seed: int) -> Experiment:
        settings: dict[str, Any] = {"optimizer": "adamw", "lr": 1e-3, "weight_decay": 1.0, "warmup": 10}
        return Experiment(
            "n+m", self.modulus, width=self.width, fraction=self.fraction, network="transformer", seed=seed, **settings
        ).resolve()

    @property
    def flops(self) -> int:
        """Of one step of one run: the products of the rows that differ from example to example."""
        experiment = self.experiment(0)
        return round(3 * self.examples * experiment.architecture.cost(experiment.load_task().signature).flops)


def compare_transformers(workload: Workload, tell: Callable[[str], None] = lambda sentence: None) -> dict[str, Any]:
    """Steps per second of one run and of a batch, and of PyTorch, as JSON values."""
    import jax
    import numpy as np

    from modgrok.experiments.contestants import ModgrokTraining
    from modgrok.experiments.environment import environment

    devices, runs = jax.local_devices(), workload.runs or 16
    tell(f"Compiling for one run and for {runs} at once, on {len(devices)} × {devices[0].device_kind}.")
    contestants: dict[str, Contestant] = {
        "one": ModgrokTraining(workload, 1, devices),
        "batch": ModgrokTraining(workload, runs, devices),
    }
    torch_device = torch_contestants.device(devices[0].platform == "cpu")
    if torch_device is not None:
        modes = {"eager": 1, "compiled": 1} | ({"graphs": 1, "graphs_batch": runs} if torch_device == "cuda" else {})
        theirs = {
            mode: torch_contestants.Elsewhere(Transformer, workload, count, mode, torch_device)
            for mode, count in modes.items()
        }
        contestants |= torch_contestants.compiling(theirs, tell)
    seconds = time_in_turns(contestants, workload.seconds, tell)
    told: dict[str, Any] = {
        "modulus": workload.modulus,
        "width": workload.width,
        "fraction": workload.fraction,
        "examples": workload.examples,
        "flops_per_step": workload.flops,
    }
    for name, count in (("one", 1), ("batch", runs)):
        step = float(np.median(seconds[name]))
        speeds = {"run_steps_per_second": count / step, "flops_per_second": count * workload.flops / step}
        told[name] = {"runs": count, "seconds_per_step": step} | speeds
    if torch_device is not None:
        others = [name for name in seconds if name not in ("one", "batch")]
        ours = {name: seconds["batch" if name.endswith("_batch") else "one"] for name in others}
        ratios = {name: torch_contestants.against(ours[name], seconds[name]) for name in others}
        told["pytorch"] = torch_contestants.about(torch_device) | ratios
    return told | {"devices": len(devices), "cores": os.cpu_count(), "environment": environment(devices[0])}


class Transformer(torch_contestants.Descent):
    """One block of attention and MLP of some runs as an expert would write it: look-ups in one table of all runs, only
    the last position's query, a fused AdamW, the precision that we use; eager, compiled, or compiled and captured in
    CUDA graphs."""

    def __init__(self, workload: Workload, runs: int, mode: str, device: str) -> None:
        import torch
        from torch.nn import functional

        experiments = [workload.experiment(seed) for seed in range(runs)]
        task, p, d, heads = experiments[0].load_task(), workload.modulus, workload.width, 4
        torch.manual_seed(0)
        torch.set_float32_matmul_precision("high")
        train = torch.stack([torch.from_numpy(e.split.divide(task)[0]) for e in experiments])
        tokens = torch.stack([train // p, train % p, torch.full_like(train, p)], dim=2)
        tokens = (tokens + (p + 1) * torch.arange(runs)[:, None, None]).to(device)
        answers = torch.from_numpy(task.table.reshape(-1).copy())[train].long().to(device)

        def weight(*shape: int, fan: int = d) -> Any:
            return (torch.randn(*shape, device=device) / fan**0.5).requires_grad_()

        e, positions, unembedding = weight(runs * (p + 1), d), weight(runs, 1, 3, d), weight(runs, p + 1, d, fan=p + 1)
        query, key, value, output = (weight(runs, d, d) for _ in range(4))
        w_in, w_out = weight(runs, 4 * d, d), weight(runs, d, 4 * d)
        b_in, b_out = (torch.zeros(runs, 1, size, device=device, requires_grad=True) for size in (4 * d, d))
        self._parameters = [e, positions, unembedding, query, key, value, output, w_in, w_out, b_in, b_out]

        def times(x: Any, w: Any) -> Any:
            return torch.bmm(x, w.transpose(1, 2))

        def loss(*parameters: Any) -> Any:
            e, positions, unembedding, query, key, value, output, w_in, w_out, b_in, b_out = parameters
            x = functional.embedding(tokens, e) + positions
            last, rows = x[:, :, -1], x.flatten(1, 2)
            q = times(last, query).view(runs, -1, heads, 1, d // heads)
            k, v = (times(rows, w).view(runs, -1, 3, heads, d // heads).transpose(2, 3) for w in (key, value))
            attention = ((q @ k.transpose(3, 4)) * (d // heads) ** -0.5).softmax(dim=-1)
            h = last + times((attention @ v).reshape(*last.shape), output)
            h = h + times(functional.relu(times(h, w_in) + b_in), w_out) + b_out
            return runs * functional.cross_entropy(times(h, unembedding).flatten(0, 1), answers.flatten())

        self._loss, self._device = loss if mode == "eager" else torch.compile(loss), device
        self.descend(experiments[0], graphs=mode.startswith("graphs"))
