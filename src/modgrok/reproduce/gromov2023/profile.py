"""The sizes in the form in which studies that are not tables yet read them."""

from types import SimpleNamespace
from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce.gromov2023 import sizes
from modgrok.reproduce.gromov2023.sizes import ADAMW_DECAY, ADAMW_FRACTION, GD_FRACTION, USUAL_DECAY, natural_unit
from modgrok.reproduce.sizes import Sizes

__all__ = ["FULL", "GD_FRACTION", "QUICK", "TINY", "Further", "Profile", "Search", "Training", "natural_unit"]


class Training(sizes.Training):
    def descend(self, task: str, modulus: int, width: int, fraction: float, seed: int = 0, **more: Any) -> Experiment:
        return Experiment(**(self.gd(modulus, width, fraction) | {"task": task, "seed": seed} | more))

    def adapt(self, task: str, modulus: int, width: int, fraction: float, seed: int = 0, **more: Any) -> Experiment:
        return Experiment(**(self.adamw(modulus, width, fraction) | {"task": task, "seed": seed} | more))


class Search(SimpleNamespace):
    def budgets(self, steps: int) -> tuple[int, ...]:
        return sizes.budgets(steps)


class Further(SimpleNamespace):
    @property
    def seed_range(self) -> range:
        return range(self.seeds)

    def adapt(self, task: str, fraction: float | None = None, **more: Any) -> list[Experiment]:
        settings = {"weight_decay": self.decay} | more
        p, width = settings.pop("modulus", self.modulus), settings.pop("width", self.width)
        share = self.fraction if fraction is None else fraction
        return [self.adamw.adapt(task, p, width, share, seed, **settings) for seed in self.seed_range]

    def descend(self, task: str = "n + m", **more: Any) -> list[Experiment]:
        return [self.gd.descend(task, self.modulus, self.width, self.fraction, s, **more) for s in self.seed_range]


class Profile(Sizes):
    @property
    def seed_range(self) -> range:
        return range(self.seeds)

    @property
    def sweep_range(self) -> range:
        return range(self.sweep_seeds)

    @property
    def hard_range(self) -> range:
        return range(self.hard_seeds)

    @property
    def search(self) -> Search:
        found = {name.removeprefix("search_"): value for name, value in self.values.items()}
        return Search(**(found | {"moduli": tuple(self.law_moduli.items()), "widths": self.law_widths}))

    @property
    def further(self) -> Further:
        changed = {
            "modulus": self.sweep_modulus,
            "width": self.sweep_width,
            "seeds": self.sweep_seeds,
            "fraction": self.usual_fraction,
            "adamw": self.usual_adamw,
            "gd": self.usual_gd,
            "decay": USUAL_DECAY,
            "composite": self.composite_moduli,
            "snapshots": self.followed_snapshots,
        }
        return Further(**(self.values | changed))

    def addition_by_gd(self) -> list[Experiment]:
        make = self.gd.descend
        return [make("n + m", self.modulus, self.width, GD_FRACTION, seed, snapshots=2) for seed in self.seed_range]

    def addition_by_adamw(self, fraction: float = ADAMW_FRACTION) -> list[Experiment]:
        return self.by_adamw(self.adamw, "n + m", fraction)

    def by_adamw(
        self, training: Training, task: str, fraction: float = ADAMW_FRACTION, **more: Any
    ) -> list[Experiment]:
        settings = {"weight_decay": ADAMW_DECAY} | more
        return [training.adapt(task, self.modulus, self.width, fraction, seed, **settings) for seed in self.seed_range]

    def but(self, **values: Any) -> "Profile":
        return Profile(self.name, self.left_out, self.values | values)


def _profile(s: Sizes) -> Profile:
    found = {n: Training(**vars(v)) if isinstance(v, sizes.Training) else v for n, v in s.values.items()}
    return Profile(s.name, s.left_out, found)


QUICK, FULL, TINY = map(_profile, (sizes.QUICK, sizes.FULL, sizes.TINY))
