"""The critical fraction α_c(T) of tables, within several budgets T.

One definition everywhere, that of `modgrok critical`: the fraction at which half of the runs grok within the budget,
with the 95 % interval of a logistic fit.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.logistic import Transition, transition_within
from modgrok.reproduce.claim import Ask
from modgrok.reproduce.figures import series_look
from modgrok.reproduce.table import Table
from modgrok.text import count


def within(t: Table, budgets: Iterable[int], *columns: str) -> list[dict[str, Any]]:
    """α_c for every combination of values of columns and every budget, as rows of a table inside the table."""
    found = []
    for some in t.by(*columns).values():
        times = {a: cell["grokked_at"] for a, cell in some.by("fraction").items()}
        names = {name: some.one(name) for name in columns}
        found += [names | {"budget": T, "alpha": asdict(transition_within(times, T))} for T in budgets]
    return found


def transitions(t: Table, column: str = "critical") -> Table:
    """The rows of `within`, α_c as `alpha`."""
    return Table(row | {"alpha": Transition(**row["alpha"])} for row in t.first[column])


def show_budgets(ask: Ask, t: Table, names: Iterable[str] | None = None) -> None:
    """α_c of ways to train for every budget."""
    ways = t.by("way")
    for name in names or ways:
        ask.show({f"α_c within {count(r.budget)} steps, {name}": str(r.alpha) for r in ways[name]})


def bars(found: Sequence[Transition]) -> tuple[np.ndarray, np.ndarray]:
    """Middles and lengths of the error bars below and above, NaN where α_c is not known."""
    known = [one.critical is not None and (one.critical, one.low, one.high) for one in found]
    middle, low, high = np.array([ends or (np.nan,) * 3 for ends in known], float).reshape(-1, 3).T
    return middle, np.abs([middle - low, high - middle])


def error_bars(
    panel: Any, places: Sequence[Any], found: Sequence[Transition], series: int, label: str, lying: bool = False
) -> None:
    """α_c with its interval at every x, or lying at every y; an arrow at the outermost α tried where it lies beyond."""
    middle, ends = bars(found)
    look = series_look(series) | {"ls": ""}
    for place, one in zip(places, found, strict=True):
        beyond, arrow = (one.low, "^>") if one.high is None else (one.high, "v<")
        if one.critical is None:
            at = (beyond, place) if lying else (place, beyond)
            panel.plot(*at, **look | {"marker": arrow[lying], "fillstyle": "none"})
    look |= {"xerr" if lying else "yerr": ends, "capsize": 2, "elinewidth": 1, "label": label}
    panel.errorbar(*((middle, places) if lying else (places, middle)), **look)
