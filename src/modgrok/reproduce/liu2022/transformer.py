"""The transformer that adds modulo 53: phases against rate and weight decay of its decoder, and dropout."""

from typing import Any

from modgrok.plot.phase_diagram import patches
from modgrok.reproduce.figures import modular, phase_map, seeds, times
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, runs, study
from modgrok.reproduce.liu2022.phases import RELIABLE, classified, closer, diagrams, places
from modgrok.reproduce.liu2022.sizes import PAPER_STEPS
from modgrok.text import count, number

TRANSFORMER: dict[str, Any] = {
    **{"task": "n + m", "modulus": 53, "fraction": 0.8, "network": "transformer", "width": 256, "hidden": 256},
    **{
        "optimizer": "adamw",
        "lr": 1e-3,
        "weight_decay": 0.0,
        "embedding_lr": 1e-3,
        "embedding_decay": 0.0,
        "beta2": 0.999,
    },
    **{"evaluations": 300, "snapshots": 0, "until": 0},
}
THEIRS: dict[str, Any] = {"heads": 1, "layer_norm": "post"}
"""Of the authors' transformer, where nanda2023's has four heads and no LayerNorm."""
SOON = 1_000
"""Steps of delay that count as none."""


def decoders(s: Sizes, **more: Any) -> Runs:
    return runs(TRANSFORMER, steps=s.transformer_steps, **more, seed=range(s.transformer_seeds))


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


@phases.claim("abstract, 4 (transformer)")
def phases_of_the_transformer(t: Table, ask: Ask) -> None:
    """On the transformer too grokking stays closer to memorization than comprehension does."""
    found = diagrams(t)["e"]
    counts = {name: found["phase"].count(name) for name in ("comprehension", "grokking", "memorization", "confusion")}
    ask.show({f"{name}, of {len(found)} runs": count(n) for name, n in counts.items()})
    closer(ask, {"e": (places(found), "weight_decay")})
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
