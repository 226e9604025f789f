"""The parities of Barak et al. and how many are trained: quick on two CPU cores, full on a GPU."""

from typing import Any

from modgrok.reproduce.form import Runs, runs, sizes

PROFILES = QUICK, FULL, TINY = sizes(
    bits=(40, 40, 20),  # n of the curves and of finite data, for k = 3
    seeds=(3, 10, 1),
    steps=(4_000, 10_000, 30),
    # For every k the n whose times are measured, with the most steps for each.
    scaling=(
        {2: {20: 300, 40: 600, 80: 1_200}, 3: {20: 1_000, 30: 2_000, 40: 4_000, 60: 8_000}},
        {
            2: {20: 1_000, 40: 1_000, 80: 2_000, 160: 4_000},
            3: {20: 2_000, 30: 4_000, 40: 8_000, 60: 16_000, 90: 40_000},
            4: {20: 40_000, 25: 80_000, 30: 160_000},
        },
        {2: {18: 40, 20: 40}},
    ),
    scaling_seeds=(5, 25, 2),
    histogram_bits=(20, 20, 18),
    histogram_seeds=(32, 2_000, 2),
    histogram_steps=(2_500, 5_000, 30),
    finite_width=(1000, 1000, 20),
    finite_seeds=(2, 5, 1),
    finite_steps=(9_600, 19_200, 30),
    # Other activations, batches, widths and shares of wrong labels.
    breadth_bits=(20, 30, 18),
    breadth_seeds=(3, 5, 1),
    breadth_steps=(3_000, 100_000, 30),
    breadth_widths=((10, 100, 1_000), (10, 100, 1_000, 10_000), (10, 20)),
    noises=((0.0, 0.2, 0.4), (0.0, 0.1, 0.2, 0.3, 0.4), (0.0, 0.4)),
    gradients=(20, 200, 2),  # neurons whose sampled gradient is looked at
    left_out=(("figB",), (), ()),
)


def parity(n: int, k: int, seeds: int, **more: Any) -> Runs:
    """The parity of k of n bits by SGD on fresh batches of 32, a hidden layer of 100 ReLU, hinge loss."""
    settings = {"network": "mlp", "width": 100, "loss": "hinge", "optimizer": "sgd", "batch_size": 32}
    settings |= {"weight_decay": 0.0, "snapshots": 0, "test_examples": 2048}
    return runs(settings | more, task=f"parity:{n},{k}", seed=range(seeds)).tag(bits=n, k=k)
