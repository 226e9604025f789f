"""Figs. 3 to 6: what the trained transformer consists of, and what its parts are good for."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.progress_measures import (
    EXPLAINED,
    cosine_fit,
    cross_entropy,
    excluded_loss,
    frequency_norms,
    gini,
    key_frequencies,
    restricted_loss,
)
from modgrok.palette import BLUE, GRAY, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.nanda2023.mechanism import Circuit, ablations, explained_along_sums
from modgrok.reproduce.nanda2023.profile import Profile
from modgrok.reproduce.nanda2023.studies_progress import embedding_and_readout
from modgrok.reproduce.study import Numbers, Study, results


def structure(profile: Profile, runs: list[Run]) -> Numbers:
    """Frequencies, neurons and logits of every seed's last network."""
    return {"modulus": profile.modulus, "seeds": [_structure(run) for run in runs]}


def _structure(run: Run) -> Numbers:
    circuit, answers = Circuit(run.network), run.task.table
    embedding, readout = embedding_and_readout(run.network)
    keys = key_frequencies(readout)
    neurons = circuit.frequencies
    norms = frequency_norms(readout)
    fit = cosine_fit(circuit.logits, keys)
    clear = neurons.explained > EXPLAINED
    return {
        "test_accuracy": results(run, "test_accuracy"),
        "keys": keys,
        "keys_of_embedding": key_frequencies(embedding),
        "keys_of_neurons": neurons.keys(),
        "neurons_of_keys": [int((clear & (neurons.frequency == k)).sum()) for k in keys],
        "neurons": len(clear),
        "clear": float(clear.mean()),
        "explained": neurons.explained,
        "embedding_norms": frequency_norms(embedding),
        "readout_norms": norms,
        "gini": [gini(frequency_norms(embedding)), gini(norms)],
        "readout_share": np.square(norms[np.array(keys) - 1]).sum() / np.square(readout - readout.mean(axis=0)).sum(),
        "directions": explained_along_sums(circuit, keys),
        "logits_explained": fit.explained,
        "loss": cross_entropy(circuit.logits, answers),
        "restricted_loss": restricted_loss(circuit.logits, answers, keys),
        "attention_to_equals": float(circuit.attention[..., 2].mean()),
        "heads": [head._asdict() for head in circuit.heads()],
    }


def parts(profile: Profile, runs: list[Run]) -> Numbers:
    """Losses with parts left out, of the first seed, and without single key frequencies."""
    circuit, answers = Circuit(runs[0].network), runs[0].task.table
    keys = key_frequencies(embedding_and_readout(runs[0].network)[1])
    return {
        "modulus": profile.modulus,
        "keys": keys,
        "losses": ablations(circuit, keys, answers),
        "without_key": {k: excluded_loss(circuit.logits, answers, [k]) for k in keys},
        "without_keys": excluded_loss(circuit.logits, answers, keys),
        "chance": float(np.log(profile.modulus)),
    }


def draw_structure(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, height=2.7)
    first = n["seeds"][0]
    for panel, name in zip(panels[0], ("embedding_norms", "readout_norms"), strict=False):
        norms = first[name]
        colors = [VERMILLION if k + 1 in first["keys"] else GRAY for k in range(len(norms))]
        panel.bar(range(1, len(norms) + 1), norms, color=colors, width=0.9)
        panel.set(xlabel="frequency", ylabel="norm")
    explained = [value for value in first["explained"] if value is not None]
    panels[0, 2].hist(explained, bins=25, range=(0, 1), color=BLUE)
    panels[0, 2].set(xlabel="share of power in one frequency", ylabel="neurons")
    style.letter(panels[0], ("embedding $W_E$", "readout $W_L$", "neurons"))
    style.note(figure, f"n + m mod {n['modulus']}, seed 0 of {len(n['seeds'])}; red: key frequencies")
    return figure


def draw_parts(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.PAGE, 2.9)
    panel = panels[0, 0]
    losses = n["losses"] | {f"without frequency {k}": loss for k, loss in n["without_key"].items()}
    names = list(reversed(losses))
    panel.barh(names, [losses[name] for name in names], color=BLUE, height=0.7)
    panel.axvline(n["chance"], color=GRAY, linewidth=0.7, linestyle=":")
    panel.set(xscale="log", xlabel="cross-entropy over all pairs")
    style.note(figure, f"n + m mod {n['modulus']}, seed 0; dotted: all answers equally likely")
    return figure


STUDIES = (
    Study(
        "fig3",
        "A few frequencies carry the sum",
        "Norms of the embedding and of W_L (from neurons to logits) along every frequency, and the share of each "
        "neuron's power that a single frequency explains.",
        structure,
        lambda profile: profile.main(),
        draw_structure,
    ),
    Study(
        "fig5",
        "What the parts are good for",
        "The loss over all pairs with parts of the trained network replaced or left out. Clear neurons are those of "
        "which one frequency explains more than 85 %; key directions are those along which W_L reads the neurons.",
        parts,
        lambda profile: profile.main()[:1],
        draw_parts,
    ),
)
