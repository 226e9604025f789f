"""Fig. 7: the progress measures on the way, for the transformer and for the two-layer network side by side."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.ipr import average_ipr
from modgrok.measures.progress_measures import (
    cross_entropy,
    excluded_logits,
    frequency_norms,
    gini,
    key_frequencies,
    restricted_logits,
)
from modgrok.networks import Network, grid, outputs
from modgrok.palette import GRAY, GREEN, PURPLE, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nanda2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study, Tree, results
from modgrok.shapes import Bool, Float, Integer
from modgrok.text import count

Loss = Callable[..., float]


def embedding_and_readout(network: Network) -> tuple[Float[np.ndarray, "p a"], Float[np.ndarray, "p b"]]:
    """$W_E$ and $W_L$: for the transformer its embedding and $W_U W_{out}$, for two layers $W^{(1)}$ and $W^{(2)}$."""
    p, w = network.signature.outputs, network.parameters
    if network.architecture.name == "two-layer":
        return np.asarray(network.w_in, np.float64).reshape(-1, p).T, np.asarray(network.w_out, np.float64)
    readout = np.asarray(w["unembedding.weight"], np.float64)[:p] @ np.asarray(w["blocks.mlp.0.out.weight"], np.float64)
    return np.asarray(w["embedding"], np.float64)[:p], readout


def squared_error(
    logits: Float[np.ndarray, "p p c"],
    answers: Integer[np.ndarray, "p p"],
    among: Bool[np.ndarray, "p p"] | None = None,
) -> float:
    """Mean squared distance to the one-hot answers, over all pairs or among some: what the two-layer network learns."""
    right = np.arange(logits.shape[2]) == answers[..., None]
    losses = np.square(logits - right).mean(axis=2)
    return float(losses.mean() if among is None else losses[among].mean())


def progress(run: Run) -> Numbers:
    """All measures at the kept steps, with the key frequencies of the end and the loss that was trained."""
    experiment, task = run.experiment, run.task
    p, answers = task.modulus, task.table
    trained = np.isin(np.arange(p * p), experiment.split.divide(task)[0]).reshape(p, p)
    loss: Loss = cross_entropy if experiment.loss == "cross_entropy" else squared_error
    networks = [run.snapshot(step) for step in run.snapshots]
    keys = key_frequencies(embedding_and_readout(networks[-1])[1])
    rows = [_measured(network, answers, trained, keys, loss) for network in networks]
    steps = np.array(run.snapshots)
    found: Numbers = {"steps": steps, "keys": keys, "loss": experiment.loss}
    found |= {name: np.array([row[name] for row in rows]) for name in rows[0]}
    history = run.history
    found["test_accuracy"] = np.interp(steps, history["step"], history["test_accuracy"])
    return (
        found
        | phases(found)
        | dict(zip(("memorized_at", "grokked_at"), results(run, "memorized_at", "grokked_at"), strict=True))
    )


def _measured(
    network: Network,
    answers: Integer[np.ndarray, "p p"],
    trained: Bool[np.ndarray, "p p"],
    keys: Sequence[int],
    loss: Loss,
) -> dict[str, float]:
    p = len(answers)
    logits = np.asarray(outputs(network, grid((p, p))), np.float64).reshape(p, p, p)
    embedding, readout = embedding_and_readout(network)
    measured = {
        "train_loss": loss(logits, answers, trained),
        "test_loss": loss(logits, answers, ~trained),
        "restricted_loss": loss(restricted_logits(logits, keys), answers),
        "excluded_loss": loss(excluded_logits(logits, keys), answers, trained),
        "gini_embedding": gini(frequency_norms(embedding)),
        "gini_readout": gini(frequency_norms(readout)),
        "squares": float(sum(np.square(np.asarray(w, np.float64)).sum() for w in network.parameters.values())),
    }
    if network.architecture.name == "two-layer":
        measured["ipr"] = float(average_ipr(network.w_in).mean)
    return measured


def phases(found: Numbers) -> Numbers:
    """Where circuit formation and clean-up begin and end: from the least excluded loss on the circuit forms; clean-up
    lasts from the last step at which the test loss is at least half of its maximum until 99 % of the test is right."""
    steps, test, excluded = found["steps"], found["test_loss"], found["excluded_loss"]
    late = int(np.flatnonzero(test >= test.max() / 2)[-1])
    early = int(excluded[: late + 1].argmin())
    solved = np.flatnonzero(found["test_accuracy"] >= 0.99)
    done = solved[0] if len(solved) else None
    return {
        "forming_from": steps[early],
        "cleaning_from": steps[late] if done is not None else None,
        "clean_at": None if done is None else steps[done],
        "places": [early, late, done],
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Of every seed of the transformer, and of the two-layer network."""
    return {
        "modulus": profile.modulus,
        "transformer": [progress(run) for run in runs["transformer"]],
        "two_layer": progress(runs["two_layer"][0]),
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(3, 2, height=6.2, sharex="col")
    both = (n["transformer"][0], n["two_layer"])
    colors = (TRAIN, TEST, GREEN, PURPLE)
    for column, found in enumerate(both):
        x, shown = found["steps"][1:], lambda name, found=found: found[name][1:]
        for name, color in zip(("train", "test", "restricted", "excluded"), colors, strict=True):
            panels[0, column].plot(x, shown(f"{name}_loss"), label=name, color=color)
        for name, label in (("gini_embedding", "Gini of $W_E$"), ("gini_readout", "Gini of $W_L$"), ("ipr", "IPR")):
            if name in found:
                panels[1, column].plot(x, shown(name), label=label)
        panels[2, column].plot(x, shown("squares"), color=GRAY)
        panels[0, column].set(yscale="log", ylabel="cross-entropy" if column == 0 else "squared error")
        panels[1, column].set(ylabel="Gini coefficient", ylim=(0, 1))
        panels[2, column].set(ylabel="sum of squared weights", xlabel="step", yscale="log")
        for panel in panels[:, column]:
            panel.set_xscale("log")
            first = panel is panels[0, column]
            style.mark(panel, found["forming_from"], "circuit" if first else "", "right")
            style.mark(panel, found["cleaning_from"], "clean-up" if first else "")
            style.mark(panel, found["clean_at"])
    panels[0, 0].legend(loc="lower left", fontsize=6)
    panels[1, 0].legend(loc="upper left", fontsize=6)
    panels[1, 1].legend(loc="upper left", fontsize=6)
    titles = [
        f"{name}, {len(found['keys'])} key frequencies"
        for name, found in zip(("transformer", "two layers of squares"), both, strict=True)
    ]
    for panel, title in zip(panels[0], titles, strict=True):
        panel.set_title(title, pad=12)
    steps = count(int(both[0]["steps"][-1]))
    style.note(
        figure,
        f"n + m mod {n['modulus']}; transformer: seed 0 of {len(n['transformer'])}, {steps} steps; dotted: phases",
    )
    return figure


STUDY = Study(
    "fig7",
    "Progress measures of a transformer and of the two-layer network",
    "Restricted loss: only what the logits have along the key frequencies of n + m, on all pairs. Excluded loss: the "
    "logits without that, on the training pairs. Key frequencies are those whose norm in W_L is above a quarter of the "
    "largest at the end. The two-layer network learns by squared error, and its measures are taken with that.",
    numbers,
    lambda profile: {"transformer": profile.main(), "two_layer": profile.two_layer()},
    draw,
)
