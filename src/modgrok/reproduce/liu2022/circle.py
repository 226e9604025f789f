"""The transformer of section 4: addition modulo 53 bends the embedding into a circle."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.principal import effective_dimension, principal_plane, roundness
from modgrok.plot import style
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Table, runs, study
from modgrok.reproduce.liu2022.transformer import THEIRS, TRANSFORMER
from modgrok.text import percent


def planes_of(run: Run) -> dict[str, Any]:
    """The plane of the first two components at the start and at the end, and the dimension on the way."""
    steps, numbers = run.snapshots, run.task.modulus
    vectors = [np.asarray(run.snapshot(step).parameters["embedding"], np.float64)[:numbers] for step in steps]
    (start, _), (end, _) = (principal_plane(vectors[i]) for i in (0, -1))
    return {
        "step": steps,
        "effective_dimension": [effective_dimension(np.linalg.svd(v - v.mean(axis=0))[1]) for v in vectors],
        "start": start,
        "end": end,
        "roundness": [roundness(start), roundness(end)],
    }


transformer = study(
    "figP",
    "The embedding of a transformer",
    "The embeddings of the numbers 0 … 52 on their first two principal components, before training and after a "
    "transformer has learned to add modulo 53.",
    runs=lambda s: runs(
        {name: TRANSFORMER[name] for name in ("task", "modulus", "fraction", "network", "width", "hidden")} | THEIRS,
        optimizer="adamw",
        lr=1e-3,
        weight_decay=1.0,
        steps=s.circle_steps,
        snapshots=12,
        seed=range(s.circle_seeds),
    ),
    keep=("test_accuracy", "grokked_at", planes_of),
)


@transformer.figure("embedding at the start", "at the end", "its dimension", height=2.6)
def planes(t: Table, left: Any, middle: Any, right: Any) -> str:
    run = t.first
    for panel, places in ((left, run.start), (middle, run.end)):
        panel.scatter(*zip(*places, strict=True), c=range(len(places)), cmap="twilight", s=10)
        panel.set_aspect("equal")
        panel.set(xlabel="first component", ylabel="second component")
    right.plot(run.step, run.effective_dimension, marker="o")
    right.set_xscale("symlog", linthresh=10)
    right.set(xlabel="step", ylabel="effective dimension")
    style.mark(right, run.grokked_at, "grokked")
    return f"{modular(t)}, a transformer of one block, seed 0 of {len(t)}; colors: the number n"


@transformer.claim("4 (Fig. 1)")
def circle(t: Table, ask: Ask) -> None:
    """A transformer that adds modulo 53 has its embeddings on a circle."""
    learned = t.where("test_accuracy >= 0.99")
    rounds = learned.each(lambda r: r.roundness[1] < 0.2 and r.roundness[1] < r.roundness[0] / 2)
    ask.that(
        "in most seeds that know the test set the radius varies by less than 20 % of its mean, and by less than half "
        "as much as before",
        2 * sum(rounds) > len(rounds),
    )
    ask.remark("in all of them", all(rounds))
    ask.remark("more than one seed is trained", len(t) > 1)
    for label, column in (("variation of the radius", "roundness"), ("effective dimension", "effective_dimension")):
        for i, when in ((0, "start"), (-1, "end")):
            ask.show({f"{label}, {when}": [values[i] for values in t[column]]})
    ask.show({"test accuracy": t["test_accuracy"]}, percent)
