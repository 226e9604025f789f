"""How much is trained: every size, seed, grid and number of steps of the reproduction.

quick: two CPU cores, a few minutes; p = 97 for single networks, smaller p and fewer seeds for sweeps. full: the paper's
scale with at least five seeds everywhere, for one GPU.
"""

from dataclasses import dataclass
from typing import Any

from modgrok.reproduce.form import Runs, Settings, Sizes, runs, sizes


def natural_unit(modulus: int, width: int) -> float:
    """(p/97)³ (N/500), the unit of GD's learning rate: the gradient at initialization is about 2/(p³N)."""
    return (modulus / 97) ** 3 * (width / 500)


def natural_rate(rate: float, modulus: int, width: int) -> float:
    """A rate in natural units as GD takes it, with four digits."""
    return float(f"{rate * natural_unit(modulus, width):.4g}")


@dataclass(frozen=True)
class Recipe:
    """One way to train: its rate, and for how long."""

    rate: float
    """Learning rate; in natural units for gradient descent, as it is for Adam."""
    steps: int
    evaluations: int = 120

    def gd(self, modulus: int, width: int, fraction: float) -> Settings:
        """n + m by full-batch gradient descent."""
        rate = natural_rate(self.rate, modulus, width)
        return self._settings(modulus, width, fraction) | {"optimizer": "gd", "lr": rate}

    def adamw(self, modulus: int, width: int, fraction: float) -> Settings:
        """n + m by full-batch AdamW, with its default weight decay."""
        return self._settings(modulus, width, fraction) | {"optimizer": "adamw", "lr": self.rate}

    def _settings(self, modulus: int, width: int, fraction: float) -> Settings:
        schedule = {"steps": self.steps, "evaluations": self.evaluations, "snapshots": 0}
        return {"task": "n + m", "modulus": modulus, "width": width, "fraction": fraction, **schedule}


TINY_GD, TINY_ADAMW = Recipe(1e6, 60, 20), Recipe(0.1, 60, 20)
GD_FRACTION, ADAMW_FRACTION = 0.49, 0.5
"""α of the paper's figures of single networks."""
ADAMW_DECAY, USUAL_DECAY = 0.03, 0.05
"""Weight decay of AdamW in these figures, and in statements without a figure."""
PROFILES = QUICK, FULL, TINY = sizes(
    gd_fraction=GD_FRACTION,
    adamw_fraction=ADAMW_FRACTION,
    adamw_decay=ADAMW_DECAY,
    # Single networks: figures 0, 1, 2, 4 and A1 to A4. At full scale GD's rate is a quarter of the one from which
    # gradients fluctuate late.
    modulus=(97, 97, 13),
    width=(500, 500, 64),
    seeds=(2, 5),
    gd=(Recipe(1e6, 2_500, 100), Recipe(1e5, 80_000, 400), TINY_GD),
    adamw=(Recipe(0.1, 700, 200), Recipe(0.03, 3_000, 600), TINY_ADAMW),
    functions=(Recipe(0.1, 400, 30), Recipe(0.03, 2_000, 100), TINY_ADAMW),  # AdamW on (n+m)², n²+m² and nm
    cross_entropy=(Recipe(0.05, 400, 30), Recipe(0.01, 2_000, 100), TINY_ADAMW),
    adam_entropy=(Recipe(0.05, 400, 30), Recipe(0.01, 6_000, 150), TINY_ADAMW),  # Adam, no decay, in section 4.1
    # Sweeps: figure 3 and what hangs on it.
    sweep_modulus=(31, 97, 13),
    sweep_width=(128, 500, 64),
    sweep_seeds=(2, 5),
    fractions=((0.35, 0.5, 0.8), (0.15, 0.2, 0.225, 0.25, 0.275, 0.3, 0.4, 0.5, 0.8), (0.5, 0.8)),
    descent=(Recipe(1e6, 4_000, 60), Recipe(1e6, 10_000, 150), TINY_GD),  # figure 3b
    adaptive=(Recipe(0.03, 2_000, 60), Recipe(0.03, 4_000, 150), TINY_ADAMW),
    widths=((8, 16, 32, 48, 64), (8, 16, 32, 64, 96, 128, 256, 500), (16, 32)),
    width_fraction=(0.65, 0.5, 0.8),  # the paper's 0.5 is too little at small p
    curve_widths=((8, 32), (16, 32, 64), (16, 32)),  # figure 3b with other data and epochs
    curve_fractions=((0.5, 0.8), (0.3, 0.8), (0.5, 0.8)),
    curve_seeds=(3, 5, 2),
    # Random phases: figures 3b and A1; in the latter an activation stops at the first width where it is always right.
    closed_widths=(
        (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512),
        (8, 16, 32, 48, 64, 96, 128, 144, 192, 256, 384, 512, 1024),
        (16, 64, 256),
    ),
    activation_widths=(tuple(2**i for i in range(5, 13)), tuple(round(2 ** (i / 2)) for i in range(10, 33)), (32, 256)),
    closed_seeds=(3, 5, 2),
    # n² + m² + nm (at 0.73 until nothing changes, and further α), n³ + nm² + m (at 0.9 and further α), random tables.
    hard_modulus=(47, 97, 13),
    hard_width=(160, 1000, 64),
    hard_seeds=(2, 5),
    hard=(Recipe(1e6, 6_000, 80), Recipe(1e6, 40_000, 150), TINY_GD),
    hard_fractions=((), (0.85, 0.9, 0.95, 0.98), (0.95,)),
    plateau_steps=(6_000, 160_000, 120),  # of Fig. A5
    hard_widths=((160,), (500, 700, 1_000, 1_400, 2_000), (32, 64)),  # n² + m² + nm at 0.73
    cubic_fractions=((0.95,), (0.95, 0.98)),
    never=(Recipe(1e6, 6_000, 60), Recipe(1e6, 10_000, 100), TINY_GD),  # what is not learned
    mixed=(Recipe(1e6, 2_500, 60), Recipe(1e6, 40_000, 150), TINY_GD),  # sums of unlike functions
    mixed_width=(128, 1_000, 64),
    mixed_seeds=(2, 3),
    mixed_fractions=((0.65, 0.9), (0.3, 0.73, 0.9, 0.95, 0.98), (0.7, 0.9)),
    # The critical fractions of functions: of those that are learned easily, and of those that are not.
    easy_fractions=((0.3, 0.4, 0.5, 0.6), (0.18, 0.2, 0.22, 0.24, 0.26, 0.28, 0.3), (0.5, 0.8)),
    hard_function_fractions=((0.75, 0.9), (0.75, 0.85, 0.9, 0.95, 0.98), (0.5, 0.8)),
    complexity=(Recipe(4e6, 1_000, 150), Recipe(2e6, 10_000, 150), Recipe(2e6, 60, 150)),
    complexity_seeds=(2, 4, 2),
    kernel_fractions=((0.5, 0.7), (0.3, 0.5, 0.7, 0.9), (0.5,)),
    # The delay between memorizing and grokking: GD from little to much data and from too little, AdamW from a fifth.
    delay=(Recipe(1e6, 4_000, 80), Recipe(2e6, 10_000, 150), TINY_GD),
    delay_fractions=((0.55, 0.65, 0.85), (0.225, 0.25, 0.3, 0.4, 0.5, 0.8), (0.5, 0.8)),
    late_fractions=((0.55,), (0.225, 0.25), (0.5,)),
    memorizing_fraction=(0.35, 0.15, 0.3),
    dramatic=(Recipe(0.1, 4_000, 120), Recipe(0.1, 4_000, 150), TINY_ADAMW),
    dramatic_seeds=(1, 5),
    # The least training loss with random labels, beside that at which n + m begins to be answered.
    descending=(Recipe(1e6, 3_000, 120), Recipe(1e6, 20_000, 400), TINY_GD),
    descending_fractions=((0.8,), (0.3, 0.5), (0.8,)),
    descending_widths=((128,), (500, 2_000), (64,)),
    ways=(Recipe(1e6, 3_000, 30), Recipe(4e5, 10_000, 60), TINY_GD),  # momentum, weight decay and dropout
    # The search for rates and strengths: a grid of three rates to the decade where a strength is searched too, else
    # rates × strengths rates, `search_dense` to the decade; around these rates of GD (in natural units) and Adam.
    search_rates=(3, 5, 1),
    search_strengths=(3, 3, 1),
    search_dense=(3, 6),
    search_descent=(4e6, 2e6, 2e6),
    search_adaptive=1.0,
    search_seeds=(2, 4),
    search_steps=(1_000, 4_000, 60),
    search_evaluations=(80, 150, 20),
    # The same search for the data that is needed.
    near_fractions=((), (0.15, 0.165, 0.18, 0.19, 0.2, 0.21, 0.22, 0.24), (0.5, 0.8)),
    near_seeds=(2, 8),
    # Near the critical fraction, trained for long; plain gradient descent at two α for longest.
    long_fractions=(
        (0.25, 0.35, 0.45, 0.5, 0.55, 0.75),
        (0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.4),
        (0.5, 0.8),
    ),
    long_seeds=(3, 5, 2),
    long_steps=(2_000, 40_000, 60),
    longest_fractions=((), (0.2, 0.2125)),
    longest_steps=(None, 300_000),
    # The law of the critical fraction: p for each optimizer, N under Adam, α in units of a first guess for each p.
    law_moduli=(
        {"Adam": (23, 31, 47)},
        {"GD": (31, 53, 79, 113), "Adam": (23, 31, 41, 53, 67, 83, 97, 113), "AdamW": (31, 53, 79, 113)},
        {"Adam": (11, 13)},
    ),
    law_widths=((64,), (125, 250, 1000), (32,)),
    law_factors=((0.6, 0.7, 0.8, 0.9, 1.0), (0.6, 0.68, 0.75, 0.82, 0.88, 0.94, 1.0, 1.06, 1.13, 1.2, 1.3), (0.5, 0.7)),
    law_seeds=(4, 6, 2),
    law_steps=(600, 5_000, 60),
    # Random and guided choices of the training pairs.
    sampling_fractions=(
        (0.48, 0.495, 0.51, 0.525, 0.54),
        (0.22, 0.235, 0.245, 0.255, 0.265, 0.275, 0.285, 0.3),
        (0.8,),
    ),
    sampling_seeds=(6, 12, 2),
    sampling_steps=(600, 3_000, 60),
    # Statements without a figure and open questions, at the p, N and seeds of the sweeps: `usual_fraction` is one from
    # which n + m is grokked with some delay.
    usual_fraction=(0.65, 0.5, 0.7),
    usual_adamw=(Recipe(0.03, 600, 60), Recipe(0.1, 1_000, 100), TINY_ADAMW),
    usual_gd=(Recipe(1e6, 2_500, 100), Recipe(1e6, 4_000, 150), TINY_GD),
    composite_moduli=((30, 33), (60, 64, 91, 96, 100), (12, 15)),
    three_variables=(((11, 1000),), ((11, 1000), (17, 2000)), ((5, 64),)),  # p and N of sums of three variables
    capacity_widths=((16, 32, 128), (16, 32, 64, 96, 128, 256, 500, 1000), (8, 64)),  # random labels
    narrow_widths=((32, 64), (64, 96, 144, 250, 500), (32,)),  # where phases are shuffled
    interference_widths=((120, 480, 1_920), (96, 384, 1_536, 6_144), (64, 256)),
    feature_widths=((128, 1_000), (500, 4_000), (64,)),  # of random features
    # Losses of closed forms.
    floor_widths=((60, 240, 960, 3840, 15360), (192, 768, 3072, 12288, 49152, 98304), (64, 256, 1024)),
    memorizer_seeds=(1, 3),
    memorizer_moduli=((31,), (31, 59, 149), (11, 13)),
    memorizer_widths=((125,), (60, 125, 250, 1000), (32, 64)),
    memorizer_steps=(100, 100, 20),
    flow_steps=(160, 300, 30),
    # Runs whose sharpness (at several rates) and tangent kernel are followed from snapshot to snapshot.
    followed=(Recipe(1e6, 2_500, 60), Recipe(1e6, 6_000, 140), TINY_GD),
    followed_fraction=(0.65, 0.25, 0.7),
    followed_snapshots=(14, 140, 4),
    followed_seeds=(1, 5),
    sharpness_rates=((5e5, 2e6), (5e5, 1e6, 2e6, 4e6), (1e6,)),
    power_moduli=((31,), (31, 59, 83, 97), (11,)),
    power_steps=(1_500, 3_000, 60),
    left_out=(("more_data", "quadratic_form_data", "near_critical", "complexity"), (), ()),
)


def addition_by_gd(s: Sizes) -> Runs:
    """n + m under plain gradient descent without any regularization, first and last weights kept."""
    return runs(s.gd.gd(s.modulus, s.width, GD_FRACTION), snapshots=2, seed=range(s.seeds))


def by_adamw(s: Sizes, training: Recipe, **more: Any) -> Runs:
    """n + m, unless another task is asked for, under AdamW with a little weight decay."""
    settings = training.adamw(s.modulus, s.width, ADAMW_FRACTION) | {"weight_decay": ADAMW_DECAY}
    return runs(settings, **more, seed=range(s.seeds))


def usual(s: Sizes, **more: Any) -> Runs:
    """n + m, unless another task is asked for, under AdamW at the sizes of sweeps."""
    settings = s.usual_adamw.adamw(s.sweep_modulus, s.sweep_width, s.usual_fraction) | {"weight_decay": USUAL_DECAY}
    return runs(settings, **more, seed=range(s.sweep_seeds))


def usual_by_gd(s: Sizes, width: int | None = None, **more: Any) -> Runs:
    """n + m under plain gradient descent at the sizes of sweeps."""
    settings = s.usual_gd.gd(s.sweep_modulus, width or s.sweep_width, s.usual_fraction)
    return runs(settings, **more, seed=range(s.sweep_seeds))


def budgets(steps: int) -> tuple[int, ...]:
    """Three budgets within which runs have to grok, at equal ratios up to their steps."""
    return tuple(round(steps / 10**power) for power in (1, 0.5, 0))
