"""Eight ways to train, each searched with the same number of trials: time against rate, and each at its best.

The search is a grid around a stated start: rates × strengths where there is a regularizer, as many rates where the rate
is all there is to choose. All trials have the same steps, fractions and seeds. At every α a contestant stands with the
trial that is fastest there among those in which most seeds grok; it is chosen by the other seeds than the one whose
time is taken, so that nobody gains by choosing among chances. Whether a seed groks at all is asked of all its trials,
equally many for everyone: the fastest rate is often the last stable one, and a run that it loses does not say that the
data were too few.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from modgrok.experiments import Experiment
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile, Search, natural_unit
from modgrok.reproduce.gromov2023.times import (
    best_trial,
    draw_times,
    first_times,
    step_axis,
    summary,
    tuned_times,
)
from modgrok.reproduce.gromov2023.transitions import transitions_of_budgets
from modgrok.reproduce.nested import Numbers, Study, Times, Tree, median_time, results
from modgrok.text import count, number

RATES_PER_DECADE = 3
"""Rates of the grid where a strength is searched too."""
DECAY_RATIO, DROPOUT_RATIO = 10**0.5, 2.0
GD_DECAY = 1e-9
"""Weight decay from which gradient descent is searched, in units of 1/((p/97)³ (N/500)): ten times more kills the
weights."""
ADAMW_DECAY = 0.05
DROPOUT, DROPOUT_RATE = 0.4, 2.0
"""Strength and rate from which dropout is searched, the rate in units of the one without."""
BATCH_NORM_RATE = 2.0
"""Rate with batch norm in units of the rate without divided by p: normalized preactivations are √p larger."""
MOMENTUM = 0.9

REGULARIZED = {
    "GD + weight decay": "GD",
    "GD + dropout": "GD",
    "GD + batch norm": "GD",
    "momentum + weight decay": "momentum",
    "AdamW": "Adam",
}
"""Every regularizer, and the same optimizer without it."""


@dataclass(frozen=True)
class Contestant:
    """One way to train, and where the search of its settings starts."""

    optimizer: str
    rate: float
    strength: str = ""
    """The setting that is searched beside the rate."""
    start: float = 0.0
    """Its value in the middle of the grid."""
    ratio: float = DECAY_RATIO
    always: dict[str, Any] = field(default_factory=dict)

    def trials(self, search: Search) -> list[dict[str, Any]]:
        """Settings of all trials, by rate first."""
        if not self.strength:
            return [self._settings(place / search.dense, 0) for place in _around(search.rates * search.strengths)]
        return [
            self._settings(place / RATES_PER_DECADE, strength)
            for place in _around(search.rates)
            for strength in _around(search.strengths)
        ]

    def _settings(self, decades: float, strength: int) -> dict[str, Any]:
        chosen = {"optimizer": self.optimizer, "lr": _short(self.rate * 10**decades)} | self.always
        return chosen | ({self.strength: _short(self.start * self.ratio**strength)} if self.strength else {})


def contestants(profile: Profile) -> dict[str, Contestant]:
    """The eight of figure 3a."""
    p, search = profile.sweep_modulus, profile.search
    unit = natural_unit(p, profile.sweep_width)
    rate, decay = search.descent * unit, GD_DECAY / unit
    return {
        "GD": Contestant("gd", rate),
        "GD + weight decay": Contestant("gd", rate, "weight_decay", decay),
        "momentum": Contestant("momentum", rate),
        "momentum + weight decay": Contestant("momentum", rate, "weight_decay", decay),
        "Adam": Contestant("adam", search.adaptive),
        "AdamW": Contestant("adamw", search.adaptive, "weight_decay", ADAMW_DECAY),
        "GD + dropout": Contestant("gd", DROPOUT_RATE * rate, "dropout", DROPOUT, DROPOUT_RATIO),
        "GD + batch norm": Contestant("gd", BATCH_NORM_RATE * rate / p, always={"batch_norm": True}),
    }


def trial_run(profile: Profile, settings: dict[str, Any], fraction: float, seed: int, **more: Any) -> Experiment:
    """One run at the size of figure 3; it stops as soon as it has grokked."""
    schedule: dict[str, Any] = {"steps": profile.search.steps, "evaluations": profile.search.evaluations, "until": 0}
    common = {"modulus": profile.sweep_modulus, "width": profile.sweep_width, "snapshots": 0}
    return Experiment("n + m", fraction=fraction, seed=seed, **common | schedule | settings | more)


@cache
def experiments(profile: Profile) -> Tree:
    """By contestant, trial, fraction and seed; made once, since three studies ask for them."""
    search = profile.search
    return {
        name: [
            [
                [trial_run(profile, trial, fraction, seed) for seed in range(search.seeds)]
                for fraction in profile.fractions
            ]
            for trial in contestant.trials(search)
        ]
        for name, contestant in contestants(profile).items()
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Grokking times of all trials (null: not within the steps), and of every contestant at its best."""
    tried = {name: one.trials(profile.search) for name, one in contestants(profile).items()}
    return compared(profile, tried, results(runs, "grokked_at"))


def compared(profile: Profile, tried: dict[str, list[dict[str, Any]]], times: dict[str, Any]) -> Numbers:
    """What the times of all trials come to."""
    tuned = {name: [tuned_times(cells) for cells in by_fraction(trials)] for name, trials in times.items()}
    first = {name: [first_times(cells) for cells in by_fraction(trials)] for name, trials in times.items()}
    budgets = profile.search.budgets(profile.search.steps)
    return {
        "modulus": profile.sweep_modulus,
        "width": profile.sweep_width,
        "seeds": profile.search.seeds,
        "steps": profile.search.steps,
        "fractions": profile.fractions,
        "settings": tried,
        "times": times,
        "tuned": tuned,
        "tuned_summary": {name: summary(cells) for name, cells in tuned.items()},
        "chosen": {name: [best_trial(cells) for cells in by_fraction(trials)] for name, trials in times.items()},
        "at_the_edge": {name: edges(tried[name], by_fraction(times[name])) for name in times},
        "effective": effective_rates(tried, times),
        "by_rate": [rate_curves(tried, times, at) for at in shown_fractions(profile.fractions)],
        "budgets": budgets,
        "critical": {name: transitions_of_budgets(profile.fractions, cells, budgets) for name, cells in first.items()},
    }


def by_fraction(trials: Sequence[Sequence[Times]]) -> list[list[Times]]:
    """From trials of fractions to fractions of trials."""
    return [list(cells) for cells in zip(*trials, strict=True)]


def edges(trials: list[dict[str, Any]], cells: Sequence[Sequence[Times]]) -> int:
    """At how many fractions the best trial has the largest or the smallest rate of the grid."""
    rates = [trial["lr"] for trial in trials]
    chosen = [best_trial(cell) for cell in cells]
    return sum(one is not None and rates[one] in (min(rates), max(rates)) for one in chosen)


def effective_rates(tried: dict[str, list[dict[str, Any]]], times: dict[str, Any]) -> list[dict[str, Any]]:
    """GD and momentum at equal lr/(1 − β): by that rate, median times of both at every fraction."""
    pairs = [(i, j) for i in range(len(tried["GD"])) for j in range(len(tried["momentum"]))]
    found = []
    for i, j in pairs:
        rate = tried["GD"][i]["lr"]
        if math.isclose(tried["momentum"][j]["lr"], (1 - MOMENTUM) * rate, rel_tol=1e-2):
            plain, heavy = times["GD"][i], times["momentum"][j]
            medians = {"GD": [*map(median_time, plain)], "momentum": [*map(median_time, heavy)]}
            found.append({"rate": rate} | medians)
    return found


def shown_fractions(fractions: Sequence[float]) -> tuple[int, ...]:
    """Places of the two fractions at which time is drawn against rate: one with plenty of data, one with little."""
    many = len(fractions) > 4
    return len(fractions) - 1 - many, (len(fractions) - 1) // 2 - many


def rate_curves(tried: dict[str, list[dict[str, Any]]], times: dict[str, Any], at: int) -> dict[str, Any]:
    """Times against rate at one fraction; of several strengths of a regularizer the fastest at each rate."""
    curves = {}
    for name, trials in tried.items():
        rates = sorted({trial["lr"] for trial in trials})
        cells = [[times[name][i][at] for i, trial in enumerate(trials) if trial["lr"] == rate] for rate in rates]
        curves[name] = {"rates": rates} | summary([cell[best_trial(cell) or 0] for cell in cells])
    return curves


COLUMNS = {
    "following the gradient": ("GD", "GD + weight decay", "GD + dropout", "GD + batch norm"),
    "with momentum": ("GD", "momentum", "momentum + weight decay"),
    "Adam and AdamW": ("Adam", "AdamW"),
}


def draw(n: Numbers) -> Any:
    """Time against rate with plenty of data (above) and with little (below)."""
    figure, panels = style.grid(2, 3, height=5.0, sharex="col")
    names = list(n["settings"])
    for row, curves, at in zip(panels, n["by_rate"], shown_fractions(n["fractions"]), strict=True):
        for panel, (title, members) in zip(row, COLUMNS.items(), strict=True):
            for i, name in enumerate(members):
                draw_times(panel, curves[name]["rates"], curves[name], names.index(name), name, i)
            panel.set_xscale("log")
            step_axis(panel, n["steps"], len(members))
            panel.set_title(f"{title}, α = {number(n['fractions'][at])}")
    shown: dict[str, Any] = {}
    for panel in panels[0]:
        handles, labels = panel.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    figure.legend(shown.values(), shown, fontsize=6.5, ncols=4, loc="outside upper center")
    for panel in panels[1]:
        panel.set_xlabel("learning rate")
    for panel in panels.flat:
        panel.set_ylabel("steps until test accuracy ≥ 99 %", fontsize=7)
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}; median and range of {n['seeds']} seeds, of the strengths of a "
        f"regularizer the fastest; × most seeds do not grok within {count(n['steps'])} steps",
    )
    return figure


def _around(places: int) -> range:
    return range(-(places // 2), places // 2 + 1)


def _short(value: float) -> float:
    return float(f"{value:.4g}")


STUDY = Study(
    "tuning",
    "Time against rate",
    "Every optimizer of figure 3a searched with equally many trials: a grid of rates, or of fewer rates and the "
    "strengths of its regularizer, the same steps and seeds for all. Above with plenty of data, below with "
    "little. Plain gradient descent stands beside momentum 0.9, whose effective rate is ten times its rate.",
    numbers,
    experiments,
    draw,
    beyond=True,
)
