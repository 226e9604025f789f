"""The runs of a study, written as sweeps: settings in common, and what varies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.critical import seed_at

Settings = dict[str, Any]
Axis = Sequence[Any] | Mapping[str, Settings]
ALWAYS = ("task", "modulus", "width", "fraction", "optimizer", "lr", "steps", "seed")
"""Settings that are said even where they are the default ones."""
SILENT = ("evaluations", "snapshots", "until", "split_seed", "decoupled", "momentum", "threshold", "record")
"""Settings that change nothing of what is learned, or follow from others."""


class Runs:
    """Experiments in order, each with the names by which the study calls it (its tags)."""

    def __init__(self, rows: Sequence[tuple[Settings, Settings]]) -> None:
        self.rows = list(rows)
        """Tags and settings."""

    def __iter__(self) -> Iterator[tuple[Settings, Experiment]]:
        return ((tags, Experiment(**settings)) for tags, settings in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "Runs") -> "Runs":
        return joined((self, other))

    def __getitem__(self, part: slice) -> "Runs":
        return Runs(self.rows[part])

    def but(self, **settings: Any) -> "Runs":
        """The same with other settings; values that are lists, ranges or dictionaries vary (see `runs`), inside what
        varies already."""
        axes = {name: value for name, value in settings.items() if isinstance(value, (list, range, dict))}
        fixed = {name: value for name, value in settings.items() if name not in axes}
        varied = {name for axis in axes.values() if isinstance(axis, dict) for some in axis.values() for name in some}
        assert not varied & {*fixed}, f"both fixed and varied: {', '.join(sorted(varied & {*fixed}))}"
        return Runs([(tags | more, old | fixed | new) for tags, old in self.rows for more, new in _points(axes)])

    def fresh_seeds(self) -> "Runs":
        """The same with seeds that no other fraction has (see `seed_at`); the tag `repeat` is the seed of before."""
        found = []
        for tags, settings in self.rows:
            seed = seed_at(settings["fraction"], settings["seed"])
            found.append((tags | {"repeat": settings["seed"], "seed": seed}, settings | {"seed": seed}))
        return Runs(found)

    def tag(self, **tags: Any) -> "Runs":
        """The same under further tags."""
        return Runs([(old | tags, settings) for old, settings in self.rows])


def runs(common: Settings, **more: Any) -> Runs:
    """Experiments with these settings, one for each combination of those whose values are lists or ranges.

    A dictionary `variant={"GD": {"optimizer": "gd"}, …}` varies several settings at once, and its key becomes the tag
    `variant`. What is named last varies fastest.
    """
    return Runs([({}, dict(common))]).but(**more)


def joined(parts: Iterable[Runs]) -> Runs:
    """The runs of all parts, in order."""
    return Runs([row for part in parts for row in part.rows])


def _points(axes: Mapping[str, Axis]) -> Iterator[tuple[Settings, Settings]]:
    """Tags and settings of every combination."""
    for values in product(*axes.values()):
        chosen: Settings = {}
        for (name, axis), value in zip(axes.items(), values, strict=True):
            chosen |= axis[value] if isinstance(axis, Mapping) else {name: value}
        yield dict(zip(axes, values, strict=True)), chosen


@cache
def _defaults() -> Settings:
    return Experiment(task="n").resolve().as_dict()


def said_settings(experiments: Sequence[Experiment]) -> list[Settings]:
    """What there is to say of each of several experiments: the usual few settings, and those that are not the default
    in all of them."""
    rows = [experiment.resolve().as_dict() | {"task": experiment.task} for experiment in experiments]
    names = [name for name in _defaults() if name not in SILENT]
    said = [n for n in names if n in ALWAYS or any(row[n] is not None and row[n] != _defaults()[n] for row in rows)]
    return [{name: row[name] for name in said} for row in rows]
