"""The operations and the transformer of Power et al., and how much is trained: quick on two CPU cores, full at the
paper's sizes on a GPU. Small tables need more than half of their entries, and no small group is learned soon."""

import math
from typing import Any

from modgrok.reproduce.form import Runs, Settings, Sizes, Table, runs, sizes
from modgrok.tasks.basis.named_groups import cayley_table

ADDITION, DIVISION, CUBIC, PRODUCT = "x + y", "x / y", "x³ + xy² + y", "x ∘ y"
OPERATIONS = {
    ADDITION: "n + m",
    "x − y": "n - m",
    "x · y": "n*m",
    DIVISION: "n/m",
    "x / y if y is odd, else x − y": "power:mix1",
    "x² + y²": "n^2 + m^2",
    "x² + xy + y²": "n^2 + n*m + m^2",
    "x² + xy + y² + x": "n^2 + n*m + m^2 + n",
    "x³ + xy": "n^3 + n*m",
    CUBIC: "n^3 + n*m^2 + m",
    PRODUCT: "group:{group}",
    "x ∘ y ∘ x⁻¹": "group:{group}:conjugation",
    "x ∘ y ∘ x": "group:{group}:xyx",
}
"""Tasks by their names in the paper: x is n, y is m; permutations are multiplied first x, then y."""

MINIBATCHES, DECAYED, TO_START = "Adam, minibatches", "AdamW", "AdamW to the start"
PLAIN: Settings = {"weight_decay": 0.0}
VARIANTS: dict[str, Settings] = {
    "Adam, full batch": PLAIN | {"batch_size": None},
    MINIBATCHES: PLAIN,
    "Adam, full batch, noisy updates": PLAIN | {"batch_size": None, "update_noise": 1.0},
    "Adam, dropout 0.1": PLAIN | {"dropout": 0.1},
    DECAYED: {},
    TO_START: {"decay_to": "start"},
    "Adam, rate 0.0003": PLAIN | {"lr": 3e-4},
    "Adam, rate 0.003": PLAIN | {"lr": 3e-3},
    "Adam, noisy weights": PLAIN | {"weight_noise": 0.01},
}
"""Of Fig. 2 left; AdamW without decay is Adam."""

TRANSFORMER: Settings = {
    **{"network": "transformer", "layers": 2, "layer_norm": "post", "positions": "sinusoidal", "biases": False},
    **{"framed": True, "initialization": "torch", "lr": 1e-3, "warmup": 10, "precision": "highest", "snapshots": 0},
}
"""The paper's: LayerNorm behind each part of a block, no biases."""

PROFILES = QUICK, FULL, TINY = sizes(
    modulus=(31, 97, 7),
    group=("S4", "S5", "Z7"),
    layers=(2, 2, 1),
    width=(64, 128, 8),
    decay=(2.0, 1.0, 1.0),
    vocabulary=(None, 239),
    batch=(128, 512, 16),  # half of the training set where that is less
    steps=(2_000, 10_000, 6),
    plain_steps=(4_000, 30_000, 6),  # of division without weight decay, beside that with it
    long_steps=(2_000, 40_000, 6),  # of times, where decay leads, wrong labels, and of the product that is looked into
    seeds=(1, 2),
    division_fraction=(0.7, 0.5, 0.5),
    studied=(ADDITION, PRODUCT, PRODUCT),  # the operation of times, variants and wrong labels
    operations=(
        (ADDITION, "x · y", "x − y", DIVISION, "x² + xy + y² + x", CUBIC),
        (*OPERATIONS,),
        (ADDITION, "x − y", DIVISION, CUBIC, PRODUCT),
    ),
    fractions=((0.4, 0.7), (0.2, 0.3, 0.4, 0.5, 0.7, 0.95), (0.5,)),
    group_fractions=((0.9,), (0.3, 0.4, 0.5, 0.7), (0.5,)),  # the unembedding is looked at with the largest
    shown_fraction=(0.7, 0.7, 0.5),  # of x + y, where its unembedding is looked at
    time_fractions=((0.4, 0.7), (0.4, 0.5, 0.6, 0.7, 0.85), (0.5,)),
    variants=((MINIBATCHES, DECAYED, TO_START), (*VARIANTS,), (MINIBATCHES, DECAYED)),
    variant_fractions=((0.7,), (0.4, 0.7), (0.5,)),
    tuned_fraction=(0.7, 0.5, 0.5),
    tuned_rates=((1e-3, 3e-3), (1e-3, 3e-3, 1e-2), (1e-3,)),
    tuned_decays=((0.0, 1.0, 2.0), (0.0, 0.3, 1.0, 3.0), (0.0, 1.0)),
    center_rates=((1e-3, 3e-3), (3e-4, 1e-3, 3e-3, 1e-2), (1e-3,)),
    center_decays=((0.0, 1.0, 2.0), (0.0, 0.3, 1.0, 3.0, 10.0), (0.0, 1.0)),
    # In the paper 10, 100, 1 000, 2 000 and 3 000 labels.
    wrong=((0.0, 0.14, 0.42), tuple(labels / 10_080 for labels in (0, 10, 100, 1_000, 2_000, 3_000)), (0.0, 0.2)),
    wrong_fraction=(0.7, 0.7, 0.5),
    evaluations=(60, 80, 4),
    # Of runs as long as the paper's: times of division, x³ + xy² + y, decay to the start.
    paper_steps=(2_000, 100_000, 6),
    scarce_fractions=((0.4, 0.7), (0.25, 0.26, 0.28, 0.3, 0.4, 0.5), (0.4, 0.5)),
    scarce_seeds=(1, 5),
    scarce_evaluations=(60, 200, 4),
    cubic_fractions=((0.7,), (0.7, 0.95), (0.5,)),
    lasting_steps=(4_000, 500_000, 6),  # of division without weight decay
    lasting_evaluations=(60, 3_000, 4),
    # Groups whose cosets are looked at, each with its share of the table.
    coset_groups=((("S4", 0.9),), (("S5", 0.7), ("S4", 0.9), ("A4", 0.9)), (("Z7", 0.5),)),
    coset_steps=(2_000, 15_000, 6),
    coset_seeds=(1, 16),
    minima_fraction=(0.7, 0.5, 0.5),
    minima_steps=(2_000, 20_000, 6),
    minima_seeds=(1, 20),
    left_out=(("fig1c", "fig1l", "figA5", "cubic", "to_start"), (), ("figA5",)),
)


def trained(s: Sizes, operation: str, *fractions: float, seeds: int | None = None, **more: Any) -> Runs:
    """An operation at fractions of its table, with every seed. Division, which lacks the pairs with y = 0, has as many
    examples as the other operations."""
    of_group, found = "group" in OPERATIONS[operation], Runs([])
    for fraction in fractions:
        examples = round(fraction * (len(cayley_table(s.group)) if of_group else s.modulus) ** 2)
        batch = min(s.batch, math.ceil(examples / 2))
        task = {"task": OPERATIONS[operation].format(group=s.group), "modulus": None if of_group else s.modulus}
        size = {"width": s.width, "layers": s.layers, "vocabulary": s.vocabulary, "examples": examples}
        schedule = {"weight_decay": s.decay, "batch_size": batch, "steps": s.steps, "evaluations": s.evaluations}
        usual = TRANSFORMER | task | size | schedule | {"optimizer": "adamw"}
        some = runs(usual, **more).but(seed=range(seeds or s.seeds))
        place = f"in {s.group}" if of_group else f"modulo {s.modulus}"
        found += some.tag(operation=operation, fraction=fraction, place=place)
    return found


def what(t: Table) -> str:
    """Such as x ∘ y in S5."""
    return f"{t.one('operation')} {t.one('place')}"


def grokking(s: Sizes, *fractions: float, **more: Any) -> Runs:
    """The operation that is studied, until it is grokked."""
    return trained(s, s.studied, *fractions, steps=s.long_steps, until=0, **more)


def lasting_division(s: Sizes, **more: Any) -> Runs:
    """Division by Adam without weight decay, for long, with the norm of its last layer."""
    length = {"steps": s.lasting_steps, "evaluations": s.lasting_evaluations, "record": ("last_layer",)}
    return trained(s, DIVISION, s.division_fraction, seeds=2, weight_decay=0.0, **length, **more)


def products(s: Sizes) -> Runs:
    """The group's product from most data, with weights kept on the way."""
    return trained(s, PRODUCT, max(s.group_fractions), steps=s.long_steps, snapshots=s.evaluations // 2)
