"""Figs. 2 and 4 by the transformer of Power et al., which the paper trains."""

import numpy as np

from modgrok.measures.spikes import late_spikes
from modgrok.reproduce.form import Ask, Row, Table, runs, study
from modgrok.reproduce.power2022.sizes import TRANSFORMER
from modgrok.reproduce.thilak2022.sizes import ADAM, DESCENT_RATE, DOUBLE, EPSILONS, FIRST, LAST
from modgrok.reproduce.thilak2022.stairs import drawn, found_in, loss_and_norm, spikes_of
from modgrok.text import count, percent

DIVISION = TRANSFORMER | {
    **{"task": "n/m", "modulus": 97, "vocabulary": 239, "optimizer": "adam", "weight_decay": 0.0, "batch_size": 512},
    **{"steps": 15_000, "evaluations": 2_000, "record": ("last_layer",)},
}
VARIANTS = ADAM | {
    "weight decay 1": {"optimizer": "adamw", "weight_decay": 1.0},
    "gradient descent": {"optimizer": "sgd", "lr": DESCENT_RATE},
}
transformer = study(
    "figT",
    "The transformer of the paper",
    "Division modulo 97 by the transformer of Power et al., in batches of 512.",
    runs=lambda s: runs(DIVISION, variant=VARIANTS, seed=range(2)),
    keep=("test_accuracy", drawn, spikes_of),
)
transformer.figure()(loss_and_norm)


def late(row: Row) -> int:
    """Spikes that the early noise of batches does not explain."""
    return len(late_spikes(np.array(row.step, int), np.array(row.train_loss, float)))


@transformer.claim("3, 4 (Figs. 2, 4)")
def slingshots_of_the_transformer(t: Table, ask: Ask) -> None:
    """The transformer of Power et al. has the same spikes, and loses them in the same ways."""
    t = Table(vars(row) | {"spikes": late(row)} for row in t)
    found = found_in(t, *EPSILONS, DOUBLE, "gradient descent", "weight decay 1")
    first, second, *others = found.values()
    ask.that(f"every seed has spikes at {FIRST} after the training loss has been below 1e-8", all(first))
    ask.that("at 1e-7 there are fewer in sum", sum(second) < sum(first))
    quiet = not any(map(sum, others))
    ask.that("there are none at 1e-5, with float64 logits and loss, with SGD, and at weight decay 1", quiet)
    ask.show(found)


@transformer.claim(
    "3 (Figs. 2, 4)",
    "median test accuracy at the end 0.1 higher at ε = 1e-8 than at 1e-5; where not, undecided before 100 000 steps, "
    "after which the paper's accuracy rises",
)
def generalization_after_stairs(t: Table, ask: Ask) -> None:
    """Without weight decay, late generalization comes with the stairs; without them there is none."""
    ends = {name: cell["test_accuracy"] for name, cell in t.by("variant").items()}
    stairs, none = (float(np.median(ends[name])) for name in (FIRST, LAST))
    told = f"the test accuracy is {percent(stairs)} with stairs, {percent(none)} without"
    ask.yes(f"After {count(t.one('steps'))} steps {told}.")
    ask.fault("", stairs - none < 0.1)
    ask.budget(t, steps=100_000)
    ask.show({f"test accuracy, {name}": some for name, some in ends.items()}, percent)
