"""What `modgrok bench --json` prints, for machines that have JAX but not the packages of the command line.

PYTHONPATH=src python benchmarks/speed.py --runs 128 > speed.json
PYTHONPATH=src python benchmarks/speed.py --transformer > speed_transformer.json

The second times the transformer of Nanda et al. at p = 113, one run and 16 at once, beside the same in PyTorch.
"""

import argparse
import dataclasses
import json
import sys

from modgrok.experiments.bench import TransformerWorkload, Workload, compare, compare_transformers
from modgrok.training.devices import use_all_cores


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
