"""What `modgrok bench --json` prints, for machines that have JAX but not the packages of the command line.

PYTHONPATH=src python benchmarks/speed.py --runs 128 > speed.json
"""

import argparse
import dataclasses
import json
import sys

from modgrok.experiments.bench import Workload, compare
from modgrok.training.devices import use_all_cores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for field in dataclasses.fields(Workload):
        kind = float if isinstance(field.default, float) else int
        parser.add_argument(f"--{field.name}", type=kind, default=field.default)
    workload = Workload(**vars(parser.parse_args()))
    use_all_cores()
    json.dump(compare(workload, lambda sentence: print(sentence, file=sys.stderr)), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
