"""Section 4, Figs. 3 to 6: what the trained transformer consists of, what its parts are good for, and its logits as
products of waves of n and m, at the end and on the way."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import progress_measures as measures
from modgrok.measures.circuit import Circuit, ablations, explained_along_sums
from modgrok.measures.progress_measures import embedding_and_readout, key_frequencies_of, logits_of
from modgrok.palette import BLUE, GRAY, SERIES, VERMILLION
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import BEYOND, Ask, Row, Table, study
from modgrok.reproduce.nanda2023.progress import THEN, grokked, most, progress
from modgrok.reproduce.nanda2023.sizes import PAPER_STEPS, observed
from modgrok.text import number, percent


def structure_of(run: Run) -> dict[str, Any]:
    """Frequencies, neurons and logits of the last network."""
    circuit, answers = Circuit(run.network), run.task.table
    embedding, readout = embedding_and_readout(run.network)
    keys, neurons = measures.key_frequencies(readout), circuit.frequencies
    read, said = measures.frequency_norms(embedding), measures.frequency_norms(readout)
    held, whole = said[np.array(keys) - 1], readout - readout.mean(axis=0)
    return {
        "frequencies": keys,
        "embedding_frequencies": measures.key_frequencies(embedding),
        "neuron_frequencies": neurons.keys(),
        "clear": (neurons.explained > measures.EXPLAINED).mean(),
        "explained": neurons.explained,
        "embedding_norms": read,
        "readout_norms": said,
        "embedding_gini": measures.gini(read),
        "readout_gini": measures.gini(said),
        "readout_share": np.square(held).sum() / np.square(whole).sum(),
        "along_sums": explained_along_sums(circuit, keys).min(),
        "logits_explained": measures.cosine_fit(circuit.logits, keys).explained,
        "full_loss": measures.cross_entropy(circuit.logits, answers),
        "restricted_loss": measures.restricted_loss(circuit.logits, answers, keys),
        "attention_to_equals": circuit.attention[..., 2].mean(),
        "heads": circuit.heads(),
    }


def parts_of(run: Run) -> list[dict[str, Any]]:
    """Losses with parts left out, and without single key frequencies; a row for each."""
    circuit, answers, keys = Circuit(run.network), run.task.table, key_frequencies_of(run.network)
    ablated = [{"part": part, "loss": loss} for part, loss in ablations(circuit, keys, answers).items()]
    losses = {k: measures.excluded_loss(circuit.logits, answers, [k]) for k in keys}
    return ablated + [{"part": f"without frequency {k}", "loss": losses[k], "frequency": k} for k in keys]


def products_of(run: Run) -> dict[str, Any]:
    """The share of the logits' power in products of two waves of one key frequency, and the coefficients of all cosines
    of n + m − c on the way, at every other kept step; of seed 0 the norms of all products too."""
    keys, kept = key_frequencies_of(run.network), run.snapshots[::-2][::-1]
    norms = measures.product_norms(logits_of(run.network))
    power = np.square(norms)
    own = sum(power[2 * k - 1 : 2 * k + 1, 2 * k - 1 : 2 * k + 1].sum() for k in keys)
    coefficients = [measures.cosine_fit(logits_of(run.snapshot(step))).coefficients for step in kept]
    found = {
        "frequencies": keys,
        "own_share": own / (power.sum() - power[0, 0]),
        "kept_step": kept,
        "coefficients": np.array(coefficients).T,
    }
    return found if run.experiment.seed else found | {"norms": norms}


structure = study(
    "fig3",
    "A few frequencies carry the sum",
    "Norms of the embedding and of W_L (from neurons to logits) along every frequency, and the share of each neuron's "
    "power that a single frequency explains.",
    runs=observed,
    keep=("test_accuracy", structure_of),
)
parts = study(
    "fig5",
    "What each part contributes",
    "The loss over all pairs with parts of the trained network replaced or left out. Clear neurons are those of which "
    "one frequency explains more than 85 %; key directions are those along which W_L reads the neurons.",
    runs=lambda s: observed(s)[:1],
    keep=parts_of,
)
logits = study(
    "figF",
    "The logits in two dimensions",
    "(a) The two-dimensional Fourier transform of the logits: for each wave of n (rows) times wave of m (columns) the "
    "norm over the answers, at the end; cosine and sine of each frequency lie side by side. (b) The coefficients of "
    "cos(w(n + m − c)) on the way: key frequencies in color, all others gray.",
    runs=observed,
    keep=("test_accuracy", products_of),
    digits=3,
)


@structure.figure("embedding $W_E$", "readout $W_L$", "neurons", height=2.7)
def spectra(t: Table, left: Any, middle: Any, right: Any) -> str:
    first = t.first
    for panel, norms in ((left, first.embedding_norms), (middle, first.readout_norms)):
        colors = [VERMILLION if k + 1 in first.frequencies else GRAY for k in range(len(norms))]
        panel.bar(range(1, len(norms) + 1), norms, color=colors, width=0.9)
        panel.set(xlabel="frequency", ylabel="norm")
    right.hist([value for value in first.explained if value is not None], bins=25, range=(0, 1), color=BLUE)
    right.set(xlabel="share of power in one frequency", ylabel="neurons")
    return f"{modular(t)}, seed 0 of {len(t)}; red: key frequencies"


@parts.figure(height=2.9)
def losses_of_parts(t: Table, panel: Any) -> str:
    panel.barh(t["part"][::-1], t["loss"][::-1], color=BLUE, height=0.7)
    panel.axvline(np.log(t.one("modulus")), color=GRAY, linewidth=0.7, linestyle=":")
    panel.set(xscale="log", xlabel="cross-entropy over all pairs")
    return f"{modular(t)}, seed 0; dotted: all answers equally likely"


@logits.figure("products of waves, at the end", "coefficients on the way", height=3.1)
def two_dimensions(t: Table, left: Any, right: Any) -> str:
    first = t.first
    norms = np.array(first.norms)
    norms[0, 0] = 0  # the mean over all pairs, which decides nothing
    image = left.imshow(norms, origin="lower")
    left.figure.colorbar(image, ax=left, label="norm over the answers", shrink=0.8)
    at = [2 * k - 0.5 for k in first.frequencies]
    left.set_xticks(at, first.frequencies, fontsize=6)
    left.set_yticks(at, first.frequencies, fontsize=6)
    left.set(xlabel="frequency of m", ylabel="frequency of n")
    x, colors = first.kept_step[1:], dict(zip(first.frequencies, SERIES, strict=False))
    for k, values in enumerate(first.coefficients, 1):
        look = {"color": colors[k], "label": f"{k}", "zorder": 3} if k in colors else {"color": GRAY, "linewidth": 0.4}
        right.plot(x, values[1:], **look)
    right.set(xscale="log", xlabel="step", ylabel="coefficient of cos(w(n + m − c))")
    right.legend(loc="upper left", fontsize=6, title="frequency", title_fontsize=6)
    return f"{modular(t)}, seed 0 of {len(t)}; ticks in (a): key frequencies"


def _learned(t: Table) -> Table:
    return t.where("test_accuracy >= 0.99")


@structure.claim("4.1 (Fig. 3)")
def key_frequencies(t: Table, ask: Ask) -> None:
    """A handful of frequencies carries the sum."""
    seeds = _learned(t)
    counts = seeds.each(lambda r: len(r.frequencies))
    most(ask, "the readout has 3 to 6 key frequencies", [3 <= n <= 6 for n in counts])
    ask.show({"key frequencies of W_L": counts, "of seed 0": ", ".join(map(str, t.first.frequencies))})
    ask.show({"of the embedding": seeds.each(lambda r: len(r.embedding_frequencies))})
    ask.show({"of clear neurons": seeds.each(lambda r: len(r.neuron_frequencies))})
    ask.show({"Gini of W_E": seeds["embedding_gini"], "Gini of W_L": seeds["readout_gini"]})


@structure.claim("4.2 to 4.4")
def trigonometric_circuit(t: Table, ask: Ask) -> None:
    """Neurons are waves of one frequency, and logits are sums of cos(w(n + m − c))."""
    seeds = _learned(t)
    ask.budget(t, steps=PAPER_STEPS)
    most(
        ask,
        "sums of cosines explain at least 90 % of the logits, one frequency explains more than 85 % of at least 75 % "
        "of the neurons, and key frequencies hold at least 95 % of W_L",
        seeds.each(lambda r: r.logits_explained >= 0.9 and r.clear >= 0.75 and r.readout_share >= 0.95),
    )
    ask.show(
        {
            "logits explained by cosines of the key frequencies": seeds["logits_explained"],
            "neurons explained by one frequency": seeds["clear"],
            "W_L in the key frequencies": seeds["readout_share"],
            "neurons along the key directions explained by n + m, least": seeds["along_sums"],
            "attention from = to =": seeds["attention_to_equals"],
            "heads explained by one frequency, seed 0": ", ".join(f"{k}: {percent(e)}" for k, e in t.first.heads),
        },
        percent,
    )


@structure.claim("5.1")
def restriction_helps(t: Table, ask: Ask) -> None:
    """In the end the circuit alone answers better than the whole network."""
    seeds = _learned(t)
    good = seeds.each(lambda r: r.restricted_loss <= r.full_loss)
    most(ask, "the restricted loss is at most the full loss over all pairs", good)
    ask.show({"full loss": seeds["full_loss"], "restricted loss": seeds["restricted_loss"]})


@parts.claim("4.4 (ablations)", structure)
def parts_of_the_circuit(t: Table, networks: Table, ask: Ask) -> None:
    """The waves of n + m are all that the network needs of its neurons, and it needs them."""
    losses = {row.part: row.loss for row in t}
    full = losses["nothing"]
    alone = _learned(networks).each(lambda r: r.restricted_loss / r.full_loss - 1)
    ask.show({"loss of the waves of n + m alone, against the full one (the paper: −77 %)": alone}, percent)
    ask.that("the network has a loss below a tenth of ln p", full < np.log(t.one("modulus")) / 10)
    ask.that("the waves of n + m alone have a smaller one in every seed that groks", max(alone, default=0) < 0)
    along = losses["neurons along the key directions alone"]
    ask.that("with the neurons projected on the key directions it is at most twice the full one", along <= 2 * full)
    for part in ("the MLP", "attention", "the path around attention"):
        ask.that(f"without {part} it is above 0.5", losses[f"without {part}"] > 0.5)
    ask.that("without the key directions too", losses["neurons without the key directions"] > 0.5)
    ask.yes("The waves of n + m alone answer better than the whole network, and no part of the circuit can go.")
    around = losses["without the path around the MLP"]
    ask.remark("without the path around the MLP it is at most ten times the full one", around <= 10 * full)
    ask.show({f"loss, {row.part}" if row.frequency is None else row.part: number(row.loss) for row in t})


@logits.claim("4.2 to 4.4")
def sparse_logits(t: Table, ask: Ask) -> None:
    """In two dimensions the logits are sparse: they use products of waves of n and of m with the same key frequency."""
    seeds = _learned(t)
    good = [share >= 0.9 for share in seeds["own_share"]]
    most(ask, "products of two waves of one key frequency hold at least 90 % of the power of the logits", good)
    ask.show({"power in products of two waves of one key frequency": seeds["own_share"]}, percent)


@logits.claim(BEYOND, progress)
def chosen_while_forming(t: Table, network_progress: Table, ask: Ask) -> None:
    """The key frequencies are chosen while the circuit forms, before the test loss falls."""
    when = {row.seed: row.step[row.cleaning] for row in grokked(network_progress)}
    seeds = t.where(lambda r: r.seed in when)
    ratios = seeds.each(lambda r: _least_over_largest(r, when[r.seed]))
    good = [ratio > 1 for ratio in ratios]
    most(ask, f"{THEN}, every key frequency of the end has a larger coefficient than all others", good)
    ask.show({"least coefficient of the key frequencies there, in units of the largest other": ratios})


def _least_over_largest(row: Row, step: int) -> float:
    at = max(i for i, kept in enumerate(row.kept_step) if kept <= step)
    size, keys = np.abs(row.coefficients)[:, at], np.array(row.frequencies) - 1
    return float(size[keys].min() / max(np.delete(size, keys).max(initial=0), 1e-12))
