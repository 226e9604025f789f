"""Contestants, tasks, and the search by which every contestant is tuned: quick on two CPU cores, full on a GPU."""

from typing import Any

from modgrok.reproduce.form import Runs, Settings, Sizes, runs, sizes
from modgrok.reproduce.power2022.sizes import ADDITION, DIVISION, OPERATIONS, TRANSFORMER
from modgrok.training.optimizers import OPTIMIZERS

BASELINE, MOVING_AVERAGE = "AdamW", "Grokfast, MA"
WINDOW = 100
"""Steps that Grokfast's moving average collects before it acts."""
CONTESTANTS: dict[str, dict[str, Any]] = {
    BASELINE: {"optimizer": "adamw"},
    "Grokfast, EMA": {"optimizer": "adamw", "grokfast": "ema"},
    MOVING_AVERAGE: {"optimizer": "adamw", "grokfast": "ma", "grokfast_window": WINDOW},
    "⊥Grad": {"optimizer": "adamw", "orthogonal": True},
    "StableMax": {"optimizer": "adamw", "loss": "stablemax"},
    "Muon": {"optimizer": "muon"},
    "Lion": {"optimizer": "lion"},
}
"""What each adds to the same network; Grokfast's own numbers are those of its authors (α 0.98, λ 2; 100, λ 5)."""
KNOWN = 0.95
"""Test accuracy that ends a run."""
FASTER = 0.8
"""A contestant counts as faster where its median is below so much of the baseline's."""
NETWORK = {"network": "mlp", "activation": "quadratic", "biases": False, "loss": "cross_entropy"}
SCHEDULE = {"evaluations": 100, "snapshots": 0, "until": 0, "threshold": KNOWN}

PROFILES = QUICK, FULL, TINY = sizes(
    tasks=(
        {
            "figN": {"task": "n + m", "modulus": 31, "fraction": 0.55},
            "figP": {"task": "n * m", "modulus": 31, "fraction": 0.55},
            "figG": {"task": "group:S4", "fraction": 0.7},
        },
        {
            "figN": {"task": "n + m", "modulus": 97, "fraction": 0.5},
            "figP": {"task": "n * m", "modulus": 97, "fraction": 0.5},
            "figG": {"task": "group:S5", "fraction": 0.5},
        },
        {"figN": {"task": "n + m", "modulus": 5}},
    ),
    width=(128, 256, 4),
    steps=(300, 1_000, 3),
    rates=((30.0, 100.0), (30.0, 100.0, 300.0, 1_000.0, 3_000.0), (1.0,)),  # in units of the optimizer's usual one
    decays=((0.0, 0.1, 0.3, 1.0, 3.0), (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0), (1.0,)),  # likewise
    seeds=(2, 4, 1),  # compared, beside seed 0, which chooses
    # The arenas of the authors.
    own_modulus=(31, 97, 5),
    own_width=(32, 128, 8),
    own_batch=(128, 512, 8),
    own_fraction=(0.7, 0.5, 0.5),
    own_seeds=(1, 3, 1),
    filter_steps=(400, 50_000, 3),
    edge_modulus=(31, 113, 5),
    edge_width=(100, 200, 4),
    edge_fraction=(0.7, 0.4, 0.5),
    edge_steps=(2_000, 80_000, 3),
    inner_steps=(400, 10_000, 3),
    inner_seeds=(1, 5, 1),
    left_out=((), (), ("figP", "figG")),
)


PRODUCT = "x · y"
ADAM, MA, EMA_DECAYED, MA_DECAYED = "Adam", "MA", "EMA, decay 0.005", "MA, decay 0.01"
FILTERS: dict[str, Settings] = {
    ADAM: {},
    "Adam, decay 0.005": {"weight_decay": 0.005},
    "Adam, decay 0.01": {"weight_decay": 0.01},
    "EMA": {"grokfast": "ema"},
    EMA_DECAYED: {"grokfast": "ema", "weight_decay": 0.005},
    MA: {"grokfast": "ma", "grokfast_window": WINDOW},
    MA_DECAYED: {"grokfast": "ma", "grokfast_window": WINDOW, "weight_decay": 0.01},
}
"""Of Lee et al.: the decay is part of the gradient, as Adam has it."""
ORTHOGONAL, STABLE, ADAMW = ("⊥Grad, rate 0.005", "⊥Grad, rate 0.01"), "StableMax, rate 0.01", "AdamW"
STABILITY: dict[str, Settings] = {
    "AdamW, rate 0.005": {"lr": 0.005, "beta2": 0.99},
    ORTHOGONAL[0]: {"lr": 0.005, "beta2": 0.99, "orthogonal": True},
    "AdamW, rate 0.01": {"lr": 0.01, "beta2": 0.999},
    ORTHOGONAL[1]: {"lr": 0.01, "beta2": 0.999, "orthogonal": True},
    STABLE: {"lr": 0.01, "beta2": 0.999, "loss": "stablemax", "loss_precision": "float64"},
}
"""Of Prieto et al.: Fig. 6 at the lower rate, Fig. 1 at the higher one; their code gives ⊥Grad a β2 of 0.99, which its
wrapper turns into 0.999."""
BESIDE = {
    ORTHOGONAL[0]: "AdamW, rate 0.005",
    ORTHOGONAL[1]: "AdamW, rate 0.01",
    STABLE: "AdamW, rate 0.01",
    EMA_DECAYED: "Adam, decay 0.005",
    MA_DECAYED: "Adam, decay 0.01",
}
"""What differs from a contestant in nothing else."""
ARENA = {"evaluations": 200, "snapshots": 0, "until": 0, "threshold": KNOWN, "precision": "highest"}


def filtered(s: Sizes) -> Runs:
    """Grokfast's transformer, as its authors' code has it but for the places of LayerNorm."""
    own = {"layer_norm": "pre", "positions": "learned", "biases": True, "framed": False, "activation": "gelu"}
    trained = {"task": OPERATIONS[PRODUCT], "optimizer": "adam", "weight_decay": 0.0, "steps": s.filter_steps}
    return runs(TRANSFORMER | own | _sizes(s) | trained | ARENA, contestant=FILTERS, seed=range(s.own_seeds))


def edges(s: Sizes) -> Runs:
    own = {"network": "mlp", "depth": 2, "width": s.edge_width, "activation": "relu", "biases": False}
    task = {"task": "n + m", "modulus": s.edge_modulus, "fraction": s.edge_fraction, "steps": s.edge_steps}
    trained = {"optimizer": "adamw", "weight_decay": 0.0, "epsilon": 1e-25}
    return runs(own | task | trained | ARENA, contestant=STABILITY, seed=range(s.own_seeds))


def inner_matrices(s: Sizes) -> Runs:
    """AdamW at Power's rate and decay, and Jordan's Muon at his rate with the same decay of every weight."""
    rate = 0.02
    contestants = {
        ADAMW: {"optimizer": "adamw", "lr": 1e-3, "weight_decay": 1.0},
        "Muon": {"optimizer": "muon-adamw", "lr": rate, "adam_rate": 1e-3 / rate, "weight_decay": 1e-3 / rate},
    }
    operations = {name: {"task": OPERATIONS[name]} for name in (ADDITION, PRODUCT, DIVISION)}
    usual = TRANSFORMER | _sizes(s) | ARENA | {"steps": s.inner_steps}
    return runs(usual, operation=operations, contestant=contestants, seed=range(s.inner_seeds))


def _sizes(s: Sizes) -> Settings:
    examples = round(s.own_fraction * s.own_modulus**2)
    return {"modulus": s.own_modulus, "width": s.own_width, "batch_size": s.own_batch, "examples": examples}


def searched(study: str, s: Sizes) -> Runs:
    """For every contestant and trial a run for each seed, the one that chooses first; as many trials for each."""
    task, found = s.tasks[study], Runs([])
    for name, more in CONTESTANTS.items():
        usual = OPTIMIZERS[more["optimizer"]]
        found += runs(
            {**NETWORK, **SCHEDULE, **task, **more, "width": s.width, "steps": s.steps},
            lr=[float(f"{usual.standard_rate * rate:.3g}") for rate in s.rates],
            weight_decay=[float(f"{usual.standard_decay * decay:.3g}") for decay in s.decays],
            seed=range(1 + s.seeds),
        ).tag(contestant=name)
    return found.tag(setting=", ".join(f"{key} {value}" for key, value in task.items()))
