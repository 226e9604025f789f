"""Eight ways to train n + m, each searched with the same number of trials.

The search is a grid around a stated start: rates × strengths where there is a regularizer, as many rates where the rate
is all there is to choose. All trials have the same steps, fractions and seeds. At every α a contestant stands with the
trial that is fastest there among those in which most seeds grok; it is chosen by the other seeds than the one whose
time is taken, so that nobody gains by choosing among chances. Whether a seed groks at all is asked of all its trials,
equally many for everyone: the fastest rate is often the last stable one, and a run that it loses does not say that the
data were too few.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

from modgrok.measures.samples import Cells, Time, fastest_trial, tuned_times
from modgrok.reproduce.form import Line, Runs, Settings, Sizes, Table, joined, runs
from modgrok.reproduce.gromov2023.sizes import USUAL_DECAY, natural_unit

RATES_PER_DECADE = 3
"""Rates of the grid where a strength is searched too."""
DECAY_RATIO, DROPOUT_RATIO = 10**0.5, 2.0
GD_DECAY = 1e-9
"""Weight decay of gradient descent in units of 1/((p/97)³ (N/500)): ten times more kills the weights."""
DROPOUT, DROPOUT_RATE = 0.4, 2.0
"""Strength and rate from which dropout is searched, the rate in units of the one without."""
BATCH_NORM_RATE = 2.0
"""Rate with batch norm in units of the rate without divided by p: normalized preactivations are √p larger."""

REGULARIZED = {
    "GD + weight decay": "GD",
    "GD + dropout": "GD",
    "GD + batch norm": "GD",
    "momentum + weight decay": "momentum",
    "AdamW": "Adam",
}
"""Every regularizer, and the same optimizer without it."""


def until_grokked(s: Sizes, steps: int, evaluations: int = 100) -> Settings:
    """n + m at the size of figure 3; a run stops as soon as it has grokked."""
    schedule = {"steps": steps, "evaluations": evaluations, "until": 0, "snapshots": 0}
    return {"task": "n + m", "modulus": s.sweep_modulus, "width": s.sweep_width, **schedule}


def trials(s: Sizes) -> dict[str, list[Settings]]:
    """What is tried of each of the eight of figure 3a, by rate first."""
    p = s.sweep_modulus
    unit = natural_unit(p, s.sweep_width)
    rate, decay = s.search_descent * unit, GD_DECAY / unit

    def grid(optimizer: str, rate: float, strength: str = "", start: float = 0.0, ratio: float = DECAY_RATIO) -> Any:
        if not strength:
            places = _around(s.search_rates * s.search_strengths)
            return [{"optimizer": optimizer, "lr": _short(rate * 10 ** (i / s.search_dense))} for i in places]
        rates = [_short(rate * 10 ** (i / RATES_PER_DECADE)) for i in _around(s.search_rates)]
        values = [_short(start * ratio**j) for j in _around(s.search_strengths)]
        return [{"optimizer": optimizer, "lr": lr, strength: value} for lr, value in product(rates, values)]

    return {
        "GD": grid("gd", rate),
        "GD + weight decay": grid("gd", rate, "weight_decay", decay),
        "momentum": grid("momentum", rate),
        "momentum + weight decay": grid("momentum", rate, "weight_decay", decay),
        "Adam": grid("adam", s.search_adaptive),
        "AdamW": grid("adamw", s.search_adaptive, "weight_decay", USUAL_DECAY),
        "GD + dropout": grid("gd", DROPOUT_RATE * rate, "dropout", DROPOUT, DROPOUT_RATIO),
        "GD + batch norm": [one | {"batch_norm": True} for one in grid("gd", BATCH_NORM_RATE * rate / p)],
    }


def searched(s: Sizes, fractions: Sequence[float] = (), seeds: int = 0) -> Runs:
    """All trials, under the tags `way` (which of the eight) and `trial` (its number), at every α of figure 3a, unless
    other fractions are given with their number of seeds."""
    common = until_grokked(s, s.search_steps, s.search_evaluations)
    varied = {"fraction": [*(fractions or s.fractions)], "seed": range(seeds or s.search_seeds)}
    tried = {way: runs(common, trial=dict(enumerate(some)), **varied) for way, some in trials(s).items()}
    return joined(some.fresh_seeds().tag(way=way) for way, some in tried.items())


def tuned(t: Table, choose: Callable[[Cells], list[Time]] = tuned_times) -> Table:
    """The time of every seed for each way and α, with the trial that the other seeds choose."""
    return Table(
        {"way": way, "fraction": fraction, "seed": seed, "grokked_at": time}
        for (way, fraction), cell in t.by("way", "fraction").items()
        for seed, time in enumerate(choose([trial["grokked_at"] for trial in cell.by("trial").values()]))
    )


def fastest(t: Table) -> Table:
    """Of several trials the fastest, or the first where none groks."""
    some = [*t.by("trial").values()]
    return some[fastest_trial([trial["grokked_at"] for trial in some]) or 0]


def medians(t: Table) -> dict[str, Line]:
    """Steps against α of every way to train at its best."""
    return {way: cell.median("grokked_at", "fraction") for way, cell in tuned(t).by("way").items()}


def ratios(found: dict[str, Line], name: str, base: str) -> dict[float, float]:
    """Median steps relative to another contestant's at every fraction where both grok, each at its best."""
    other = found[base].known()
    return {a: steps / other[a] for a, steps in found[name].known().items() if a in other}


def best_rates(t: Table, way: str) -> dict[float, float]:
    """At every α where some seed groks."""
    cells = {a: fastest(cell) for a, cell in t.where(way=way).by("fraction").items()}
    return {a: best.first.lr for a, best in cells.items() if not best["grokked_at"].none()}


def _around(places: int) -> range:
    return range(-(places // 2), places // 2 + 1)


def _short(value: float) -> float:
    return float(f"{value:.4g}")
