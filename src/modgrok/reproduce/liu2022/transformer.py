"""The transformer that adds modulo 53: the circle of its embedding, phases against rate and weight decay of its
decoder, and dropout."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.principal import effective_dimension, principal_plane, roundness
from modgrok.plot import style
from modgrok.plot.phase_diagram import patches
from modgrok.reproduce.figures import modular, phase_map, seeds, times
from modgrok.reproduce.form import Ask, Runs, Settings, Sizes, Table, runs, study
from modgrok.reproduce.liu2022.phases import RELIABLE, classified, closer, counted, diagrams, places
from modgrok.reproduce.liu2022.sizes import PAPER_STEPS
from modgrok.text import count, number, percent

ADDER: Settings = {
    **{"task": "n + m", "modulus": 53, "fraction": 0.8, "network": "transformer", "width": 256, "hidden": 256},
    **{"optimizer": "adamw", "lr": 1e-3},
}
DECODER = {"weight_decay": 0.0, "embedding_lr": 1e-3, "embedding_decay": 0.0, "beta2": 0.999}
SCHEDULE = {"evaluations": 300, "snapshots": 0, "until": 0}
THEIRS: Settings = {"heads": 1, "layer_norm": "post"}
"""Of the authors' transformer, where nanda2023's has four heads and no LayerNorm."""
SOON = 1_000
"""Steps of delay that count as none."""


def decoders(s: Sizes, **more: Any) -> Runs:
    return runs(ADDER | DECODER | SCHEDULE, steps=s.transformer_steps, **more, seed=range(s.transformer_seeds))


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
        ADDER | THEIRS, weight_decay=1.0, steps=s.circle_steps, snapshots=12, seed=range(s.circle_seeds)
    ),
    keep=("test_accuracy", "grokked_at", planes_of),
)
phases = study(
    "figT",
    "The phases of a transformer",
    "The same phases for a transformer that adds modulo 53, against the rate and the weight decay of all its weights "
    "but the embedding, whose rate is 0.001 without decay.",
    runs=lambda s: decoders(s, weight_decay=[*s.transformer_decays], lr=[*s.transformer_rates], threshold=RELIABLE).tag(
        diagram="e"
    ),
    also=classified,
)
dropout = study(
    "figO",
    "The delay with dropout",
    "Steps until the transformer knows 99 % of the training set (squares) and of the test set (dots), against the "
    "share of its hidden vector that is dropped; no weight decay. Crosses: some seed does not get there.",
    runs=lambda s: decoders(s, **THEIRS, dropout=[*s.dropouts]),
    keep=("memorized_at", "grokked_at"),
)


@transformer.figure("embedding at the start", "at the end", "its dimension", height=2.6)
def planes(t: Table, left: Any, middle: Any, right: Any) -> str:
    run = t.first
    for panel, plane in ((left, run.start), (middle, run.end)):
        panel.scatter(*zip(*plane, strict=True), c=range(len(plane)), cmap="twilight", s=10)
        panel.set_aspect("equal")
        panel.set(xlabel="first component", ylabel="second component")
    right.plot(run.step, run.effective_dimension, marker="o")
    right.set_xscale("symlog", linthresh=10)
    right.set(xlabel="step", ylabel="effective dimension")
    style.mark(right, run.grokked_at, "grokked")
    return f"{modular(t)}, a transformer of one block, seed 0 of {len(t)}; colors: the number n"


@phases.figure(width=3.4, height=2.9)
def map_of_phases(t: Table, panel: Any) -> str:
    here = places(diagrams(t)["e"])
    drawn = phase_map(panel, here, ("lr", "decoder learning rate"), ("weight_decay", "decoder weight decay"))
    panel.figure.legend(handles=patches([drawn]), loc="outside upper center", ncols=2)
    return f"{modular(t)}, at most {count(t.one('steps'))} steps, the commonest of {seeds(t)}"


@dropout.figure(width=3.4, height=2.7)
def times_with_dropout(t: Table, panel: Any) -> str:
    times(panel, t, "dropout")
    panel.set(xlabel="dropout")
    return f"{modular(t)}, {seeds(t)}, at most {count(t.one('steps'))} steps"


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


@phases.claim("abstract, 4 (transformer)")
def phases_of_the_transformer(t: Table, ask: Ask) -> None:
    """On the transformer too grokking stays closer to memorization than comprehension does."""
    _, here = counted(t, "e", ask)
    closer(ask, {"e": (here, "weight_decay")})
    ask.budget(t, steps=PAPER_STEPS)


@dropout.claim("4 (transformer, dropout)")
def dropout_removes_the_delay(t: Table, ask: Ask) -> None:
    """Dropout lets the transformer generalize without delay."""
    delays = {rate: (cell["grokked_at"] - cell["memorized_at"]) for rate, cell in t.by("dropout").items()}
    medians = {rate: some.median() for rate, some in delays.items()}
    ask.show({f"delay in steps, dropout {number(rate)}": some for rate, some in delays.items()})
    plain = medians.pop(0.0)
    ask.that(f"without dropout the median delay is at least {count(SOON)} steps", plain is None or plain >= SOON)
    short = [rate for rate, delay in medians.items() if delay is not None and delay < SOON]
    ask.that(f"with some dropout it is below {count(SOON)} steps", short)
    ask.budget(t, seeds=3)
