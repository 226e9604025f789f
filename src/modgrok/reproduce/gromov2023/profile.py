"""How much is trained: every size, seed, grid and number of steps of a reproduction in one place.

Learning rates of gradient descent are given in the natural unit (p/97)³ (N/500), in which one number serves all sizes.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from modgrok.experiments import Experiment

GD_FRACTION = 0.49
"""α of the paper's figure of GD dynamics."""
ADAMW_FRACTION = 0.5
ADAMW_DECAY = 0.03


def natural_unit(modulus: int, width: int) -> float:
    """(p/97)³ (N/500), the unit of GD's learning rate: the gradient at initialization is about 2/(p³N)."""
    return (modulus / 97) ** 3 * (width / 500)


@dataclass(frozen=True)
class Training:
    """One way to train: its rate, and for how long."""

    rate: float
    """Learning rate; in natural units for gradient descent, as it is for Adam."""
    steps: int
    evaluations: int = 120

    def descend(self, task: str, modulus: int, width: int, fraction: float, seed: int = 0, **more: Any) -> Experiment:
        """Full-batch gradient descent."""
        rate = float(f"{self.rate * natural_unit(modulus, width):.4g}")
        return self._experiment(task, modulus, width, fraction, seed, {"optimizer": "gd", "lr": rate} | more)

    def adapt(self, task: str, modulus: int, width: int, fraction: float, seed: int = 0, **more: Any) -> Experiment:
        """Full-batch AdamW, with its default weight decay unless another is asked for."""
        return self._experiment(task, modulus, width, fraction, seed, {"optimizer": "adamw", "lr": self.rate} | more)

    def _experiment(
        self, task: str, modulus: int, width: int, fraction: float, seed: int, more: dict[str, Any]
    ) -> Experiment:
        settings = {"steps": self.steps, "evaluations": self.evaluations, "snapshots": 0} | more
        return Experiment(task=task, modulus=modulus, width=width, fraction=fraction, seed=seed, **settings)


@dataclass(frozen=True)
class Search:
    """Sizes of the studies of rates, times and critical fractions, all at the modulus and the width of figure 3."""

    rates: int = 1
    """Rates of the grid around the start where a strength is searched too; an odd number."""
    strengths: int = 1
    """Strengths of the grid; where the rate is all there is to choose, there are rates × strengths of them."""
    dense: int = 3
    """Rates to the decade in the latter case; in the former they are three."""
    descent: float = 2e6
    """Rate from which everything that follows the gradient is searched, in natural units."""
    adaptive: float = 1.0
    """Rate from which Adam and AdamW are searched."""
    seeds: int = 2
    steps: int = 60
    evaluations: int = 20

    long_fractions: tuple[float, ...] = (0.5, 0.8)
    """α of the runs that are trained for long, near the critical fraction."""
    long_seeds: int = 2
    long_steps: int = 60
    longest_fractions: tuple[float, ...] = ()
    """α at which plain gradient descent is trained for longest."""
    longest_steps: int = 60

    moduli: tuple[tuple[str, tuple[int, ...]], ...] = (("Adam", (11, 13)),)
    """Optimizers under which the critical fraction is measured, and at which p."""
    widths: tuple[int, ...] = (32,)
    """N at which it is measured besides, under Adam."""
    law_factors: tuple[float, ...] = (0.5, 0.7)
    """α in units of a first guess for each p."""
    law_seeds: int = 2
    law_steps: int = 60

    sampling_fractions: tuple[float, ...] = (0.8,)
    """α at which random and guided choices of the training pairs are compared."""
    sampling_seeds: int = 2
    sampling_steps: int = 60

    def budgets(self, steps: int) -> tuple[int, ...]:
        """Three budgets within which runs of so many steps are asked to grok, at equal ratios."""
        return tuple(round(steps / 10**power) for power in (1, 0.5, 0))


@dataclass(frozen=True)
class Further:
    """Sizes of the statements without a figure, and of the open questions."""

    modulus: int = 13
    width: int = 64
    seeds: int = 2
    fraction: float = 0.7
    """α at which n + m is grokked with some delay."""
    adamw: Training = Training(0.1, 60, 20)
    gd: Training = Training(1e6, 60, 20)
    decay: float = 0.05
    """Weight decay of AdamW."""
    composite: tuple[int, ...] = (12, 15)
    """Moduli that are not prime."""
    three_variables: tuple[tuple[int, int], ...] = ((5, 64),)
    """p and N of sums of three variables."""
    mixed_fractions: tuple[float, ...] = (0.7, 0.9)
    """α at which sums of unlike functions are compared with the functions themselves."""
    capacity_widths: tuple[int, ...] = (8, 64)
    """N at which random labels are learnt by heart, or not."""
    narrow_widths: tuple[int, ...] = (32,)
    """N at which phases are shuffled."""
    floor_widths: tuple[int, ...] = (64, 256, 1024)
    """N of closed forms whose loss is measured."""
    memorizer_modulus: int = 13
    memorizer_width: int = 64
    memorizer_seeds: int = 1
    memorizer_moduli: tuple[int, ...] = (11, 13)
    memorizer_widths: tuple[int, ...] = (32, 64)
    memorizer_steps: int = 20
    flow_steps: int = 30
    sharpness_rates: tuple[float, ...] = (1e6,)
    """Rates of gradient descent whose sharpness is followed, in natural units."""
    snapshots: int = 4
    """Weights kept of the runs whose sharpness and tangent kernel are followed."""
    power_moduli: tuple[int, ...] = (11,)
    power_steps: int = 60

    @property
    def seed_range(self) -> range:
        return range(self.seeds)

    def adapt(self, task: str, fraction: float | None = None, **more: Any) -> list[Experiment]:
        """A function under AdamW for every seed; `modulus` and `width` may be others."""
        settings = {"weight_decay": self.decay} | more
        p, width = settings.pop("modulus", self.modulus), settings.pop("width", self.width)
        share = self.fraction if fraction is None else fraction
        return [self.adamw.adapt(task, p, width, share, seed, **settings) for seed in self.seed_range]

    def descend(self, task: str = "n + m", **more: Any) -> list[Experiment]:
        """A function under plain gradient descent for every seed."""
        return [self.gd.descend(task, self.modulus, self.width, self.fraction, s, **more) for s in self.seed_range]


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    modulus: int
    """p of the figures of single networks."""
    width: int
    """N of the figures of single networks."""
    seeds: int
    """Networks for each setting of these figures, from seed 0 on."""
    gd: Training
    """Figures 0, 1 and 2. At full scale the rate is a quarter of the one from which gradients fluctuate late."""
    adamw: Training
    """Figures 2 and 4."""
    functions: Training
    """AdamW on (n+m)², n²+m² and nm: figures A2 to A4."""
    cross_entropy: Training
    """AdamW with cross-entropy."""

    sweep_modulus: int
    """p of figure 3."""
    sweep_width: int
    sweep_seeds: int
    fractions: tuple[float, ...]
    """α of figure 3a."""
    descent: Training
    """Gradient descent in figure 3b."""
    adaptive: Training
    """AdamW in figure 3b."""
    widths: tuple[int, ...]
    """Widths of the trained networks of figure 3b."""
    width_fraction: float
    """α of figure 3b; the paper's 0.5 is too little at small p."""

    closed_widths: tuple[int, ...]
    """Widths of the random phases of figure 3b."""
    activation_widths: tuple[int, ...]
    """Widths of figure A1, ascending; an activation stops at the first where it is always right."""
    closed_seeds: int
    """Draws of random phases for each width."""

    hard_modulus: int
    """p of n² + m² + nm, n³ + nm² + m and the random tables: figure A5."""
    hard_width: int
    hard_seeds: int
    hard: Training
    hard_fractions: tuple[float, ...]
    """α at which n² + m² + nm is trained besides 0.73."""
    never: Training
    """Tasks that are not learnt: n³ + nm² + m and random tables."""

    kernel_fractions: tuple[float, ...]
    """α at which the kernel predictor is computed, at `modulus`."""
    delay: Training
    """Gradient descent on n + m from little to much data, and from too little."""
    delay_fractions: tuple[float, ...]
    """α at which the delay between memorizing and grokking is measured."""
    memorizing_fraction: float
    """α from which no network groks."""
    dramatic: Training
    """AdamW on n + m from a fifth of the table: it groks long after it has memorized."""
    dramatic_seeds: int
    ways: Training
    """Momentum, weight decay and dropout, whose features are compared with gradient descent's."""
    plateau_steps: int
    """Steps of n² + m² + nm at α = 0.73, where it is trained until nothing changes."""
    cubic_fractions: tuple[float, ...]
    """α at which n³ + nm² + m is trained besides 0.9."""

    left_out: tuple[str, ...] = ()
    """Studies that are too long for this profile."""
    search: Search = Search()
    further: Further = Further()

    @property
    def seed_range(self) -> range:
        return range(self.seeds)

    @property
    def sweep_range(self) -> range:
        return range(self.sweep_seeds)

    @property
    def hard_range(self) -> range:
        return range(self.hard_seeds)

    def addition_by_gd(self) -> list[Experiment]:
        """n + m under plain gradient descent without any regularization, first and last weights kept."""
        make = self.gd.descend
        return [make("n + m", self.modulus, self.width, GD_FRACTION, seed, snapshots=2) for seed in self.seed_range]

    def addition_by_adamw(self, fraction: float = ADAMW_FRACTION) -> list[Experiment]:
        """n + m under AdamW with a little weight decay."""
        return self.by_adamw(self.adamw, "n + m", fraction)

    def by_adamw(
        self, training: Training, task: str, fraction: float = ADAMW_FRACTION, **more: Any
    ) -> list[Experiment]:
        """Any function in that way, for every seed."""
        settings = {"weight_decay": ADAMW_DECAY} | more
        return [training.adapt(task, self.modulus, self.width, fraction, seed, **settings) for seed in self.seed_range]


TINY = Profile(
    name="tiny",
    modulus=13,
    width=64,
    seeds=2,
    gd=Training(1e6, 60, 20),
    adamw=Training(0.1, 60, 20),
    functions=Training(0.1, 60, 20),
    cross_entropy=Training(0.1, 60, 20),
    sweep_modulus=13,
    sweep_width=64,
    sweep_seeds=2,
    fractions=(0.5, 0.8),
    descent=Training(1e6, 60, 20),
    adaptive=Training(0.1, 60, 20),
    widths=(16, 32),
    width_fraction=0.8,
    closed_widths=(16, 64, 256),
    activation_widths=(32, 256),
    closed_seeds=2,
    hard_modulus=13,
    hard_width=64,
    hard_seeds=2,
    hard=Training(1e6, 60, 20),
    hard_fractions=(0.95,),
    never=Training(1e6, 60, 20),
    kernel_fractions=(0.5,),
    delay=Training(1e6, 60, 20),
    delay_fractions=(0.5, 0.8),
    memorizing_fraction=0.3,
    dramatic=Training(0.1, 60, 20),
    dramatic_seeds=1,
    ways=Training(1e6, 60, 20),
    plateau_steps=120,
    cubic_fractions=(0.95,),
)
"""For tests of the pipeline: everything runs, nothing is learnt."""

QUICK = dataclasses.replace(
    TINY,
    name="quick",
    modulus=97,
    width=500,
    seeds=2,
    gd=Training(1e6, 2_500, 100),
    adamw=Training(0.1, 700, 200),
    functions=Training(0.1, 400, 30),
    cross_entropy=Training(0.05, 400, 30),
    sweep_modulus=31,
    sweep_width=128,
    sweep_seeds=2,
    fractions=(0.35, 0.5, 0.8),
    descent=Training(1e6, 4_000, 60),
    adaptive=Training(0.03, 2_000, 60),
    widths=(8, 16, 32, 48, 64),
    width_fraction=0.65,
    closed_widths=(8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512),
    activation_widths=(32, 64, 128, 256, 512, 1024, 2048, 4096),
    closed_seeds=3,
    hard_modulus=47,
    hard_width=160,
    hard_seeds=2,
    hard=Training(1e6, 6_000, 80),
    hard_fractions=(),
    never=Training(1e6, 6_000, 60),
    kernel_fractions=(0.5, 0.7),
    delay=Training(1e6, 4_000, 80),
    delay_fractions=(0.55, 0.65, 0.85),
    memorizing_fraction=0.35,
    dramatic=Training(0.1, 4_000, 120),
    ways=Training(1e6, 3_000, 30),
    plateau_steps=6_000,
    left_out=("more_data", "quadratic_form_data"),
    search=Search(
        rates=3,
        strengths=3,
        descent=4e6,
        seeds=2,
        steps=1_000,
        evaluations=80,
        long_fractions=(0.25, 0.35, 0.45, 0.5, 0.55, 0.75),
        long_seeds=3,
        long_steps=2_000,
        moduli=(("Adam", (23, 31, 47)),),
        widths=(64,),
        law_factors=(0.6, 0.7, 0.8, 0.9, 1.0),
        law_seeds=4,
        law_steps=600,
        sampling_fractions=(0.48, 0.495, 0.51, 0.525, 0.54),
        sampling_seeds=6,
        sampling_steps=600,
    ),
    further=Further(
        modulus=31,
        width=128,
        fraction=0.65,
        adamw=Training(0.03, 600, 60),
        gd=Training(1e6, 2_500, 100),
        composite=(30, 33),
        three_variables=((11, 1000),),
        mixed_fractions=(0.65, 0.9),
        capacity_widths=(16, 32, 128),
        narrow_widths=(32, 64),
        floor_widths=(60, 240, 960, 3840, 15360),
        memorizer_modulus=97,
        memorizer_width=500,
        memorizer_moduli=(31,),
        memorizer_widths=(125,),
        memorizer_steps=100,
        flow_steps=160,
        sharpness_rates=(5e5, 2e6),
        snapshots=14,
        power_moduli=(31,),
        power_steps=1_500,
    ),
)
"""Two CPU cores, a few minutes: p = 97 for single networks, smaller p and fewer seeds for sweeps."""

FULL = dataclasses.replace(
    QUICK,
    name="full",
    seeds=5,
    gd=Training(1e5, 80_000, 400),
    adamw=Training(0.03, 3_000, 600),
    functions=Training(0.03, 2_000, 100),
    cross_entropy=Training(0.01, 2_000, 100),
    sweep_modulus=97,
    sweep_width=500,
    sweep_seeds=5,
    fractions=(0.15, 0.2, 0.225, 0.25, 0.275, 0.3, 0.4, 0.5, 0.8),
    descent=Training(1e6, 10_000, 150),
    adaptive=Training(0.03, 4_000, 150),
    widths=(8, 16, 32, 64, 96, 128, 256, 500),
    width_fraction=0.5,
    closed_widths=(8, 16, 32, 48, 64, 96, 128, 144, 192, 256, 384, 512, 1024),
    activation_widths=(32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536),
    closed_seeds=5,
    hard_modulus=97,
    hard_width=1000,
    hard_seeds=5,
    hard=Training(1e6, 40_000, 150),
    hard_fractions=(0.85, 0.9, 0.95, 0.98),
    never=Training(1e6, 10_000, 100),
    kernel_fractions=(0.3, 0.5, 0.7, 0.9),
    delay=Training(2e6, 10_000, 150),
    delay_fractions=(0.225, 0.25, 0.3, 0.4, 0.5, 0.8),
    memorizing_fraction=0.15,
    dramatic=Training(0.1, 4_000, 150),
    dramatic_seeds=5,
    ways=Training(4e5, 10_000, 60),
    plateau_steps=160_000,
    cubic_fractions=(0.95, 0.98),
    left_out=(),
    search=Search(
        rates=5,
        strengths=3,
        dense=6,
        seeds=4,
        steps=4_000,
        evaluations=150,
        long_fractions=(0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.4),
        long_seeds=5,
        long_steps=40_000,
        longest_fractions=(0.2, 0.2125),
        longest_steps=300_000,
        moduli=(
            ("GD", (31, 53, 79, 113)),
            ("Adam", (23, 31, 41, 53, 67, 83, 97, 113)),
            ("AdamW", (31, 53, 79, 113)),
        ),
        widths=(125, 250, 1000),
        law_factors=(0.6, 0.68, 0.75, 0.82, 0.88, 0.94, 1.0, 1.06, 1.13, 1.2, 1.3),
        law_seeds=6,
        law_steps=5_000,
        sampling_fractions=(0.22, 0.235, 0.245, 0.255, 0.265, 0.275, 0.285, 0.3),
        sampling_seeds=12,
        sampling_steps=3_000,
    ),
    further=Further(
        modulus=97,
        width=500,
        seeds=5,
        fraction=0.5,
        adamw=Training(0.1, 1_000, 100),
        gd=Training(1e6, 4_000, 150),
        composite=(60, 64, 91, 96, 100),
        three_variables=((11, 1000), (17, 2000)),
        mixed_fractions=(0.3, 0.5, 0.73, 0.9),
        capacity_widths=(16, 32, 64, 96, 128, 256, 500, 1000),
        narrow_widths=(64, 96, 144, 250, 500),
        floor_widths=(192, 768, 3072, 12288, 49152, 98304),
        memorizer_modulus=97,
        memorizer_width=500,
        memorizer_seeds=3,
        memorizer_moduli=(31, 59, 149),
        memorizer_widths=(60, 125, 250, 1000),
        memorizer_steps=100,
        flow_steps=300,
        sharpness_rates=(5e5, 1e6, 2e6, 4e6),
        snapshots=14,
        power_moduli=(31, 59, 83, 97),
        power_steps=3_000,
    ),
)
"""The paper's scale with at least five seeds everywhere, meant for one GPU."""
