"""The transformer of Nanda et al. and how much of it is trained: quick on two CPU cores, with more data and decay, at
which so small a table groks soon; full with the paper's model and rates, on a GPU."""

from typing import Any

from modgrok.reproduce.form import Runs, Sizes, runs, sizes

PAPER_STEPS = 40_000

PROFILES = QUICK, FULL, TINY = sizes(
    modulus=(53, 113, 7),
    width=(64, 128, 8),
    fraction=(0.45, 0.3, 0.4),
    decay=(2.5, 1.0, 1.0),
    steps=(2_000, PAPER_STEPS, 6),
    seeds=(3, 6, 1),
    snapshots=(60, 60, 4),
    # The paper finds that 10 and 20 % never grok, 30 to 50 % do, more does at once.
    fractions=((0.2, 0.45, 0.8), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8), (0.4,)),
    decays=((0.0, 1.5, 2.5, 4.0), (0.0, 0.3, 1.0, 3.0), (1.0,)),
    sweep_seeds=(1, 3),
    # p, share of the pairs, weight decay, steps. The paper: 53 needs decay 5, 109 is as 113, 20 % of 401 are enough.
    moduli=(
        ((41, 0.45, 2.5, 2_000), (53, 0.45, 2.5, 2_000), (67, 0.45, 2.5, 2_000)),
        (
            (53, 0.3, 1.0, PAPER_STEPS),
            (53, 0.3, 5.0, PAPER_STEPS),
            (109, 0.3, 1.0, PAPER_STEPS),
            (113, 0.3, 1.0, PAPER_STEPS),
            (151, 0.3, 1.0, PAPER_STEPS),
            (401, 0.2, 1.0, 8_000),
        ),
        ((5, 0.4, 1.0, 6), (7, 0.4, 1.0, 6)),
    ),
    two_layer_width=(256, 500, 12),
    two_layer_steps=(600, 1_000, 6),
)


def transformer(s: Sizes) -> dict[str, Any]:
    """One block, 4 heads, ReLU, no LayerNorm; full-batch AdamW with rate 0.001 and a warm-up of 10 steps. Products in
    whole float32 and the loss in float64, as in the authors' code."""
    task = {"task": "n + m", "modulus": s.modulus, "fraction": s.fraction, "network": "transformer", "width": s.width}
    training = {"optimizer": "adamw", "lr": 1e-3, "weight_decay": s.decay, "warmup": 10, "steps": s.steps}
    return task | training | {"precision": "highest", "loss_precision": "float64"}


def observed(s: Sizes) -> Runs:
    """The runs that are looked into, with their weights on the way."""
    return runs(transformer(s), evaluations=3 * s.snapshots, snapshots=s.snapshots, seed=range(s.seeds))


def timed(s: Sizes) -> Runs:
    """Runs of which the times alone are asked; they end when they grok."""
    return runs(transformer(s), until=0, snapshots=0, evaluations=120, seed=range(s.sweep_seeds))


def two_layer(s: Sizes) -> Runs:
    """The two-layer network of squares, which learns the same sums."""
    settings = {"task": "n + m", "modulus": s.modulus, "width": s.two_layer_width, "fraction": 0.5}
    schedule = {"steps": s.two_layer_steps, "evaluations": 3 * s.snapshots, "snapshots": s.snapshots}
    return runs(settings | schedule, optimizer="adamw")
