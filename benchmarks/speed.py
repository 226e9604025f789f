"""What `modgrok bench --json` prints and, where PyTorch is installed, the same training in PyTorch, timed in turns.

PYTHONPATH=src python benchmarks/speed.py --runs 128 > speed.json
PYTHONPATH=src python benchmarks/speed.py --transformer > speed_transformer.json

The second times the transformer of Nanda et al. at p = 113, one run and 16 at once.
"""

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from typing import Any

import jax

import torch_contestants
from modgrok.experiments.bench import Workload, own_contestants, result, time_in_turns
from modgrok.training.devices import use_all_cores
from torch_transformer import TransformerWorkload, compare_transformers


def compare(workload: Workload, tell: Callable[[str], None]) -> dict[str, Any]:
    """Our training, its matrix products, and PyTorch's training, as JSON values."""
    contestants = own_contestants(workload, tell)
    runs = contestants["batch"].runs
    device = torch_contestants.device(jax.local_devices()[0].platform == "cpu")
    if device is not None:
        plain, compiled = torch_contestants.Training, torch_contestants.CompiledTraining
        contestants |= {
            "one_hot": torch_contestants.Elsewhere(plain, workload, True, device),
            "embedding": torch_contestants.Elsewhere(plain, workload, False, device),
        }
        theirs = {
            "compiled": torch_contestants.Elsewhere(compiled, workload, 1, device),
            "compiled_batch": torch_contestants.Elsewhere(compiled, workload, runs, device),
        }
        if device == "cuda":
            theirs |= {
                "graphs": torch_contestants.Elsewhere(compiled, workload, 1, device, True),
                "graphs_batch": torch_contestants.Elsewhere(compiled, workload, runs, device, True),
            }
        contestants |= torch_contestants.compiling(theirs, tell)
    seconds = time_in_turns(contestants, workload.seconds, tell)
    ratios = {
        name: torch_contestants.against(seconds["batch" if name.endswith("_batch") else "one run"], seconds[name])
        for name in ("one_hot", "embedding", "compiled", "graphs", "compiled_batch", "graphs_batch")
        if name in seconds
    }
    found = None if device is None else torch_contestants.about(device) | ratios
    return result(workload, runs, seconds) | {"pytorch": found}


def main() -> None:
    transformer = "--transformer" in sys.argv
    kind = TransformerWorkload if transformer else Workload
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--transformer", action="store_true", help="time a transformer instead of the paper's network")
    for field in dataclasses.fields(kind):
        number = float if isinstance(field.default, float) else int
        parser.add_argument(f"--{field.name}", type=number, default=field.default)
    asked = vars(parser.parse_args())
    asked.pop("transformer")
    use_all_cores()
    measure = compare_transformers if transformer else compare
    json.dump(measure(kind(**asked), lambda sentence: print(sentence, file=sys.stderr)), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
