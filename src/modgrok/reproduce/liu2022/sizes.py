"""The toy of Liu et al. and how much of it is trained: quick on two CPU cores, full with the paper's grids on a GPU."""

from typing import Any

from modgrok.reproduce.form import Runs, Sizes, runs, sizes

PAIRS = 55
TOY: dict[str, Any] = {
    **{"task": "add:10,codes=30:unordered", "network": "embedding-mlp", "embedding": 1, "width": 200, "depth": 2},
    **{"activation": "tanh", "optimizer": "adamw", "beta2": 0.999, "weight_decay": 0.0, "embedding_decay": 0.0},
    **{"lr": 1e-4, "embedding_lr": 1e-3, "snapshots": 0},
}
"""Sums of two of the numbers 0 … 9, each unordered pair once; every sum is a fixed vector of 30 normal numbers. One
number for each integer, summed, decoded by two hidden layers of 200 tanh; AdamW without decay."""
THIRDS = tuple(float(f"{10 ** (-5 + k / 3):.3g}") for k in range(10))
"""Three rates to the decade."""

PAPER_STEPS = 100_000
"""Of the phase diagrams."""

PROFILES = QUICK, FULL, TINY = sizes(
    sets=(200, 1_000, 10),  # random training sets for each point of the theory
    sizes=((20, 30, 40, 45, 50), (15, 20, 25, 30, 35, 40, 45, 50, 54), (20, 45)),  # pairs that are trained on, of 55
    seeds=(6, 16, 1),
    steps=(2_500, 10_000, 30),
    # Phase diagrams: (a) has the same rates on both axes, (b) and (c) rates and decays of the decoder, so has (d).
    diagram_rates=((1e-5, 1e-4, 1e-3, 1e-2), THIRDS, (1e-4, 1e-2)),
    decoder_rates=((1e-4, 1e-3, 1e-2), THIRDS, (1e-3,)),
    decays=((0.0, 2.0, 5.0, 10.0), tuple(map(float, range(11))), (0.0, 5.0)),
    group_rates=((1e-4, 1e-2), (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)),
    group_decays=((0.0, 10.0, 50.0, 200.0), (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, 200.0)),
    class_decays=((0.0, 5.0, 10.0, 20.0), tuple(map(float, range(0, 21, 2))), (0.0, 5.0)),
    # (a) and (b) have the paper's steps, (c) and (d) those of the authors' code.
    diagram_seeds=(1, 3),
    diagram_steps=(3_000, PAPER_STEPS, 30),
    other_seeds=(1, 5),
    other_steps=(3_000, 10_000, 30),
    lag=(500, 1_000, 10),  # steps between training and test accuracy from which on it is grokking
    circle_steps=(5, 10_000),
    circle_seeds=(2, 5),
    # The transformer: rates and decays of all but the embedding; dropout without decay.
    transformer_rates=((1e-3,), (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)),
    transformer_decays=((1.0,), (0.0, 0.1, 0.5, 2.0, 10.0)),
    transformer_steps=(5, 15_000),
    transformer_seeds=(1, 3),
    dropouts=((0.0, 0.3), (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
    left_out=(("figP", "fig6c", "figT", "figO"), (), ("figP", "fig6c", "fig6d", "figT", "figO")),
)


def toys(s: Sizes) -> Runs:
    """For every size of the training set one run for each seed."""
    return runs(TOY, steps=s.steps, evaluations=120, record=("rqi",), examples=[*s.sizes], seed=range(s.seeds))
