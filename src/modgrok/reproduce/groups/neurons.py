"""What the neurons of trained networks are: one representation, rank one, shared vectors; and how many have which."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures.cosets import coset_share, equivariant_share
from modgrok.measures.vectors import SHARED, UNSHARED, group_blocks, middle_share, neuron_vectors, shared_vectors
from modgrok.networks import Network, score_table
from modgrok.palette import BLUE, GRAY, MARKERS, SERIES, VERMILLION
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.groups.dealing import CUBES, dealt, proportions
from modgrok.reproduce.groups.sizes import FEW_PAIRS, basis_of, exact, task_of, trained
from modgrok.text import listed, number, percent


def neurons_of(run: Run, group: str) -> list[dict[str, Any]]:
    """The neurons at initialization, at the end, and of as many random vectors, a row each."""
    written = solve(task_of(group), "waves", run.experiment.width, seed=run.experiment.seed)
    networks = {"initial": run.snapshot(0), "trained": run.network, "written": written}
    return [{"weights": name, **told(network, group)} for name, network in networks.items()]


def told(network: Network, group: str) -> dict[str, Any]:
    """Medians over the neurons of a network on a group, what is left of it with shared and unshared vectors, and how
    many of its neurons have which representation."""
    basis, table = basis_of(group), task_of(group).table
    vectors = neuron_vectors(network, basis)
    size = np.array([one.dimension // one.type for one in basis.representations])[vectors.representation]
    alive = ~np.isnan(vectors.share)
    blocks = group_blocks(network, basis).reshape(-1, basis.length)
    middle = middle_share(network, basis, vectors)
    return {
        "representation_share": np.nanmedian(vectors.share),
        "rank_one": _median(vectors.rank_one[alive & (size > 2)].mean(axis=1)),
        "agreement": _median(vectors.agreement[alive & (size > 1)].mean(axis=1)),
        "positive": (vectors.gap[vectors.clear] < np.pi / 2).mean() if vectors.clear.any() else None,
        # The cosets of all subgroups take long in larger groups.
        "cosets": np.nanmedian(coset_share(blocks, table)) if basis.length <= 60 else None,
        "equivariant": equivariant_share(network, table),
        "middle": _median(middle[~np.isnan(middle)]),
        SHARED: score_table(shared_vectors(network, basis), table).accuracy,
        UNSHARED: score_table(shared_vectors(network, basis, shuffle=0), table).accuracy,
        **dealt(network, basis, vectors),
    }


def _median(values: np.ndarray) -> float | None:
    return float(np.median(values)) if len(values) else None


neurons = study(
    "neurons",
    "Neurons of networks trained on groups",
    "Medians over the neurons of each network, at initialization, trained on products, trained on random labels: the "
    "share of a neuron's power in its strongest representation, how far its blocks have rank one in it, and how far "
    "they share their vectors. Rank is that of neurons whose representation has at least three dimensions over its own "
    "field (in two, random matrices are nearly of rank one), vectors where it has at least two.",
    runs=lambda s: (
        trained(s, s.groups).tag(labels="products")
        + trained(s, s.random_labels, random_labels=True).tag(labels="random")
    ),
    keep=("memorized_at", "grokked_at", neurons_of),
)
TRAINED = {"weights": "trained", "labels": "products"}
KINDS = {
    "trained": TRAINED,
    "initial": TRAINED | {"weights": "initial"},
    "random labels": TRAINED | {"labels": "random"},
}
"""Rows of networks that learn products, and of controls."""
MEDIANS = {"representation_share": "one representation", "rank_one": "rank one", "agreement": "shared vectors"}


@neurons.figure(*MEDIANS.values(), height=2.9, sharey=True)
def medians_of_neurons(t: Table, *shown: Any) -> str:
    looks = {"initial": ("initial", GRAY, "x"), "trained": ("products", BLUE, "o")}
    looks |= {"random labels": ("random labels", VERMILLION, "s")}
    names = {group: i for i, group in enumerate(t["group"].distinct())}
    for panel, column in zip(shown, MEDIANS, strict=True):
        for kind, (label, color, marker) in looks.items():
            known = [row for row in t.where(**KINDS[kind]) if row[column] is not None]
            x, y = [names[row.group] for row in known], [row[column] for row in known]
            panel.scatter(x, y, color=color, marker=marker, s=12, label=label)
        panel.set_xticks(list(names.values()), list(names), rotation=60, fontsize=6)
        panel.set(ylim=(0, 1.03))
    shown[0].legend(fontsize=6, loc="lower left")
    return f"{seeds(t)} of each group, marks are networks"


@neurons.figure(
    width=4.6,
    height=3.4,
    title="Neurons of each representation",
    caption="Clear neurons (more than half of their power in one representation) of each representation in each "
    "network, against the number that is in proportion to d³/t, the closed form's own.",
    name="counts",
)
def counts_of_neurons(t: Table, panel: Any) -> str:
    found = t.where(**TRAINED)
    for i, (group, cell) in enumerate(found.by("group").items()):
        expected = [x * sum(r.counts) for r in cell for x in proportions(r.dimensions, r.types, CUBES)]
        counts = [n for r in cell for n in r.counts]
        color, filled = SERIES[i % len(SERIES)], i < len(SERIES)
        look = {"marker": MARKERS[i % len(MARKERS)], "color": color, "facecolor": color if filled else "none"}
        panel.scatter(expected, counts, s=9, label=group, **look)
    limits = [1, 2 * max(n for r in found for n in r.counts) + 2]
    panel.plot(limits, limits, color=GRAY, linewidth=0.7)
    panel.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    panel.set(xlabel="in proportion to d³/t", ylabel="clear neurons")
    panel.legend(fontsize=6, ncols=2)
    return f"{seeds(found)}, marks are representations; line: equal"


def by_group(t: Table, column: str) -> dict[str, float]:
    """The median over seeds, of the groups that have one."""
    found = {group: cell[column].known() for group, cell in t.by("group").items()}
    return {group: float(np.median(values)) for group, values in found.items() if values}


def by_kind(t: Table, column: str) -> dict[str, dict[str, float]]:
    """Medians of every group, of trained networks, at initialization, and trained on random labels."""
    return {kind: by_group(t.where(**rows), column) for kind, rows in KINDS.items()}


def show_groups(ask: Ask, found: Mapping[str, Mapping[str, float]], text: Callable[[Any], str] = percent) -> None:
    ask.show({label: listed(some, text) for label, some in found.items()})


def _judge(t: Table, ask: Ask, column: str, what: str, least: float, most: float) -> None:
    """At least so much in every trained group, at most so much in the controls."""
    found = by_kind(t, column)
    products, initial, random = found.values()
    ask.possible("some group has such representations", products)
    lowest, highest = min(products.values()), max(products.values())
    ask.that(f"{what} is at least {least:g} in every group", lowest >= least)
    ask.that(f"at initialization it is at most {most:g} in every group", max(initial.values(), default=0) <= most)
    ask.remark(f"with random labels it is at most {most:g}", max(random.values(), default=0) <= most)
    show_groups(ask, found, number)
    ask.yes(f"{what[0].upper()}{what[1:]} is between {number(lowest)} and {number(highest)}.")


@neurons.claim("trained networks")
def groks(t: Table, ask: Ask) -> None:
    """Networks of squares grok products in groups: they know the training set first and the rest later."""
    found = t.where(**TRAINED)
    judged = found.where(lambda row: task_of(row.group).modulus ** 2 > FEW_PAIRS)
    late = [row.group for row in judged if row.grokked_at is None]
    delays = (judged["grokked_at"] / judged["memorized_at"]).known()
    ask.that(f"every seed of every group with more than {FEW_PAIRS} pairs knows 99 % of the test set", not late)
    ask.that("most of them at least twice as late as the training set", 2 * sum(d >= 2 for d in delays) > len(judged))
    times = found.where(seed=0).each(lambda r: f"{r.group} {r.memorized_at}, {r.grokked_at}")
    ask.show({"training and test set known at step, seed 0": "; ".join(times)})
    ask.show({"test set in units of the training set's time": delays})
    ask.show({"not within the steps": ", ".join(dict.fromkeys(late))} if late else {})


@neurons.claim("trained networks")
def one_representation(t: Table, ask: Ask) -> None:
    """Each neuron has one representation."""
    _judge(t, ask, "representation_share", "the median share of a neuron's power in one representation", 0.9, 0.8)


@neurons.claim("trained networks")
def rank_one(t: Table, ask: Ask) -> None:
    """Each block of a neuron is a matrix coefficient of rank one over the representation's own field."""
    _judge(t, ask, "rank_one", "the median share of rank one", 0.95, 0.85)


@neurons.claim("trained networks")
def shared(t: Table, ask: Ask) -> None:
    """The three blocks of a neuron share their vectors, as φ1 + φ2 = φ3 for waves."""
    _judge(t, ask, "agreement", "the median agreement of vectors", 0.95, 0.8)


@neurons.claim("trained networks")
def signs(t: Table, ask: Ask) -> None:
    """The product of the vectors' signs is positive, as the phases' sum is 0 and not π."""
    found = by_kind(t.where(labels="products"), "positive")
    least, before = min(found["trained"].values()), max(found["initial"].values(), default=0.0)
    ask.that("at least 95 % of the clear neurons in every group", least >= 0.95)
    ask.that("at most 80 % at initialization in every group", before <= 0.8)
    show_groups(ask, {kind: found[kind] for kind in ("trained", "initial")})
    ask.yes("All clear neurons, in every group." if least == 1 else f"At least {percent(least)} in every group.")


@neurons.claim("trained networks")
def vectors_carry_the_answer(t: Table, ask: Ask) -> None:
    """What a neuron computes is in its shared vectors: with every readout made of its inputs' vectors the network
    answers, with another neuron's block it does not."""
    found = {column: by_group(t.where("grokked_at > 0", **TRAINED), column) for column in (SHARED, UNSHARED)}
    ask.possible("some network groks", found[SHARED])
    ask.that("with shared vectors every group's median accuracy is at least 99 %", min(found[SHARED].values()) >= 0.99)
    ask.that("with the second block of another neuron it is at most 50 %", max(found[UNSHARED].values()) <= 0.5)
    show_groups(ask, found)


def deviations(t: Table) -> dict[str, list[float]]:
    """Rms relative deviation of the mean counts from the proportions d²/t, d³/t and d⁴/t, for each group."""
    found = {}
    for group, cell in t.by("group").items():
        counts = np.mean(np.array(cell["counts"], float), axis=0)
        shares = [proportions(cell.first.dimensions, cell.first.types, e) for e in (2.0, 3.0, 4.0)]
        found[group] = [float(np.sqrt(np.mean(np.square(counts / (counts.sum() * x) - 1)))) for x in shares]
    return found


@neurons.claim("trained networks")
def dealt_as_cubes(t: Table, ask: Ask) -> None:
    """Neurons are dealt to representations in proportion to d³, as in the closed form."""
    several = t.where(lambda r: len(set(r.dimensions)) > 1 and r.width >= exact(r.group), **TRAINED)
    clear = {group for group, value in by_group(several, "clear").items() if value >= 0.9}
    off = {group: values for group, values in deviations(several).items() if group in clear}
    ask.possible("two groups of several dimensions have at least 90 % clear neurons", len(off) >= 2)
    nearest = all(cube < min(square, fourth) for square, cube, fourth in off.values())
    ask.that("d³ is nearer than d² and d⁴ in every such group", nearest)
    ask.remark("the rms relative deviation from d³ is at most 0.2 in every one", max(v[1] for v in off.values()) <= 0.2)
    ask.show({f"off d², d³, d⁴ by, {group}": ", ".join(map(number, values)) for group, values in off.items()})


@neurons.claim("Morwani et al. (2023)")
def all_representations(t: Table, ask: Ask) -> None:
    """The network of largest margin uses every representation; Chughtai et al. find few in a network, others in
    another."""
    found = t.where("grokked_at > 0", **TRAINED)
    ask.possible("some network groks", found)
    missing = {group: cell.each(lambda r: r.counts.count(0)) for group, cell in found.by("group").items()}
    whole = not any(map(any, missing.values()))
    ask.that("in every network that groks every representation but the trivial one has clear neurons", whole)
    ask.show({f"representations without neurons, {group}": counts for group, counts in missing.items()})


@neurons.claim("Stander et al. (2023)")
def cosets(t: Table, ask: Ask) -> None:
    """Neurons are functions of cosets of subgroups, as in networks of ReLU on S5 and S6."""
    large = t.where(labels="products").where(lambda r: max(r.dimensions) > 2)
    weights = {"trained": "trained", "initial": "initial", "random vectors": "written"}
    found = {label: by_group(large.where(weights=name), "cosets") for label, name in weights.items()}
    products, _, written = found.values()
    ask.possible("some group has a representation of more than two dimensions", products)
    ask.that("cosets explain at least 95 % of the median block in every such group", min(products.values()) >= 0.95)
    less = all(1 - value <= (1 - written[group]) / 2 for group, value in products.items())
    ask.that("what they leave is at most half of what they leave of random vectors, in every such group", less)
    show_groups(ask, found)


@neurons.claim("Wu et al. (2024)")
def equivariant(t: Table, ask: Ask) -> None:
    """Networks move along with each factor: f(gx, y) at gq and f(x, yh) at qh are f(x, y) at q, approximately."""
    found = by_kind(t, "equivariant") | {"trained": by_group(t.where("grokked_at > 0", **TRAINED), "equivariant")}
    products, *controls = found.values()
    ask.possible("some network groks", products)
    ask.that("at least 90 % of the outputs' variance moves along in every group", min(products.values()) >= 0.9)
    highest = max(value for some in controls for value in some.values())
    ask.that("at initialization and with random labels at most 50 %", highest <= 0.5)
    show_groups(ask, found)


@neurons.claim("Wu et al. (2024)")
def one_middle_vector(t: Table, ask: Ask) -> None:
    """All neurons of a representation share their middle vector b, as the authors' code takes them to do in networks of
    ReLU; squares need vectors b in all directions to be exact."""
    found, initial, _ = by_kind(t, "middle").values()
    ask.possible("some group has representations of several dimensions", found)
    ask.that("at least 90 % of their middle vectors lie along one direction in every group", min(found.values()) >= 0.9)
    parts = {group: basis_of(group).representations for group in found}
    even = {g: np.median([r.type / r.dimension for r in some if r.dimension > r.type]) for g, some in parts.items()}
    show_groups(ask, {"trained": found, "initial": initial, "no direction preferred (t/d)": even})
