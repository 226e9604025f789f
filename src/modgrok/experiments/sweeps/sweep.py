"""A sweep as a value: a base experiment and the axes along which its settings vary."""

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, describe_task
from modgrok.experiments.given_settings import read_mapping
from modgrok.experiments.sweeps.values import LIMIT, value, values

Axis = dict[str, tuple[Any, ...]]
"""Settings that change together, each with its values, all of one length. Most axes have one setting."""

DEFAULTS: dict[str, Any] = {"snapshots": 0, "until": 0}
"""Settings that differ from a single experiment's: no weights on the way, and no step after grokking."""
EVALUATIONS = 60
"""How often a run is measured where success alone is looked for."""


@dataclass(frozen=True)
class Sweep:
    """All combinations of the values along its axes; each combination is a run.

    Sweep(Experiment("n + m"), [{"fraction": "0.2:0.8:0.05"}, {"seed": range(5)}])
    Sweep(Experiment("n + m"), [{"optimizer": ["gd", "adamw"], "lr": [4e5, 0.03]}])   # together: two runs
    """

    experiment: Experiment
    vary: Sequence[Any] = ()
    """Axes: mappings from settings to values (see `modgrok.experiments.sweeps.values`), or texts such as
    `seed=0:5` and `optimizer=gd,adamw; lr=4e5,0.03`."""

    def __post_init__(self) -> None:
        axes = tuple(_axis(given) for given in self.vary)
        object.__setattr__(self, "vary", axes)
        names = [name for axis in axes for name in axis]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ModgrokError(f"{twice} varies along two axes; a setting belongs to one.")
        if len(self) > LIMIT:
            raise ModgrokError(f"This sweep has {len(self):,} runs; split it into parts of at most {LIMIT:,}.")

    def __len__(self) -> int:
        """How many runs there are."""
        return math.prod(self.shape)

    @property
    def axes(self) -> tuple[Axis, ...]:
        return tuple(self.vary)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values along each axis."""
        return tuple(len(next(iter(axis.values()))) for axis in self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """The settings that vary, in the order of the axes."""
        return tuple(name for axis in self.axes for name in axis)

    @cached_property
    def experiments(self) -> tuple[Experiment, ...]:
        """Every experiment of the sweep, the last axis fastest; all are checked before the first can start."""
        unlike: dict[tuple[str, ...], Experiment] = {}
        found = []
        for settings in self.combinations():
            seed, others = settings.pop("seed", self.experiment.seed), tuple(map(repr, settings.values()))
            if others not in unlike:
                unlike[others] = dataclasses.replace(self.experiment, **settings, seed=seed)
            found.append(unlike[others].seeded(seed))
        checked: dict[Any, Experiment] = {(e.task, e.modulus, e.fraction, e.examples): e for e in found}
        for e in checked.values():
            task = e.load_task()
            trained, tested = e.split.counts(task)
            if task.enumerable and (trained < 1 or tested < 1):
                raise ModgrokError(
                    f"A split needs inputs on both sides, and a fraction of {e.fraction} of the {trained + tested} "
                    f"inputs of {describe_task(e)} does not leave them."
                )
        return tuple(found)

    def combinations(self) -> Iterator[dict[str, Any]]:
        """The varying settings of every run."""
        for indices in itertools.product(*(range(length) for length in self.shape)):
            yield {name: axis[name][i] for axis, i in zip(self.axes, indices, strict=True) for name in axis}

    def as_dict(self) -> dict[str, Any]:
        """The sweep as JSON values: the base experiment and one object for each axis."""
        vary = [{name: list(found) for name, found in axis.items()} for axis in self.axes]
        return {"experiment": self.experiment.as_dict(), "vary": vary}

    @property
    def id(self) -> str:
        """Content hash, which names the sweep in its store."""
        text = json.dumps(self.as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "Sweep":
        """The sweep that `as_dict` wrote down."""
        return cls(Experiment.from_dict(content["experiment"]), content["vary"])

    @classmethod
    def from_file(cls, path: str | Path) -> "Sweep":
        """The sweep in a TOML file: a table `experiment` with settings, and a table `[[vary]]` for each axis. In a JSON
        file `experiment` is an object, and `vary` a list of objects."""
        content = read_mapping(path := Path(path))
        if unknown := sorted(set(content) - {"experiment", "vary"}):
            raise ModgrokError(f"{path}: a sweep has the tables [experiment] and [[vary]], not {unknown[0]!r}.")
        settings, vary = content.get("experiment", {}), content.get("vary", [])
        if not isinstance(settings, dict) or not isinstance(vary, list):
            raise ModgrokError(f"{path}: [experiment] must be one table of settings, and every [[vary]] an axis.")
        if "task" not in settings and not any("task" in axis for axis in vary):
            raise ModgrokError(f'{path}: [experiment] needs a task, for example task = "n + m".')
        try:
            base = {"task": "n + m"} | DEFAULTS | {name: value(name, given) for name, given in settings.items()}
            return cls(Experiment(**base), vary)
        except ModgrokError as error:
            raise ModgrokError(f"{path}: {error}") from None


def _axis(given: Any) -> Axis:
    """An axis from a mapping or a text."""
    if isinstance(given, str):
        given = dict(_assignment(part) for part in given.split(";"))
    if not isinstance(given, Mapping) or not given:
        raise ModgrokError(f"An axis gives a setting its values, such as seed=0:5, not {given!r}.")
    axis = {name: values(name, listed) for name, listed in given.items()}
    lengths = {name: len(found) for name, found in axis.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ModgrokError(f"Settings that vary together must have equally many values, not {counts}.")
    return axis


def _assignment(text: str) -> tuple[str, str]:
    name, equals, listed = text.partition("=")
    if not equals:
        raise ModgrokError(f"An axis is NAME=VALUES, for example seed=0:5, not {text.strip()!r}.")
    return name.strip().replace("-", "_"), listed.strip()
