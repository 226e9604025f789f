"""How fast this machine trains, against its own matrix products.

Contestants take turns, each round in another order, so that whatever else the machine does hits all alike; ratios are
taken round by round.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.environment import environment
from modgrok.experiments.experiment import Experiment
from modgrok.shapes import Float

ROUNDS = 9
PAUSE_SECONDS = 0.2
"""Before every turn: the threads of the last contestant stop spinning."""

Seconds = Float[np.ndarray, "round"]
"""Time of one step, in each round."""


@dataclass(frozen=True)
class Workload:
    """Full-batch AdamW on n + m, without evaluations."""

    modulus: int = 97
    """The modulus p."""
    width: int = 500
    """N, the number of hidden neurons."""
    fraction: float = 0.5
    """α, the share of all inputs used for training."""
    runs: int | None = None
    """Networks in the batch; by default as many as this device trains at once."""
    seconds: float = 3.0
    """Total time for each contestant."""

    def __post_init__(self) -> None:
        if self.runs is not None and self.runs < 1:
            raise ModgrokError(f"A batch has at least 1 run, not {self.runs}.")
        if not 0 < self.seconds <= 600:
            raise ModgrokError(f"Each contestant is timed for more than 0 and up to 600 seconds, not {self.seconds:g}.")
        self.experiment(0)

    def experiment(self, seed: int) -> Experiment:
        """One network of the batch, with its settings written out."""
        return Experiment(
            "n+m", self.modulus, width=self.width, fraction=self.fraction, optimizer="adamw", seed=seed
        ).resolve()

    @property
    def examples(self) -> int:
        """Size of the training set."""
        return round(self.fraction * self.modulus**2)

    @property
    def flops(self) -> int:
        """Of one step of one run: three products of |train| × N by N × p, two operations for each term."""
        return 6 * self.examples * self.width * self.modulus


@runtime_checkable
class Contestant(Protocol):
    """Something that takes steps."""

    def take(self, steps: int) -> None:
        """Returns when they are done."""


def compare(workload: Workload, tell: Callable[[str], None] = lambda sentence: None) -> dict[str, Any]:
    """Steps per second, flops and fractions as JSON values; `tell` hears what is being done."""
    contestants = own_contestants(workload, tell)
    return result(workload, contestants["batch"].runs, time_in_turns(contestants, workload.seconds, tell))


def own_contestants(workload: Workload, tell: Callable[[str], None]) -> dict[str, Any]:
    """Our training, one run and a batch of them, and the matrix products of a step."""
    import jax

    from modgrok.experiments.contestants import JaxProducts, ModgrokTraining, NumpyProducts, preferred_runs

    devices = jax.local_devices()
    runs = workload.runs or preferred_runs(workload, devices)
    runs = -(-runs // min(runs, len(devices))) * min(runs, len(devices))  # as many on each device
    tell(f"Compiling for one run and for {runs} at once, on {len(devices)} × {devices[0].device_kind}.")
    on_cpu = devices[0].platform == "cpu"
    return {
        "one run": ModgrokTraining(workload, 1, devices),
        "batch": ModgrokTraining(workload, runs, devices),
        "products in JAX": JaxProducts(workload),
        **(
            {"products in NumPy": NumpyProducts(workload)}
            if on_cpu
            else {"products of the batch": JaxProducts(workload, runs)}
        ),
    }


def result(workload: Workload, runs: int, seconds: Mapping[str, Seconds]) -> dict[str, Any]:
    """What the times of our contestants say, as JSON values."""
    import jax

    alone = [seconds[name] for name in ("products in JAX", "products in NumPy") if name in seconds]
    products = min(alone, key=np.median)
    return {
        **{name: getattr(workload, name) for name in ("modulus", "width", "fraction", "examples")},
        "flops_per_step": workload.flops,
        "one": _speed(workload, 1, seconds["one run"], products),
        "batch": _speed(workload, runs, seconds["batch"], seconds.get("products of the batch", runs * products)),
        "devices": len(jax.local_devices()),
        "cores": os.cpu_count(),
        "environment": environment(jax.local_devices()[0]),
    }


def time_in_turns(
    contestants: Mapping[str, Contestant], seconds: float, tell: Callable[[str], None]
) -> dict[str, Seconds]:
    """Time of one step of each contestant, round by round."""
    steps = {}
    for name, contestant in contestants.items():
        contestant.take(1)  # compiles
        steps[name] = _steps_for(contestant, seconds / ROUNDS)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    order = list(contestants)
    for number in range(ROUNDS):
        for name in order:
            tell(f"Round {number + 1} of {ROUNDS}: {name}.")
            time.sleep(PAUSE_SECONDS)
            times[name].append(_time(contestants[name], steps[name]) / steps[name])
        order.append(order.pop(0))
    return {name: np.array(values) for name, values in times.items()}


def _steps_for(contestant: Contestant, seconds: float) -> int:
    """How many steps take about that long."""
    steps = 1
    while (taken := _time(contestant, steps)) < seconds / 4:
        steps *= 2
    return max(1, round(steps * seconds / taken))


def _time(contestant: Contestant, steps: int) -> float:
    began = time.perf_counter()
    contestant.take(steps)
    return time.perf_counter() - began


def _speed(workload: Workload, runs: int, seconds: Seconds, products: Seconds) -> dict[str, Any]:
    """Medians over the rounds. All products are counted, nothing else is."""
    step = float(np.median(seconds))
    return {
        "runs": runs,
        "seconds_per_step": step,
        "steps_per_second": 1 / step,
        "run_steps_per_second": runs / step,
        "flops_per_second": runs * workload.flops / step,
        "products_seconds_per_step": float(np.median(products)),
        "products_flops_per_second": runs * workload.flops / float(np.median(products)),
        "fraction_of_products": float(np.median(products / seconds)),
    }
