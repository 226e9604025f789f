"""Finding 1: how neurons are dealt to representations. Initial weights say which neuron takes which, not how many do.

Thresholds were chosen after runs on S4 and S3xS3 with seeds 100, 101 and 200; the judged ones have seeds 0, 1, ….
"""

from collections.abc import Iterator
from itertools import product
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Observer, Run, Store
from modgrok.experiments.train import train_all
from modgrok.measures.race import kappa, largest_overlap, race
from modgrok.measures.vectors import neuron_vectors, rescale_representations
from modgrok.networks import two_layer
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Row, Runs, Sizes, Table, joined, runs, study
from modgrok.reproduce.groups.dealing import dealt, exponent
from modgrok.reproduce.groups.sizes import DECAYS, basis_of, exact
from modgrok.text import number

RULES: dict[str, dict[str, Any]] = {
    "gd": {"optimizer": "gd", "lr": "auto", "weight_decay": 0.0},
    "adam": {"optimizer": "adam", "lr": 0.03, "weight_decay": 0.0},
    "adamw": {"optimizer": "adamw", "lr": 0.1},
}
FRACTION, SETTLED = 0.8, 0.9
"""Share of the table that is trained on; share of neurons from which on they count as dealt."""
CLEAR = 0.7
"""Share of clear neurons that a network needs to be judged."""


def settings(s: Sizes, group: str, rule: str) -> dict[str, Any]:
    common = {"task": f"group:{group}", "width": min(1_000, 4 * exact(group)), "fraction": FRACTION}
    decay = {"weight_decay": DECAYS.get(group, 0.2)} if rule == "adamw" else {}
    return common | {"steps": s.dealing_steps[rule], "evaluations": 100, "snapshots": 12} | RULES[rule] | decay


def trained(s: Sizes) -> Runs:
    """Ordinary networks, by every optimizer."""
    return joined(
        runs(settings(s, group, rule), seed=range(s.dealing_seeds)).tag(group=group, rule=rule, scale=None)
        for group, rule in product(s.dealing_groups, RULES)
    )


def rescaled(s: Sizes) -> Iterator[dict[str, Any]]:
    """Networks whose initial weights have the part of the largest representations multiplied by a factor."""
    with TemporaryDirectory() as folder:
        store, tags, experiments = Store(folder), [], []
        for group, seed, scale in product(s.dealing_groups, range(s.scale_seeds), s.scales):
            basis, width = basis_of(group), settings(s, group, "gd")["width"]
            weights = np.random.default_rng(seed).standard_normal((width, 3, basis.length))
            sizes = [one.dimension for one in basis.representations]
            factors = [scale if size == max(sizes) else 1.0 for size in sizes]
            first = two_layer(weights[:, :2], weights[:, 2].T)
            parent = store.add_network(rescale_representations(first, basis, factors))
            for rule in s.scale_rules:
                tags.append({"group": group, "rule": rule, "scale": scale, "seed": seed})
                experiments.append(Experiment(**settings(s, group, rule), seed=seed, parent=parent))
        for tag, run in zip(tags, train_all(experiments, store, Observer()), strict=True):
            result: Any = run.result
            yield tag | {"grokked_at": result["grokked_at"]} | course(run, tag["group"])


def course(run: Run, group: str) -> dict[str, Any]:
    """What became of every neuron, and how far its initial weights said so."""
    basis = basis_of(group)
    sizes = np.array([one.dimension for one in basis.representations])
    end = neuron_vectors(run.network, basis)
    judged, final = end.clear, end.representation[end.clear]
    first = run.snapshot(0)
    raced, strongest = race(first, basis).representation, neuron_vectors(first, basis).representation
    shuffled = np.random.default_rng(0).permutation(raced[judged])
    on_the_way = [neuron_vectors(run.snapshot(step), basis) for step in run.snapshots]
    return {
        **dealt(run.network, basis, end),
        "race_counts": np.bincount(raced, minlength=len(sizes))[1:],
        "race": kappa(raced[judged], final),
        "strongest": kappa(strongest[judged], final),
        "shuffled": kappa(shuffled, final),
        "overlap": kappa(largest_overlap(first, basis)[judged], final),
        "every neuron": kappa(raced, end.representation),
        "at": run.snapshots,
        "same": [(x.representation == end.representation)[judged].mean() if judged.any() else 0 for x in on_the_way],
        "changed": [(x.representation != end.representation)[x.clear].sum() / len(x.clear) for x in on_the_way],
        "largest": [(sizes[x.representation] == sizes.max()).mean() for x in on_the_way],
        "largest_at_end": (sizes[final] == sizes.max()).mean() if judged.any() else None,
    }


dealing = study(
    "dealing",
    "How neurons are dealt to representations",
    "Left: agreement beyond chance (Cohen's κ) between the representation of each clear neuron in the end and the "
    "winner of the race from its initial weights, the strongest one at initialization, and the race of other neurons; "
    "a mark for each network. Middle: share of neurons whose strongest representation is one of the largest dimension, "
    "where the initial weights in these were multiplied by a factor; seed 0. Right: the exponent e for which shares in "
    "proportion to dᵉ/t fit the clear neurons, all seeds together.",
    runs=trained,
    keep=("grokked_at", course),
    rows=rescaled,
)


def ordinary(t: Table) -> Table:
    """Networks with their own initial weights that grok and have clear neurons."""
    return t.where(lambda r: r.scale is None and r.grokked_at and r.clear >= CLEAR)


def counts_exponents(t: Table, column: str = "counts") -> dict[str, float]:
    """By optimizer, or other rule, over all seeds."""
    return {
        rule: exponent(np.sum(np.array(cell[column], float), axis=0), cell.first.dimensions, cell.first.types)
        for rule, cell in t.by("rule").items()
    }


def differences(t: Table) -> Table:
    """Of networks from rescaled weights, beside their own: where the share of the largest representations goes."""
    cells = t.where("scale > 0").where(lambda r: r.grokked_at and r.clear >= CLEAR).by("group", "rule", "seed")
    return Table(
        {"group": r.group, "rule": r.rule, "scale": r.scale, "changed": max(r.changed)}
        | {"own_changed": max(own.changed), "start": r.largest[0] - own.largest[0]}
        | {"end": r.largest_at_end - own.largest_at_end}
        for cell in cells.values()
        for own in cell.where(scale=1)
        for r in cell.where("scale != 1")
    )


@dealing.figure("who", "how many", "which law", height=2.9)
def who_and_how_many(t: Table, left: Any, middle: Any, right: Any) -> str:
    groups = list(t["group"].distinct())
    for i, kind in enumerate(("race", "strongest", "shuffled")):
        for j, rule in enumerate(RULES):
            some = ordinary(t).where(rule=rule)
            x = [groups.index(r.group) + 0.22 * (j - 1) for r in some]
            look = {"color": SERIES[i], "marker": MARKERS[j], "s": 10, "label": kind if j == 0 else None}
            left.scatter(x, some[kind], **look)
    left.set_xticks(range(len(groups)), groups, fontsize=6)
    left.set(ylabel="agreement κ", ylim=(-0.2, 1.1))
    left.legend(fontsize=6, ncols=3, columnspacing=0.8, handletextpad=0.2, loc="upper center")
    shown = t.where(lambda r: r.scale is not None and r.seed == 0 and r.group == groups[0])
    for i, (rule, some) in enumerate(shown.by("rule").items()):
        for style, row in zip(("-", "--", ":", "-."), some, strict=False):
            label = f"{rule}, × {row.scale:g}"
            middle.plot(row.at[1:], row.largest[1:], color=SERIES[i], linestyle=style, label=label)
    middle.set(xscale="log", xlabel="step", ylabel=f"share of the largest, {groups[0]}", ylim=(-0.03, 1.45))
    middle.set_yticks([0, 0.25, 0.5, 0.75, 1])
    middle.legend(fontsize=6, ncols=2, loc="upper center")
    for i, (group, some) in enumerate(ordinary(t).by("group").items()):
        line = counts_exponents(some) | {"race": counts_exponents(some.where(rule="gd"), "race_counts").get("gd")}
        right.plot(list(line), list(line.values()), MARKERS[i], color=SERIES[i], markersize=4, label=group)
    for level in (2.5, 3.0):
        right.axhline(level, color=GRAY, linewidth=0.7, linestyle=":")
    right.set(ylabel="exponent of d")
    right.legend(fontsize=6)
    return f"{seeds(t)}; left: circles gd, squares adam, triangles adamw; right, dotted: 5/2 and 3"


@dealing.claim("who")
def race_names_neurons(t: Table, ask: Ask) -> None:
    """Which representation a neuron takes is written in its initial weights: the race run from them names it."""
    found = ordinary(t)["rule"].distinct()
    ask.possible("networks grok by gd and by adam or adamw and have clear neurons", len(found) > 1 and "gd" in found)
    for rule, least in (("gd", 0.5), ("adam", 0.3), ("adamw", 0.3)):
        cells = ordinary(t).where(rule=rule).by("group")
        if not cells:
            continue
        for kind in ("race", "strongest", "shuffled", "overlap", "every neuron"):
            known = {group: cell[kind] for group, cell in cells.items() if cell[kind].whole()}
            ask.show({f"κ of {kind}, {group}, {rule}": values for group, values in known.items()}, number)
        low = min(np.median(cell["race"]) for cell in cells.values())
        ask.that(f"by {rule} κ of the race is at least {least} in every group", low >= least)
        gains = [np.median(cell["race"]) - np.median(cell["strongest"]) for cell in cells.values()]
        ask.that(f"by {rule} it is 0.1 above that of the strongest at initialization in every group", min(gains) >= 0.1)
        off = max(abs(np.median(cell["shuffled"])) for cell in cells.values())
        ask.that(f"by {rule} κ of other neurons' races is below 0.15", off < 0.15)
    ask.yes("The race names most neurons, long before training does.")


def _dealt_at(r: Row) -> float:
    """When nine tenths of the clear neurons have their final representation, in units of the grokking step."""
    return r.at[int(np.argmax(np.array(r.same) >= SETTLED))] / r.grokked_at


@dealing.claim("who")
def dealt_before_grokking(t: Table, ask: Ask) -> None:
    """Neurons have their final representation before the test set is known."""
    some = ordinary(t)
    ask.possible("some network groks and has clear neurons", len(some))
    dealt_at = {rule: cell.each(_dealt_at) for rule, cell in some.by("rule").items()}
    early = max(map(max, dealt_at.values())) < 1
    ask.that("in every network nine tenths of the clear neurons have theirs before 99 % of the test set", early)
    first = max(r.same[0] for r in some)
    ask.that("at initialization fewer than nine tenths have, in every network", first < SETTLED)
    for rule, times in dealt_at.items():
        ask.show({f"dealt, in units of the time to 99 % of the test set, {rule}": times}, number)
    ask.yes("They do, in every network.")


@dealing.claim("how many")
def scales_are_forgotten(t: Table, ask: Ask) -> None:
    """How many neurons a representation gets does not depend on the scale of its initial weights: neurons are dealt
    again."""
    found = differences(t)
    ask.possible("networks from rescaled weights grok and have clear neurons", len(found))
    ask.budget(t.where("scale > 0"), seeds=2)
    least, end = max(found["start"]), max(map(abs, found["end"]))
    ask.that("the largest representations begin with at least 0.3 less of all neurons", least <= -0.3)
    ask.that("they end with a share of the clear ones within 0.1 of that without rescaling", end <= 0.1)
    ask.that(
        "at the smallest scale at least a fifth of all neurons are clear in another representation on the way",
        min(found.where(scale=min(found["scale"]))["changed"]) >= 0.2,
    )
    ask.that("without rescaling fewer than a tenth are", max(found["own_changed"]) < 0.1)
    for (group, rule), some in found.by("group", "rule").items():
        for scale, here in sorted(some.by("scale").items()):
            said = ", ".join(f"{number(here[name].average())} {name}" for name in ("start", "end", "changed"))
            ask.show({f"share of the largest less than without rescaling, {group}, {rule}, {scale:g}": said})
    ask.yes("Initial scales are forgotten: neurons that had one representation take another.")


@dealing.claim("which law")
def one_exponent(t: Table, ask: Ask) -> None:
    """One power of d gives the number of neurons, whatever the optimizer."""
    found = {group: counts_exponents(cell) for group, cell in ordinary(t).by("group").items()}
    several = {group: line for group, line in found.items() if len(line) >= 2}
    ask.possible("two optimizers have networks with clear neurons on some group", several)
    spread = {group: max(line.values()) - min(line.values()) for group, line in several.items()}
    ask.that("the exponents of the optimizers differ by less than 0.3 in every group", max(spread.values()) < 0.3)
    for group, line in found.items():
        ask.show({f"exponent, {group}": ", ".join(f"{rule} {number(e)}" for rule, e in line.items())})
    ask.yes("The exponents of all optimizers agree.")


@dealing.claim("which law")
def norms_meet_the_demand(t: Table, ask: Ask) -> None:
    """The products of norms add up as d^(5/2), which exactness demands, from every start and by every optimizer."""
    some = t.where(lambda r: r.grokked_at and r.clear >= CLEAR)
    ask.possible("some network groks and has clear neurons", len(some))
    cells = some.by("group", "rule", "scale").items()
    found = {(group, rule, scale): counts_exponents(cell, "norms")[rule] for (group, rule, scale), cell in cells}
    near = all(abs(e - 2.5) <= 0.3 for e in found.values())
    ask.that("their exponent is within 0.3 of 5/2 for every group, optimizer and scale", near)
    for rule in some["rule"].distinct():
        values = {key: e for key, e in found.items() if key[1] == rule}
        group, _, scale = max(values, key=lambda key: abs(values[key] - 2.5))
        label = f"exponent of norms, {rule} (farthest from 5/2: {group}, scale {scale or 1:g})"
        ask.show({label: f"{number(min(values.values()))} to {number(max(values.values()))}"})
