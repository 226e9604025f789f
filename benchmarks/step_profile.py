"""The kernels that a step on a GPU consists of, and how long each takes.

PYTHONPATH=src python benchmarks/step_profile.py --runs 128
PYTHONPATH=src python benchmarks/step_profile.py --transformer

A CUDA graph hides its kernels from the profiler, so here each is launched on its own; the first line says how long a
step of the graph takes.
"""

import argparse
import dataclasses
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import jax
from jax.profiler import ProfileData

from modgrok.experiments.bench import Workload
from modgrok.experiments.contestants import ModgrokTraining
from modgrok.training import program
from modgrok.training.together import forget_programs
from torch_transformer import TransformerWorkload

STEPS = 20
LEAST = 0.005
"""Share of the time from which a kernel has a line of its own."""


def seconds_per_step(training: ModgrokTraining) -> float:
    """In a call that takes about half a second."""
    steps, taken = 4, 0.0
    training.take(1)
    while taken < 0.2:
        steps *= 2
        began = time.perf_counter()
        training.take(steps)
        taken = time.perf_counter() - began
    return taken / steps


def kernels(training: ModgrokTraining) -> Counter[str]:
    """Seconds of each kernel in a step, by name."""
    training.take(2)
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            training.take(STEPS)
        (file,) = Path(folder).rglob("*.xplane.pb")
        planes = [plane for plane in ProfileData.from_file(str(file)).planes if "/device:GPU" in plane.name]
        found: Counter[str] = Counter()
        for line in (line for plane in planes for line in plane.lines if line.name.startswith("Stream")):
            for event in line.events:
                found[re.sub(r"\d+$", "", event.name)[:90]] += event.duration_ns / STEPS / 1e9
    return found


def main() -> None:
    kind: Any = TransformerWorkload if "--transformer" in sys.argv else Workload
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transformer", action="store_true", help="the transformer of Nanda et al.")
    for field in dataclasses.fields(kind):
        number = float if isinstance(field.default, float) else int
        parser.add_argument(f"--{field.name}", type=number, default=field.default)
    asked = vars(parser.parse_args())
    asked.pop("transformer")
    workload, devices = kind(**asked), jax.local_devices()
    runs = workload.runs or 1
    graph = seconds_per_step(ModgrokTraining(workload, runs, devices))
    forget_programs()
    options = dict(program.GPU.compiler_options) | {"xla_gpu_enable_command_buffer": ""}
    program.PLATFORMS["gpu"] = dataclasses.replace(program.GPU, compiler_options=options)
    found = kernels(ModgrokTraining(workload, runs, devices))
    total = sum(found.values())
    print(f"{runs} runs, p = {workload.modulus}, width {workload.width}: {1e6 * graph:.1f} µs a step in a graph,")
    print(f"{runs / graph:,.0f} run-steps/s; its kernels alone, one after another: {1e6 * total:.1f} µs.\n")
    print("| µs | share | kernel |\n|---|---|---|")
    for name, seconds in found.most_common():
        if seconds >= LEAST * total:
            print(f"| {1e6 * seconds:.1f} | {seconds / total:.1%} | {name} |")


if __name__ == "__main__":
    main()
