"""Section 4, Figs. 3 to 6: what the trained transformer consists of, and what its parts are good for."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import progress_measures as measures
from modgrok.measures.circuit import Circuit, ablations, explained_along_sums
from modgrok.measures.network_progress import embedding_and_readout
from modgrok.palette import BLUE, GRAY, VERMILLION
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.nanda2023.sizes import PAPER_STEPS, observed
from modgrok.text import count, number, percent


def structure_of(run: Run) -> dict[str, Any]:
    """Frequencies, neurons and logits of the last network."""
    circuit, answers = Circuit(run.network), run.task.table
    embedding, readout = embedding_and_readout(run.network)
    keys, neurons = measures.key_frequencies(readout), circuit.frequencies
    norms = measures.frequency_norms(embedding), measures.frequency_norms(readout)
    return {
        "frequencies": keys,
        "embedding_frequencies": measures.key_frequencies(embedding),
        "neuron_frequencies": neurons.keys(),
        "clear": (neurons.explained > measures.EXPLAINED).mean(),
        "explained": neurons.explained,
        "embedding_norms": norms[0],
        "readout_norms": norms[1],
        "embedding_gini": measures.gini(norms[0]),
        "readout_gini": measures.gini(norms[1]),
        "readout_share": np.square(norms[1][np.array(keys) - 1]).sum()
        / np.square(readout - readout.mean(axis=0)).sum(),
        "along_sums": explained_along_sums(circuit, keys).min(),
        "logits_explained": measures.cosine_fit(circuit.logits, keys).explained,
        "full_loss": measures.cross_entropy(circuit.logits, answers),
        "restricted_loss": measures.restricted_loss(circuit.logits, answers, keys),
        "attention_to_equals": circuit.attention[..., 2].mean(),
        "heads": circuit.heads(),
    }


def parts_of(run: Run) -> list[dict[str, Any]]:
    """Losses with parts left out, and without single key frequencies; a row for each."""
    circuit, answers = Circuit(run.network), run.task.table
    keys = measures.key_frequencies(embedding_and_readout(run.network)[1])
    rows = [{"part": part, "loss": loss} for part, loss in ablations(circuit, keys, answers).items()]
    return rows + [
        {
            "part": f"without frequency {k}",
            "loss": measures.excluded_loss(circuit.logits, answers, [k]),
            "frequency": k,
        }
        for k in keys
    ]


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


def most(ask: Ask, phrase: str, good: Sequence[bool]) -> None:
    """More than half of the seeds that grok; a remark where not all."""
    ask.that(f"in most seeds that grok, {phrase}", 2 * sum(good) > len(good))
    ask.note(f"In {count(len(good) - sum(good), 'seed')} it does not.", not all(good))


def _learned(t: Table) -> Table:
    return t.where("test_accuracy >= 0.99")


@structure.claim("4.1 (Fig. 3)")
def key_frequencies(t: Table, ask: Ask) -> None:
    """A handful of frequencies carries the sum."""
    seeds = _learned(t)
    counts = {
        name: [len(keys) for keys in seeds[name]]
        for name in ("frequencies", "embedding_frequencies", "neuron_frequencies")
    }
    most(ask, "the readout has 3 to 6 key frequencies", [3 <= n <= 6 for n in counts["frequencies"]])
    ask.show(
        {
            "key frequencies of W_L": counts["frequencies"],
            "of seed 0": ", ".join(map(str, t.first.frequencies)),
            "of the embedding": counts["embedding_frequencies"],
            "of clear neurons": counts["neuron_frequencies"],
            "Gini of W_E": seeds["embedding_gini"],
            "Gini of W_L": seeds["readout_gini"],
        }
    )


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
    ask.yes("Replacing parts helps or does no harm, and nothing of the circuit can go.")
    around = losses["without the path around the MLP"]
    ask.remark("without the path around the MLP it is at most ten times the full one", around <= 10 * full)
    ask.show({f"loss, {row.part}" if row.frequency is None else row.part: number(row.loss) for row in t})
