"""Fig. 3 in many networks: whether cosets of a subgroup, or of one of its conjugates, lie together."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.cosets import cosets, shares, within_over_all
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.figures import panels
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, study
from modgrok.reproduce.power2022.operations import KNOWN
from modgrok.reproduce.power2022.sizes import PRODUCT, trained
from modgrok.reproduce.power2022.unembedding import PARTITIONS, accuracy_at, answers, group_of, last_known, names
from modgrok.tasks.basis import representations
from modgrok.tasks.basis.group import conjugation
from modgrok.text import count, number, percent

NETWORKS, DEVIATIONS = 16, 5
"""As many networks as may be without cosets before one doubts that some have them, and the standard deviations of
random partitions by which cosets have to be nearer: with some 200 partitions looked at, chance reaches three."""


def networks(s: Sizes) -> Runs:
    """The product of each group, with weights kept on the way."""
    length = {"steps": s.coset_steps, "snapshots": s.evaluations // 2, "seeds": s.coset_seeds}
    found = [trained(s.but(group=name), PRODUCT, share, **length).tag(group=name) for name, share in s.coset_groups]
    return sum(found, Runs([]))


def nearness_of(run: Run) -> dict[str, Any]:
    """Distances within cosets of the subgroup and of its conjugates over those of all pairs, mean and deviation of the
    same in random partitions, and the representation that holds most of the unembedding."""
    table, subgroup = group_of(run)
    at, network = last_known(run)
    vectors, random = answers(network), np.random.default_rng(0)
    conjugates = np.unique(np.sort(conjugation(table)[:, subgroup], axis=1), axis=0)
    partitions = [labels for one in conjugates for labels in cosets(table, one).values()]
    chance = [within_over_all(vectors, random.permutation(partitions[0])) for _ in range(PARTITIONS)]
    parts = representations(table)
    share = shares(vectors, parts)
    return {
        "at": at,
        "test_accuracy": accuracy_at(run, at),
        "subgroup": len(subgroup),
        "conjugates": len(conjugates),
        "ratios": [within_over_all(vectors, labels) for labels in partitions],
        "chance": [float(np.mean(chance)), float(np.std(chance))],
        "strongest": names([part.dimension for part in parts])[int(np.argmax(share))],
        "share": float(np.max(share)),
    }


nearness = study(
    "fig3c",
    "Cosets in many networks",
    "Mean distance between rows of the unembedding within cosets, over that of all pairs: a mark for the left and the "
    "right cosets of a subgroup and of each of its conjugates, in every network that knows the product. Gray: random "
    "partitions, mean and five standard deviations.",
    runs=networks,
    keep=nearness_of,
)


@nearness.figure()
def ratios_of_networks(t: Table) -> Any:
    groups = t.by("group")
    titles = [
        f"{name}, {count(cell.first.conjugates, 'subgroup')} of order {cell.first.subgroup}"
        for name, cell in groups.items()
    ]
    figure, shown = panels(*titles, height=2.8, sharey=True)
    for panel, cell in zip(shown, groups.values(), strict=True):
        known = cell.where(f"test_accuracy >= {KNOWN}")
        for i, row in enumerate(sorted(known, key=lambda r: min(r.ratios))):
            middle, deviation = row.chance
            panel.errorbar(i, middle, DEVIATIONS * deviation, color=GRAY, capsize=2, linewidth=0.8)
            panel.plot([i] * len(row.ratios), row.ratios, "o", color=SERIES[0], markersize=3)
        panel.set(xlabel=f"network ({len(known)} of {len(cell)} know the product)", xticks=[])
    shown[0].set_ylabel("distance within cosets over all")
    return figure


def together(t: Table) -> Table:
    """The networks in which some of the cosets lie together."""
    return t.where(lambda r: min(r.ratios) < r.chance[0] - DEVIATIONS * r.chance[1])


@nearness.claim("3.3 (Fig. 3)")
def structure_of_answers(t: Table, ask: Ask) -> None:
    """The unembedding shows the structure of the group: in some networks cosets of a subgroup lie together."""
    for name, cell in t.by("group").items():
        known = cell.where(f"test_accuracy >= {KNOWN}")
        order = f"cosets of a subgroup of order {cell.first.subgroup} in {name}"
        ask.show({f"networks that know the product of {name}": f"{len(known)} of {len(cell)}"})
        ask.show({f"of these with {order} together": str(len(together(known)))})
        ask.show({f"distance within the nearest {order} over all": known.each(lambda r: min(r.ratios))})
        ask.show({f"mean of random partitions in {name}": known.each(lambda r: r.chance[0])})
        for strongest, some in known.by("strongest").items():
            least = number(min(some.each(lambda r: min(r.ratios))))
            label = f"networks of {name} that learn mostly the representation of dimension {strongest}"
            ask.show({label: f"{len(some)}, holding {percent(min(some['share']), 0)} or more; nearest {least}"})
    known = t.where(f"test_accuracy >= {KNOWN}", group=t.first.group)
    ask.possible("some network knows the product of the first group at a kept step", known)
    ask.budget(known, seeds=NETWORKS)
    ask.that(
        "in some network that knows the product, rows of the unembedding within left or right cosets of the subgroup "
        f"or of a conjugate are nearer, relative to all, than in random partitions, by {DEVIATIONS} of their standard "
        "deviations",
        together(known),
    )
