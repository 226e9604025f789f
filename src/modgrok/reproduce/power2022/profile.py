"""The transformer of Power et al. and how much of it is trained."""

import dataclasses
import math
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce.power2022.operations import ADDITION, CUBIC, DIVISION, OPERATIONS, PRODUCT

PLAIN: dict[str, Any] = {"weight_decay": 0.0}
"""AdamW without decay is Adam."""
VARIANTS: dict[str, dict[str, Any]] = {
    "Adam, full batch": PLAIN | {"batch_size": None},
    "Adam, minibatches": PLAIN,
    "Adam, full batch, noisy updates": PLAIN | {"batch_size": None, "update_noise": 1.0},
    "Adam, dropout 0.1": PLAIN | {"dropout": 0.1},
    "AdamW": {},
    "AdamW to the start": {"decay_to": "start"},
    "Adam, rate 0.0003": PLAIN | {"lr": 3e-4},
    "Adam, rate 0.003": PLAIN | {"lr": 3e-3},
    "Adam, noisy weights": PLAIN | {"weight_noise": 0.01},
}
"""Of Fig. 2 left."""
CENTERS = ("Adam, minibatches", "AdamW to the start")
"""Variants that, given some decay, differ only in where it leads: to zero and to the start."""


def permutation_numbers(*of: tuple[int, ...]) -> tuple[int, ...]:
    """Where permutations stand in lexicographic order, which is how a group's elements are numbered."""
    order = {one: number for number, one in enumerate(permutations(range(len(of[0]))))}
    return tuple(order[one] for one in of)


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    modulus: int
    group: str
    order: int
    """Elements of the group."""
    subgroup: tuple[int, ...]
    """Elements that generate the subgroup whose cosets are looked for."""
    layers: int
    width: int
    decay: float
    vocabulary: int | None
    batch: int
    """Examples per step, or half of the training set where that is less."""
    steps: int
    plain_steps: int
    """Steps of division without weight decay."""
    long_steps: int
    """At most, where times, where decay leads and wrong labels are studied, and of the product whose unembedding is
    looked at."""
    seeds: int
    division_fraction: float
    studied: str
    """The operation of which times, variants and wrong labels are studied."""
    operations: tuple[str, ...]
    fractions: tuple[float, ...]
    """Of all operations modulo p."""
    shown_fraction: float
    """At which the unembedding of x + y is looked at."""
    group_fractions: tuple[float, ...]
    """Of all operations of the group; the unembedding of its product is looked at with the largest."""
    time_fractions: tuple[float, ...]
    """Of the operation whose times are studied."""
    variants: tuple[str, ...]
    variant_fractions: tuple[float, ...]
    variant_seeds: int
    tuned_fraction: float
    tuned_rates: tuple[float, ...]
    tuned_decays: tuple[float, ...]
    """Learning rates and weight decays among which every variant is given its best."""
    center_rates: tuple[float, ...]
    center_decays: tuple[float, ...]
    """Likewise, where decay to zero and to the start are compared."""
    wrong: tuple[float, ...]
    """Shares of the training set with wrong labels; in the paper 10, 100, 1 000, 2 000 and 3 000 labels."""
    wrong_fraction: float
    evaluations: int = 80
    left_out: tuple[str, ...] = ()

    def train(self, operation: str, fraction: float, seed: int = 0, **more: Any) -> Experiment:
        """Two blocks with LayerNorm behind each part, sinusoidal positions, no biases; AdamW with rate 0.001, weight
        decay 1, warm-up of 10 steps and minibatches. Division, which lacks the pairs with y = 0, has as many examples
        as the other operations."""
        chosen = OPERATIONS[operation]
        examples = round(fraction * (self.order if chosen.of_group else self.modulus) ** 2)
        settings: dict[str, Any] = {
            "modulus": None if chosen.of_group else self.modulus,
            "network": "transformer",
            "width": self.width,
            "layers": self.layers,
            "layer_norm": "post",
            "positions": "sinusoidal",
            "biases": False,
            "framed": True,
            "initialization": "torch",
            "vocabulary": self.vocabulary,
            "examples": examples,
            "optimizer": "adamw",
            "lr": 1e-3,
            "weight_decay": self.decay,
            "batch_size": min(self.batch, math.ceil(examples / 2)),
            "warmup": 10,
            "precision": "highest",
            "steps": self.steps,
            "evaluations": self.evaluations,
            "snapshots": 0,
            "seed": seed,
        }
        return Experiment(chosen.task.format(group=self.group), **settings | more)

    def divisions(self) -> dict[str, list[Experiment]]:
        """A part of the division table, with and without weight decay."""
        kinds: dict[str, dict[str, Any]] = {
            "with": {},
            "without": {"weight_decay": 0.0, "steps": self.plain_steps},
        }
        return {
            kind: [self.train(DIVISION, self.division_fraction, seed, **more) for seed in range(self.seeds)]
            for kind, more in kinds.items()
        }

    def operation_runs(self) -> dict[str, dict[float, list[Experiment]]]:
        """Every operation at every fraction."""
        return {
            name: {
                fraction: [self.train(name, fraction, seed) for seed in range(self.seeds)]
                for fraction in (self.group_fractions if OPERATIONS[name].of_group else self.fractions)
            }
            for name in self.operations
        }

    def time_runs(self) -> dict[float, list[Experiment]]:
        """The operation that is studied at every one of its fractions, until it is grokked."""
        return {
            fraction: [self.train(self.studied, fraction, seed, **self._until_grokked) for seed in range(self.seeds)]
            for fraction in self.time_fractions
        }

    @property
    def _until_grokked(self) -> dict[str, Any]:
        return {"steps": self.long_steps, "until": 0}

    def variant_runs(self) -> dict[str, dict[float, list[Experiment]]]:
        """The operation that is studied under every variant."""
        return {
            name: {
                fraction: [
                    self.train(self.studied, fraction, seed, **VARIANTS[name]) for seed in range(self.variant_seeds)
                ]
                for fraction in self.variant_fractions
            }
            for name in self.variants
        }

    def tuned_runs(self) -> dict[str, list[list[Experiment]]]:
        """The operation that is studied under every variant, with every rate and decay and seed, until it is grokked.
        Variants that are nothing but another rate or decay are among these."""
        return {
            name: self._searched(name, self.tuned_rates, self.tuned_decays, self.steps)
            for name in self.variants
            if VARIANTS[name].keys() - {"lr", "weight_decay"} or VARIANTS[name] is PLAIN
        }

    def center_runs(self) -> dict[str, list[list[Experiment]]]:
        """Likewise, and for longer, decay to zero and to the start."""
        return {
            name: self._searched(name, self.center_rates, self.center_decays, self.long_steps)
            for name in CENTERS
            if name in self.variants
        }

    def _searched(
        self, variant: str, rates: tuple[float, ...], decays: tuple[float, ...], steps: int
    ) -> list[list[Experiment]]:
        settings = VARIANTS[variant] | {"steps": steps, "until": 0}
        return [
            [
                self.train(self.studied, self.tuned_fraction, seed, **settings | {"lr": lr, "weight_decay": decay})
                for seed in range(self.seeds)
            ]
            for lr in rates
            for decay in decays
        ]

    def wrong_runs(self) -> dict[float, list[Experiment]]:
        """The operation that is studied with wrong labels in the training set, until it is grokked all the same."""
        return {
            share: [self._mislabeled(share, seed, **self._until_grokked) for seed in range(self.seeds)]
            for share in self.wrong
        }

    def _mislabeled(self, share: float, seed: int = 0, **more: Any) -> Experiment:
        return self.train(self.studied, self.wrong_fraction, seed, wrong_labels=share, **more)

    def ended(self) -> list[Experiment]:
        """The networks whose minima are compared: one of every variant, of every share of wrong labels, and of every
        operation at the fractions of the variants."""
        cells = [cell for fractions in self.variant_runs().values() for cell in fractions.values()]
        cells += [[self._mislabeled(share)] for share in self.wrong]
        for fractions in self.operation_runs().values():
            cells += [cell for fraction, cell in fractions.items() if fraction in self.variant_fractions]
        return list(dict.fromkeys(cell[0] for cell in cells))

    @property
    def studied_name(self) -> str:
        """For captions."""
        place = f"in {self.group}" if OPERATIONS[self.studied].of_group else f"modulo {self.modulus}"
        return f"{self.studied} {place}"

    def product_runs(self) -> list[Experiment]:
        """The group's product from most data, with weights kept on the way."""
        more = {"steps": self.long_steps, "snapshots": self.evaluations // 2}
        return [self.train(PRODUCT, max(self.group_fractions), seed, **more) for seed in range(self.seeds)]

    def shown(self) -> dict[str, Experiment]:
        """The networks whose unembedding is looked at."""
        return {
            "sum": self.train(ADDITION, self.shown_fraction),
            "product": self.product_runs()[0],
        }


TINY = Profile(
    name="tiny",
    modulus=7,
    group="Z7",
    order=7,
    subgroup=(1,),
    layers=1,
    width=8,
    decay=1.0,
    vocabulary=None,
    batch=16,
    steps=6,
    plain_steps=6,
    long_steps=6,
    seeds=1,
    division_fraction=0.5,
    studied=PRODUCT,
    operations=(ADDITION, "x − y", DIVISION, CUBIC, PRODUCT),
    fractions=(0.5,),
    shown_fraction=0.5,
    group_fractions=(0.5,),
    time_fractions=(0.5,),
    variants=("Adam, minibatches", "AdamW"),
    variant_fractions=(0.5,),
    variant_seeds=1,
    tuned_fraction=0.5,
    tuned_rates=(1e-3,),
    tuned_decays=(0.0, 1.0),
    center_rates=(1e-3,),
    center_decays=(0.0, 1.0),
    wrong=(0.0, 0.2),
    wrong_fraction=0.5,
    evaluations=4,
    left_out=("figA5",),
)
"""For tests of the pipeline: everything runs, nothing is learnt."""
QUICK = dataclasses.replace(
    TINY,
    name="quick",
    modulus=31,
    group="S4",
    order=24,
    subgroup=permutation_numbers((1, 0, 3, 2), (2, 3, 0, 1)),
    layers=2,
    width=64,
    decay=2.0,
    batch=128,
    steps=2_000,
    plain_steps=4_000,
    long_steps=2_000,
    division_fraction=0.7,
    studied=ADDITION,
    operations=(ADDITION, "x · y", "x − y", DIVISION, "x² + xy + y² + x", CUBIC),
    fractions=(0.4, 0.7),
    shown_fraction=0.7,
    group_fractions=(0.9,),
    time_fractions=(0.4, 0.7),
    variants=("Adam, minibatches", "AdamW", "AdamW to the start"),
    variant_fractions=(0.7,),
    tuned_fraction=0.7,
    tuned_rates=(1e-3, 3e-3),
    tuned_decays=(0.0, 1.0, 2.0),
    center_rates=(1e-3, 3e-3),
    center_decays=(0.0, 1.0, 2.0),
    wrong=(0.0, 0.14, 0.42),
    wrong_fraction=0.7,
    evaluations=60,
    left_out=(),
)
"""Two CPU cores: p = 31 instead of 97, vectors half as long, minibatches of 128, weight decay 2, 2 000 steps instead of
100 000, one seed, six operations modulo p. Such small tables need more than half of their entries. Times, variants and
wrong labels are studied on x + y, since no small group is learnt so soon; of the permutations of four points only the
unembedding is looked at."""
FULL = dataclasses.replace(
    QUICK,
    name="full",
    modulus=97,
    group="S5",
    order=120,
    subgroup=permutation_numbers((3, 4, 2, 0, 1), (0, 2, 1, 4, 3)),
    width=128,
    vocabulary=239,
    decay=1.0,
    batch=512,
    steps=10_000,
    plain_steps=30_000,
    long_steps=40_000,
    seeds=2,
    division_fraction=0.5,
    studied=PRODUCT,
    operations=tuple(name for name, operation in OPERATIONS.items() if operation.listed),
    fractions=(0.2, 0.3, 0.4, 0.5, 0.7, 0.95),
    group_fractions=(0.3, 0.4, 0.5, 0.7),
    time_fractions=(0.4, 0.5, 0.6, 0.7, 0.85),
    variants=tuple(VARIANTS),
    variant_fractions=(0.4, 0.7),
    tuned_fraction=0.5,
    tuned_rates=(1e-3, 3e-3, 1e-2),
    tuned_decays=(0.0, 0.3, 1.0, 3.0),
    center_rates=(3e-4, 1e-3, 3e-3, 1e-2),
    center_decays=(0.0, 0.3, 1.0, 3.0, 10.0),
    wrong=tuple(count / 10_080 for count in (0, 10, 100, 1_000, 2_000, 3_000)),
    wrong_fraction=0.7,
    evaluations=80,
)
"""The paper's operations, network and rates, for a GPU: 10 000 steps instead of 100 000 (30 000 instead of a million
for division without decay, 40 000 for times, where decay leads, wrong labels and cosets), two seeds instead of three,
fewer fractions."""
