"""The paper's network in PyTorch: as anyone would write it, with one-hot inputs or embedding look-ups, and at its best,
compiled and batched over runs."""

import contextlib
import importlib.metadata
import importlib.util
import multiprocessing
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.bench import Contestant, Seconds, Workload


def device(on_cpu: bool) -> str | None:
    """Where PyTorch trains for a fair comparison; None where it is not installed, or cannot use the GPU that we use."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    if on_cpu:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else None


def compiling(contestants: Mapping[str, Contestant], tell: Callable[[str], None]) -> dict[str, Contestant]:
    """Those that can be compiled here: PyTorch needs a compiler of its own."""
    found = {}
    for name, contestant in contestants.items():
        tell(f"PyTorch compiles: {name}.")
        with contextlib.suppress(ModgrokError):
            contestant.take(1)
            found[name] = contestant
    return found


def about(device: str) -> dict[str, str]:
    return {"version": importlib.metadata.version("torch"), "device": device}


def against(ours: Seconds, theirs: Seconds) -> dict[str, float]:
    """Their time of a step, and how many times ours that is, by medians over rounds."""
    return {"seconds_per_step": float(np.median(theirs)), "ratio": float(np.median(theirs / ours))}


class Elsewhere:
    """PyTorch training in a process of its own, as its users run it: its threads and ours would share one pool of
    cores, and those that wait for work spin."""

    def __init__(self, training: Callable[..., Any], *arguments: Any) -> None:
        context = multiprocessing.get_context("spawn")
        self._steps, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, training, *arguments), daemon=True)
        self._process.start()
        theirs.close()

    def take(self, steps: int) -> None:
        try:
            self._steps.send(steps)
            self._steps.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise ModgrokError("The process that trains with PyTorch ended early; its message is above.") from None


def _serve(requests: Any, training: Callable[..., Any], *arguments: Any) -> None:
    take = training(*arguments).take
    while True:
        try:
            take(requests.recv())
        except EOFError:
            return
        requests.send(True)


class Training:
    r"""$f(x) = \frac{1}{DN} W^{(2)} (W^{(1)} x)^2$, mean squared error, full-batch AdamW, as anyone would write it."""

    def __init__(self, workload: Workload, one_hot: bool, device: str) -> None:
        import torch
        from torch.nn import functional

        experiment = workload.experiment(0)
        task = experiment.load_task()
        p, width = workload.modulus, workload.width
        torch.manual_seed(0)
        train = torch.from_numpy(experiment.split.divide(task)[0])
        n, m = train // p, train % p
        answers = torch.from_numpy(task.table.reshape(-1).copy())[train]
        self._target = functional.one_hot(answers, p).float().to(device)
        self._w_in = torch.randn(2 * p, width, device=device, requires_grad=True)
        self._w_out = torch.randn(p, width, device=device, requires_grad=True)
        self._scale = 1 / (2 * p * width)
        pair = torch.stack([n, m + p], dim=1)
        inputs = functional.one_hot(pair, 2 * p).sum(dim=1).float() if one_hot else pair
        self._inputs = inputs.to(device)
        self._one_hot, self._device = one_hot, device
        rates: dict[str, Any] = {"lr": experiment.lr, "betas": (experiment.beta1, experiment.beta2)}
        parameters = [self._w_in, self._w_out]
        self._optimizer = torch.optim.AdamW(parameters, **rates, weight_decay=experiment.weight_decay)

    def take(self, steps: int) -> None:
        import torch
        from torch.nn import functional

        for _ in range(steps):
            if self._one_hot:
                h = self._inputs @ self._w_in
            else:
                h = functional.embedding(self._inputs, self._w_in).sum(dim=1)
            out = self._scale * (h**2 @ self._w_out.T)
            self.loss = functional.mse_loss(out, self._target)
            self._optimizer.zero_grad()
            self.loss.backward()
            self._optimizer.step()
        if self._device != "cpu":
            torch.cuda.synchronize()


GRAPH_STEPS = 20
"""Steps that one CUDA graph takes."""


class Descent:
    """Steps of an optimizer down a loss of parameters, launched one by one or captured in CUDA graphs."""

    loss: Any
    _loss: Callable[..., Any]
    _parameters: Any
    _optimizer: Any
    _device: str
    _graphs: Mapping[int, Any] = {}

    def descend(self, experiment: Experiment, graphs: bool) -> None:
        """A fused AdamW; with graphs the whole step is captured, gradient and update."""
        import torch

        rates: dict[str, Any] = {"lr": experiment.lr, "betas": (experiment.beta1, experiment.beta2)}
        self._optimizer = torch.optim.AdamW(
            self._parameters, **rates, weight_decay=experiment.weight_decay, fused=True, capturable=graphs
        )
        if graphs:
            self._graphs = {steps: self._captured(steps) for steps in (GRAPH_STEPS, 1)}

    def _captured(self, steps: int) -> Any:
        import torch

        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(3):
                self._step()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(steps):
                self._step()
        return graph

    def _step(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        self.loss = self._loss(*self._parameters)
        self.loss.backward()
        self._optimizer.step()

    def take(self, steps: int) -> None:
        import torch

        if self._graphs:
            many, single = divmod(steps, GRAPH_STEPS)
            for graph, times in ((self._graphs[GRAPH_STEPS], many), (self._graphs[1], single)):
                for _ in range(times):
                    graph.replay()
        else:
            for _ in range(steps):
                self._step()
        if self._device != "cpu":
            torch.cuda.synchronize()


class CompiledTraining(Descent):
    """The same for many runs at once, as an expert would write it: look-ups in one table of all runs, products with
    `bmm`, compiled, with a fused AdamW and the precision that we use, and captured in CUDA graphs if asked."""

    def __init__(self, workload: Workload, runs: int, device: str, graphs: bool = False) -> None:
        import torch
        from torch.nn import functional

        experiments = [workload.experiment(seed) for seed in range(runs)]
        task, p, width = experiments[0].load_task(), workload.modulus, workload.width
        torch.manual_seed(0)
        torch.set_float32_matmul_precision("high")
        train = torch.stack([torch.from_numpy(e.split.divide(task)[0]) for e in experiments])
        first = 2 * p * torch.arange(runs)[:, None]
        n, m = ((part + first).to(device) for part in (train // p, train % p + p))
        answers = torch.from_numpy(task.table.reshape(-1).copy())[train]
        target = functional.one_hot(answers, p).float().to(device)
        w_in = torch.randn(runs * 2 * p, width, device=device, requires_grad=True)
        w_out = torch.randn(runs, p, width, device=device, requires_grad=True)
        scale = 1 / (2 * p * width)

        def loss(w_in: Any, w_out: Any) -> Any:
            h = functional.embedding(n, w_in) + functional.embedding(m, w_in)
            out = scale * torch.bmm(h**2, w_out.transpose(1, 2))
            return ((out - target) ** 2).mean(dim=(1, 2)).sum()

        self._loss, self._parameters, self._device = torch.compile(loss), (w_in, w_out), device
        self.descend(experiments[0], graphs)
