"""Contestants take turns, each round in another order, so that whatever else the machine does hits all alike; ratios
are taken round by round."""

import os
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from modgrok.experiments.bench.workload import Workload
from modgrok.shapes import Float

ROUNDS = 9
PAUSE_SECONDS = 0.2
"""Before every turn: the threads of the last contestant stop spinning."""

Seconds = Float[np.ndarray, "round"]
"""Time of one step, in each round."""


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

    from modgrok.experiments.bench.contestants import JaxProducts, ModgrokTraining, NumpyProducts, preferred_runs

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

    from modgrok.experiments.environment import environment

    alone = [seconds[name] for name in ("products in JAX", "products in NumPy") if name in seconds]
    products = min(alone, key=np.median)
    return {
        "modulus": workload.modulus,
        "width": workload.width,
        "fraction": workload.fraction,
        "examples": workload.examples,
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
