"""Finding 4: how few neurons answer every pair, have the largest margin, are exact, or are so in a limit.

Thresholds were chosen after descents for n + m modulo 5 and climbs modulo 5 and 7.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.closed_form import least_width, solve
from modgrok.closed_form.limiting import EXACT, LIMIT, NEITHER, PENALTIES, UNCLEAR, nearest
from modgrok.closed_form.minimal import one_hot
from modgrok.measures import margins
from modgrok.networks import score_table, two_layer
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.reproduce.followups.margin import train
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.reproduce.groups.sizes import exact, task_of
from modgrok.text import number

SMALL = 8
"""Largest order with all starts; larger tables have a fifth of them."""


def answers(s: Sizes) -> Iterator[dict[str, Any]]:
    """Accuracy of two and three neurons that are written down, and the best of one random neuron."""
    for p in s.few_moduli:
        task = task_of(f"Z{p}")
        table = task.table
        for width in (2, 3):
            network = solve(task, "few", width)
            yield {"part": "answers", "p": p, "width": width, "accuracy": score_table(network, table).accuracy}
        weights = np.random.default_rng(p).standard_normal((20, 3, p))
        found = [score_table(two_layer(w[None, :2], w[2][:, None]), table).accuracy for w in weights]
        yield {"part": "answers", "p": p, "width": 1, "accuracy": max(found)}


def climbs(s: Sizes) -> Iterator[dict[str, Any]]:
    """The largest margins found at each width, per cubed norm of neurons and of all weights; of the closed form with
    six neurons for each frequency; and of networks that were trained."""
    for p in s.margin_moduli:
        most = 3 * (p - 1)
        every, some = [*range(2, most + 3)], [most // 2, 2 * p - 1, most - 1, most, most + 2]
        widths = every if p == min(s.margin_moduli) else some
        six = margins.margin(margins.of_fewest_neurons(p)) / margins.largest_margin(p)
        common = {"p": p, "starts": s.margin_starts, "six": six}
        for power in (3, 2):
            found = margins.climb(p, widths, s.margin_starts, s.margin_steps, power)
            for width, best in zip(widths, found.max(axis=1), strict=True):
                yield {"part": "margin", "power": power, "width": width, "margin": best, **common}
    p = min(s.margin_moduli)
    for width in (3, p, 2 * p - 1, 3 * (p - 1), 6 * (p - 1)):
        for seed in range(s.trained_seeds):
            last = train(p, width, s.trained_steps, seed)[-1]
            reached = margins.margin(last) / margins.largest_margin(p)
            yield {"part": "trained", "p": p, "width": width, "seed": seed, "margin": reached}


def descents(s: Sizes) -> Iterator[dict[str, Any]]:
    """How near networks come to the table of a group at each width."""
    for group, widths in s.limits:
        task = task_of(group)
        starts = s.limit_starts if task.modulus <= SMALL else max(1, s.limit_starts // 5)
        for width, one in zip(widths, nearest(one_hot(task), widths, starts, s.limit_steps), strict=True):
            sizes = {"part": "limit", "group": group, "width": width, "starts": starts, "steps": s.limit_steps}
            known = {"bound": least_width(task), "closed_form": exact(group)}
            yield sizes | known | {"losses": one.losses, "power": one.power, "kind": one.kind}


few_neurons = study(
    "few_neurons",
    "How few neurons",
    "Left: the largest margin found at each width over the largest of all, and what trained networks reach. Middle: "
    "squared error of the nearest network against the weight penalty: as its square where a network is exact, as a "
    "power below 1 where it is so only in the limit of growing weights, constant where it is neither. Right: which "
    "widths are which, from the lower bound to the closed form.",
    rows=lambda s: (row for part in (answers, climbs, descents) for row in part(s)),
)


@few_neurons.figure("largest margin", "error and penalty", "widths", height=3.0)
def margins_and_limits(t: Table, left: Any, middle: Any, right: Any) -> str:
    for i, (p, cell) in enumerate(t.where(part="margin").by("p").items()):
        for power, fill in ((3, "full"), (2, "none")):
            line = cell.where(power=power).median("margin", "width")
            label = f"p = {p}" if power == 3 else None
            x = [width / (p - 1) for width in line]
            left.plot(x, line.y, MARKERS[i], color=SERIES[i], fillstyle=fill, markersize=3.5, label=label)
    some = t.where(part="trained")
    left.plot([r.width / (r.p - 1) for r in some], some["margin"], "x", color=GRAY, markersize=4, label="trained")
    left.axvline(3, color=GRAY, linewidth=0.7, linestyle=":")
    left.set(xlabel="neurons / (p − 1)", ylabel="margin / γ*", ylim=(-0.05, 1.05))
    left.legend(fontsize=6)
    cells = t.where(part="limit").by("group")
    first, rows = next(iter(cells.items()))
    for color, r in zip(SERIES, rows, strict=False):
        middle.plot(PENALTIES, r.losses, "o-", color=color, markersize=3, label=f"{first}, N = {r.width}: {r.kind}")
    middle.set(xscale="log", yscale="log", xlabel="weight penalty", ylabel="sum of squared errors")
    middle.legend(fontsize=6)
    for color, marker, kind in zip(SERIES, "os^x", (EXACT, LIMIT, UNCLEAR, NEITHER), strict=False):
        found = [(r.width - r.bound, y) for y, cell in enumerate(cells.values()) for r in cell if r.kind == kind]
        right.plot(*zip(*found, strict=True) if found else ([], []), marker, color=color, markersize=4, label=kind)
    ends = [cell.first.closed_form - cell.first.bound for cell in cells.values()]
    right.plot(ends, range(len(cells)), "|", color=GRAY, markersize=9, label="closed form")
    right.axvline(0, color=GRAY, linewidth=0.7, linestyle=":")
    right.set_yticks(range(len(cells)), list(cells), fontsize=6)
    right.set_xlabel("neurons − lower bound")
    right.legend(fontsize=6)
    return "left: filled per cubed norm of neurons, open per cubed norm of all weights; dotted: 3(p − 1), lower bound"


@few_neurons.claim("answers")
def two_are_enough(t: Table, ask: Ask) -> None:
    """Two neurons answer every pair of a sum, three do so with one wave each; one cannot."""
    found = {width: min(t.where(part="answers", width=width)["accuracy"]) for width in (2, 3)}
    ask.that("two and three neurons answer every pair for every modulus", min(found.values()) == 1)
    one = t.where(part="answers", width=1)
    ask.that("one random neuron answers no more than one pair in p", all(r.accuracy <= 1.0001 / r.p for r in one))
    ask.show({"moduli": ", ".join(map(str, one["p"]))})


@few_neurons.claim("margin")
def six_a_frequency(t: Table, ask: Ask) -> None:
    """The largest margin of n + m takes 3(p − 1) neurons, six for each frequency, and no fewer."""
    some = t.where(part="margin", power=3)
    ask.budget(some, "never", starts=20)
    ask.that("six neurons for each frequency have the largest margin to 1e-9", min(some["six"]) > 1 - 1e-9)
    ask.that("no climb goes beyond it by more than a thousandth", max(some["margin"]) <= 1.001)
    below = some.where(lambda r: r.width < 3 * (r.p - 1))
    ask.that("no climb with fewer neurons comes within a hundredth of it", max(below["margin"]) < 0.99)
    reach = some.where(lambda r: r.width == 3 * (r.p - 1) and r.p == min(some["p"]))
    ask.remark(f"with that many some climb does, for p = {min(some['p'])}", max(reach["margin"]) >= 0.99)
    for p, cell in some.by("p").items():
        ask.show({f"margins found by width, p = {p}": _line(cell)})


def _line(cell: Table) -> str:
    return ", ".join(f"{r.width}: {number(r.margin)}" for r in cell)


@few_neurons.claim("margin")
def norms_stop_early(t: Table, ask: Ask) -> None:
    """Per cubed norm of all weights the largest margin stops growing near p + 2 neurons."""
    cells = t.where(part="margin", power=2).by("p")
    p = min(cells)
    at, top = cells[p].where(f"width <= {p + 2}")["margin"], cells[p]["margin"]
    ask.possible(f"all widths were tried for p = {p}", len(top) >= 2 * p)
    ask.budget(cells[p], "effect", starts=20)
    ask.that(f"{p + 2} neurons have 97 % of the largest found at any width", max(at) >= 0.97 * max(top))
    narrow = cells[p].where(f"width <= {p - 1}")["margin"]
    ask.that(f"{p - 1} neurons have less than 90 %", max(narrow) < 0.9 * max(top))
    ask.show({f"margins found by width, p = {p}": _line(cells[p])})


@few_neurons.claim("margin")
def trained_reach_it(t: Table, ask: Ask) -> None:
    """Gradient descent on cross-entropy reaches the largest margin of its width."""
    some, found = t.where(part="trained"), {}
    best = t.where(part="margin", power=3, p=some.first.p)
    ask.budget(some, "effect", seeds=2)
    for width, cell in some.by("width").items():
        largest = max(best.where(f"width <= {width}")["margin"])
        found[width] = [margin / largest for margin in cell["margin"]]
    ask.that("in every seed at least 90 % of the largest found at its width", min(map(min, found.values())) >= 0.9)
    ask.show({f"share of it, {width} neurons": values for width, values in found.items()}, number)


@few_neurons.claim("exact")
def limits_need_fewer(t: Table, ask: Ask) -> None:
    """The table of a sum is a limit of networks with fewer neurons than any exact one that was found."""
    cells = _groups(t, cyclic=True)
    ask.possible("some width of some group is a limit or exact", any(map(_near, cells.values())))
    fewer = all(cell.where(f"width < {_narrowest(cell)}", kind=LIMIT) for cell in cells.values())
    ask.budget(t.where(part="limit"), starts=20, steps=200)
    ask.that("in every group some width below the narrowest exact one is a limit", fewer)
    _show(ask, cells)


@few_neurons.claim("exact")
def bound_reached_in_the_limit(t: Table, ask: Ask) -> None:
    """In the limit the lower bound 3(p − 1)/2 + 1 (one less than 3p/2 for even p) is reached, and nothing below it."""
    cells = _groups(t, cyclic=True)
    below = any(_near(cell).where(lambda r: r.width < r.bound) for cell in cells.values())
    ask.that("no width below the bound is a limit or exact", not below)
    reached = all(_near(cell).where(lambda r: r.width == r.bound) for cell in cells.values())
    ask.budget(t.where(part="limit"), starts=20, steps=200)
    ask.that("in every group the bound itself is a limit or exact", reached)
    _show(ask, cells)


@few_neurons.claim("groups")
def groups_below_cubes(t: Table, ask: Ask) -> None:
    """Groups that do not commute have exact networks, or limits of networks, with fewer neurons than Σ d³."""
    cells = _groups(t, cyclic=False)
    ask.possible("some such group was tried", cells)
    ask.budget(t.where(part="limit"), starts=20, steps=200)
    fewer = all(_near(cell).where(lambda r: r.width < r.closed_form) for cell in cells.values())
    ask.that("every group that was tried has a network of fewer neurons, exact or in the limit", fewer)
    _show(ask, cells)


def _groups(t: Table, cyclic: bool) -> dict[str, Table]:
    return {group: cell for group, cell in t.where(part="limit").by("group").items() if (group[0] == "Z") == cyclic}


def _near(cell: Table) -> Table:
    return cell.where(kind=(EXACT, LIMIT))


def _narrowest(cell: Table) -> int:
    """The narrowest exact network: found here, or the closed form."""
    return min([cell.first.closed_form, *cell.where(kind=EXACT)["width"]])


def _show(ask: Ask, cells: dict[Any, Table]) -> None:
    for group, cell in cells.items():
        said = ", ".join(f"{r.width}: {r.kind} ({number(r.power)})" for r in cell)
        ask.show({f"{group}, bound {cell.first.bound}, closed form {cell.first.closed_form}": said})
