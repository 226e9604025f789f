"""Fig. 3, and beyond it: how the answers lie in the unembedding, whether cosets of a subgroup, or of one of its
conjugates, lie together in many networks, and which representations of the group it holds."""

from itertools import permutations
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.cosets import cosets, predicted_ratio, shares, within_over_all
from modgrok.measures.principal import commonest_step, tsne
from modgrok.networks import Network
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import named_lines, panels
from modgrok.reproduce.form import BEYOND, Ask, Runs, Sizes, Table, joined, study
from modgrok.reproduce.power2022.operations import KNOWN
from modgrok.reproduce.power2022.sizes import ADDITION, PRODUCT, products, trained, what
from modgrok.shapes import Float, Int
from modgrok.tasks.basis import representations
from modgrok.tasks.basis.group import Cayley, conjugation, generated
from modgrok.tasks.basis.named_groups import cayley_table
from modgrok.tasks.basis.representation import names
from modgrok.text import count, number, percent

PARTITIONS = 200
"""Random partitions that cosets are compared with."""
NETWORKS, DEVIATIONS = 16, 5
"""As many networks as may be without cosets before one doubts that some have them, and the standard deviations of
random partitions by which cosets have to be nearer: with some 200 partitions looked at, chance reaches three."""


def _number(*permutation: int) -> int:
    """Where a permutation stands in lexicographic order, which is how a group's elements are numbered."""
    return [*permutations(range(len(permutation)))].index(permutation)


GENERATORS = {
    "S5": [_number(3, 4, 2, 0, 1), _number(0, 2, 1, 4, 3)],
    "S4": [_number(1, 0, 3, 2), _number(2, 3, 0, 1)],
    "A4": [3, 8],
    "Z7": [1],
}
"""Of the subgroup whose cosets are looked for."""


def last_known(run: Run) -> tuple[int, Network]:
    """The last step whose weights are kept and at which the test set is known, or the last of all; its network."""
    last = int(run.history["step"][-1])
    kept = [step for step in run.snapshots if accuracy_at(run, step) >= KNOWN]
    return (last, run.network) if accuracy_at(run, last) >= KNOWN or not kept else (kept[-1], run.snapshot(kept[-1]))


def accuracy_at(run: Run, step: int) -> float:
    """As it was recorded at that step."""
    return float(run.history["test_accuracy"][run.history["step"] == step][0])


def answers(network: Network) -> Float[np.ndarray, "answer d"]:
    """The rows of the unembedding that answer, without their mean."""
    rows = np.asarray(network.parameters["unembedding.weight"], np.float64)[: network.signature.outputs]
    return rows - rows.mean(axis=0)


def group_of(run: Run) -> tuple[Cayley, Int[np.ndarray, "h"]]:
    """The group of a run, and its subgroup."""
    name = run.experiment.task.split(":")[1]
    return cayley_table(name), np.flatnonzero(generated(cayley_table(name), GENERATORS[name]))


def plane_of(run: Run) -> dict[str, Any]:
    """The unembedding in the plane; of the sum how neighbors differ, of the product the cosets that lie closer."""
    at, network = last_known(run)
    vectors = answers(network)
    plane = tsne(vectors)
    found: dict[str, Any] = {"test_accuracy": accuracy_at(run, at), "plane": plane}
    if not run.experiment.task.startswith("group:"):
        step, share = commonest_step(plane)
        return found | {"commonest": step, "commonest_share": share}
    table, subgroup = group_of(run)
    sides = cosets(table, subgroup)
    side = min(sides, key=lambda name: within_over_all(vectors, sides[name]))
    return found | {"side": side, "cosets": sides[side], "subgroup": len(subgroup)}


def shares_of(run: Run) -> dict[str, Any]:
    """Shares of irreducible representations at every kept step; cosets at the last at which the product is known."""
    table, subgroup = group_of(run)
    parts = representations(table)
    at, network = last_known(run)
    share = shares(answers(network), parts)
    return {
        "dimensions": [part.dimension for part in parts],
        "step": run.snapshots,
        "shares": [shares(answers(run.snapshot(step)), parts) for step in run.snapshots],
        "test_accuracy": [accuracy_at(run, step) for step in run.snapshots],
        "at": at,
        "known": accuracy_at(run, at),
        "share": share,
        **{side: within_over_all(answers(network), labels) for side, labels in cosets(table, subgroup).items()},
        "predicted": predicted_ratio(share, parts, table, subgroup),
    }


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
        "test_accuracy": accuracy_at(run, at),
        "subgroup": len(subgroup),
        "conjugates": len(conjugates),
        "ratios": [within_over_all(vectors, labels) for labels in partitions],
        "chance": [float(np.mean(chance)), float(np.std(chance))],
        "strongest": names([part.dimension for part in parts])[int(np.argmax(share))],
        "share": float(np.max(share)),
    }


def networks(s: Sizes) -> Runs:
    """The product of each group, with weights kept on the way."""
    length = {"steps": s.coset_steps, "snapshots": s.evaluations // 2, "seeds": s.coset_seeds}
    return joined(
        trained(s.but(group=name), PRODUCT, share, **length).tag(group=name) for name, share in s.coset_groups
    )


geometry = study(
    "fig3",
    "Where the answers lie",
    "t-SNE of the rows of the unembedding, at the last saved step at which the network knows the test set (with this "
    "decay, one that has grokked can lose it again). For the group's product, colors are cosets of a subgroup, on the "
    "side whose cosets lie closer together; for the sum, lines join numbers that differ by the commonest difference "
    "between nearest neighbors.",
    runs=lambda s: trained(s, ADDITION, s.shown_fraction, seeds=1) + products(s)[:1],
    keep=plane_of,
)
learned = study(
    "figR",
    "Which representation is learned",
    "How much of the unembedding lies in each irreducible representation of the group; a prime marks another one of "
    "the same dimension. At the start each has its share of all dimensions.",
    runs=products,
    keep=shares_of,
    beyond=True,
)
nearness = study(
    "fig3c",
    "Cosets in many networks",
    "Mean distance between rows of the unembedding within cosets, over that of all pairs: a mark for the left and the "
    "right cosets of a subgroup and of each of its conjugates, in every network that knows the product. Gray: random "
    "partitions, mean and five standard deviations.",
    runs=networks,
    keep=nearness_of,
)


@geometry.figure(columns=2, height=3.2)
def planes(t: Table, left: Any, right: Any) -> str:
    total, product = t.rows
    step, kind = total.commonest, f"{product.side} cosets of a subgroup of {product.subgroup}"
    titles = f"{product.operation} {product.place}; {kind}", f"x + y mod {total.modulus}; lines: add {step}"
    style.letter((left, right), titles)
    left.scatter(*zip(*product.plane, strict=True), c=product.cosets, cmap="tab20", s=10)
    x, y = zip(*total.plane, strict=True)
    right.scatter(x, y, c=[c % step for c in range(len(x))], cmap="tab10", s=10)
    for c in range(len(x)):
        other = (c + step) % len(x)
        right.plot([x[c], x[other]], [y[c], y[other]], color="#999999", linewidth=0.3, zorder=0)
    for panel in (left, right):
        panel.set(xticks=[], yticks=[])
    return "t-SNE of the rows of the unembedding"


@learned.figure()
def shares_on_the_way(t: Table) -> Any:
    figure, grid = style.grid(1, len(t), height=3.0)
    for panel, row in zip(grid[0], t, strict=True):
        courses = [dict(zip(row.step, share, strict=True)) for share in zip(*row.shares, strict=True)]
        named_lines(panel, dict(zip(names(row.dimensions), courses, strict=True)), markersize=3)
        panel.plot(row.step, row.test_accuracy, color="black", linestyle="--", label="test accuracy")
        panel.axvline(row.at, color="black", linewidth=0.6, linestyle=":")
        panel.set_xscale("symlog", linthresh=100)
        panel.set(xlabel="step", xlim=(0, row.step[-1]), ylabel="share of the unembedding", ylim=(-0.02, 1.02))
        panel.set_title(f"seed {row.seed}", loc="left")
    grid[0, 0].legend(title="dimension", loc="upper left")
    style.note(figure, f"{what(t)}; dotted: the last kept step at which the test set is known")
    return figure


@geometry.claim("3.3 (Fig. 3)")
def structure_of_sums(t: Table, ask: Ask) -> None:
    """The unembedding shows the structure of addition: numbers follow each other in equal steps along lines."""
    total = t.where(operation=ADDITION).first
    ask.show({"commonest step between neighbors (the paper: 8)": str(total.commonest)})
    ask.show({"share of numbers with that step": total.commonest_share, "accuracy": total.test_accuracy}, percent)
    ask.possible("the network knows the sum", total.test_accuracy >= KNOWN)
    ask.yes(f"For {percent(total.commonest_share)} of the numbers the nearest neighbor differs by {total.commonest}.")
    same = total.commonest_share >= 0.5
    ask.that("in the plane, for at least half of the numbers the nearest neighbor differs by the same", same)


@learned.claim(BEYOND)
def few_representations(t: Table, ask: Ask) -> None:
    """What is learned of a group are few of its irreducible representations, and these say how near cosets lie."""
    seeds, labels = t.where(f"known >= {KNOWN}"), names(t.first.dimensions)
    ask.possible("some network knows the product", seeds)
    for row in seeds:
        parts = [f"{percent(s)} in {label}" for label, s in zip(labels, row.share, strict=True) if s > 0.02]
        ratios = f"cosets {number(row.left)} and {number(row.right)}, predicted {number(row.predicted)}"
        ask.show({f"seed {row.seed}, step {count(row.at)}": f"{', '.join(parts)}; {ratios}"})
    held = min(seeds.each(lambda r: sum(sorted(r.share)[-2:])))
    missed = max(abs(off) for side in ("left", "right") for off in seeds[side] - seeds["predicted"])
    strongest = seeds.each(lambda r: labels[r.share.index(max(r.share))])
    ask.that("in every seed that knows the product two irreducible representations hold 90 % or more", held >= 0.9)
    ask.that("shares predict the distance within cosets over all within 0.02, on both sides", missed <= 0.02)
    ask.yes(f"They are; the strongest is of dimension {' and '.join(strongest)}.")
    ask.remark("every seed knows the product", len(seeds) == len(t))


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
