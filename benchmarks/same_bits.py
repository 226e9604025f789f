"""Whether a run's weights depend on who trains beside it: each architecture alone, and beside 1, 3 and 5 others.

On a CPU they must not, and `tests/experiments/test_same_bits.py` says so; on a GPU this measures by how much they do,
for the machine at hand. `--steps` and `--modulus` change the size of the runs.
"""

import argparse
import tempfile

import numpy as np

from modgrok.experiments import Experiment, Store
from modgrok.experiments.train import train_stored
from modgrok.training.devices import use_all_cores

NETWORKS = {
    "two-layer": {"width": 128},
    "two-layer, precision highest": {"width": 128, "precision": "highest"},
    "mlp": {"network": "mlp", "width": 128},
    "embedding-mlp": {"network": "embedding-mlp"},
    "transformer": {"network": "transformer", "width": 64},
}


def difference(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> float:
    """The largest difference of two networks' weights, relative to the largest weight of each tensor."""
    return max(float(np.abs(value - other[name]).max() / np.abs(value).max()) for name, value in one.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--modulus", type=int, default=31)
    parser.add_argument("--steps", type=int, default=300)
    asked = parser.parse_args()
    use_all_cores()
    for name, settings in NETWORKS.items():
        common = {"modulus": asked.modulus, "steps": asked.steps, "fraction": 0.6, "snapshots": 0, "evaluations": 10}
        experiments = [Experiment("n + m", seed=seed, **common, **settings) for seed in range(6)]
        weights = []
        for others in (0, 0, 1, 3, 5):
            with tempfile.TemporaryDirectory() as store:
                run, *_ = train_stored(experiments[: others + 1], Store(store))
                weights.append({key: np.asarray(value) for key, value in run.network.parameters.items()})
        again, *beside = (difference(weights[0], one) for one in weights[1:])
        shown = ", ".join(f"{number:.1e}" if number else "same bytes" for number in beside)
        print(f"{name}: again {f'{again:.1e}' if again else 'same bytes'}; beside 1, 3, 5: {shown}", flush=True)


if __name__ == "__main__":
    main()
