"""Finding 2: phases align when nothing is known."""

from typing import Any

from modgrok.experiments import Run
from modgrok.measures import neuron_waves, waves_only
from modgrok.networks import score_table
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, runs, study

RANDOM = "random labels"


def few(s: Sizes) -> Runs:
    """Networks trained on very few pairs, with right and with random labels."""
    common = {"task": "n + m", "modulus": s.few_modulus, "width": s.few_width, "optimizer": "adam", "lr": 0.1}
    common |= {"steps": s.few_steps, "evaluations": 1, "snapshots": 2}
    labels = {"right": {}, RANDOM: {"wrong_labels": 1 - 1 / s.few_modulus}}
    return runs(common, labels=labels, examples=list(s.few_pairs), seed=range(s.few_seeds))


def aligned(run: Run) -> dict[str, Any]:
    """Coherence of the phases, and what the network answers once its neurons are replaced by their waves."""
    accuracy = score_table(waves_only(run.network), run.task.table).accuracy
    return {"coherence": neuron_waves(run.network).coherence, "waves": accuracy}


few_pairs = study(
    "alignment",
    "Phases align when nothing is known",
    "Coherence of φ1 + φ2 − φ3 after training on very few pairs.",
    runs=few,
    keep=("train_accuracy", "test_accuracy", aligned),
)


@few_pairs.claim("alignment")
def few_pairs_align(t: Table, ask: Ask) -> None:
    """A few right examples align the phases of all neurons; as many wrong ones do not."""
    most = t.where(examples=max(t["examples"]))
    right, random = most.where(labels="right"), most.where(labels=RANDOM)
    ask.that("with the largest number of pairs coherence is at least 0.3", min(right["coherence"]) >= 0.3)
    ask.that("with random labels it stays below 0.15", max(random["coherence"]) < 0.15)
    ask.show({f"coherence, {n} pairs": cell["coherence"] for n, cell in t.where(labels="right").by("examples").items()})
    ask.yes("Phases align after a few right examples, and not after wrong ones.")
