"""Figs. 2 and 4 by the transformer of Power et al., which the paper trains."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.spikes import growth_next_to, late_spikes
from modgrok.measures.times import first_reached
from modgrok.reproduce.form import Ask, Table, curves, runs, study
from modgrok.reproduce.power2022.sizes import PROFILES, lasting_division
from modgrok.reproduce.thilak2022.sizes import ADAM, DESCENT_RATE, DIVISION, DOUBLE, EPSILONS, FIRST, LAST
from modgrok.reproduce.thilak2022.stairs import CUT, PANELS, climbs, curves_by_variant, drawn, found_in, spikes_of
from modgrok.text import count, percent

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
transformer.figure(**PANELS)(curves_by_variant)
POWER = {profile.name: profile for profile in PROFILES}
FINE = 30_000
"""Up to this step there are ten evaluations or more between two spikes."""


def stairs_and_accuracy(run: Run) -> dict[str, Any]:
    """Late spikes, how much of the norm's growth between them lies next to them while evaluations are dense, the best
    test accuracy, and when half of the test set is known."""
    h = run.history
    spikes = late_spikes(h["step"], h["train_loss"])
    return {
        "late": spikes,
        "next_to_spikes": growth_next_to(h["step"], h["last_layer"], [step for step in spikes if step <= FINE]),
        "best": float(h["test_accuracy"].max()),
        "half_at": first_reached(h["step"], h["test_accuracy"], 0.5),
    }


lasting = study(
    "figL",
    "The transformer for long",
    "Division without weight decay by the transformer of Power et al.: training loss, norm of the "
    "last layer and test accuracy, with Adam's usual ε and with one that leaves no stairs.",
    runs=lambda s: lasting_division(POWER[s.name], variant={name: ADAM[name] for name in (FIRST, LAST)}),
    keep=(curves("train_loss", "last_layer", "test_accuracy", most=1_000), stairs_and_accuracy),
)


@lasting.figure(rows=3, columns=2, height=5.0, sharex=True, sharey="row")
def loss_norm_and_accuracy(t: Table, *shown: Any) -> str:
    last = t.one("steps")
    limits = {"xlim": (min(100, last // 2), last), "ylim": (-0.02, 1.02)}
    curves_by_variant(t, *shown, variants=(FIRST, LAST), legend="upper left", xscale="log", **limits)
    for norm in shown[2:4]:
        norm.set_yscale("log")
    return f"x / y modulo {t.one('modulus')}, half of the table; {CUT}"


@transformer.claim("3, 4 (Figs. 2, 4)")
def slingshots_of_the_transformer(t: Table, ask: Ask) -> None:
    """The transformer of Power et al. has the same spikes, and loses them in the same ways."""
    late = t.each(lambda r: len(late_spikes(np.array(r.step, int), np.array(r.train_loss, float))))
    t = Table(vars(row) | {"spikes": spikes} for row, spikes in zip(t, late, strict=True))
    found = found_in(t, *EPSILONS, DOUBLE, "gradient descent", "weight decay 1")
    first, second, *others = found.values()
    ask.that(f"every seed has spikes at {FIRST} after the training loss has been below 1e-8", all(first))
    ask.that("at 1e-7 there are fewer in sum", sum(second) < sum(first))
    quiet = not any(map(sum, others))
    ask.that("there are none at 1e-5, with float64 logits and loss, with SGD, and at weight decay 1", quiet)
    ask.show(found)


@lasting.claim("3 (Fig. 2)")
def stairs_of_the_transformer(t: Table, ask: Ask) -> None:
    """The last layer of the transformer grows in stairs, with a spike of the training loss at each."""
    found = t.where(variant=FIRST)["next_to_spikes"]
    shares = [share for some in found for share in some]
    stairs = sum(share >= 0.5 for share in shares)
    ask.that(f"with ε = 1e-8 every seed has two late spikes or more up to step {count(FINE)}", all(found))
    ask.that(
        "between most of them at least half of the last layer's growth lies in an eighth of the steps behind the first "
        "and an eighth before the second, twice as much as of steady growth",
        2 * stairs > len(shares),
    )
    ask.yes(f"In {stairs} of {len(shares)} intervals between spikes half of the growth or more lies next to them.")
    ask.show({"intervals between spikes": [len(some) for some in found]})
    ask.show({"share of the growth next to spikes": shares}, percent, over="interval")
    climbed = [one for row in t.where(variant=FIRST) for one in climbs(row, [at for at in row.late if at <= FINE])]
    ask.show({"stairs by the rule for the perceptron": f"{sum(climbed)} of {len(climbed)}"})


@lasting.claim("3 (Figs. 2, 4)")
def generalization_after_stairs(t: Table, ask: Ask) -> None:
    """Without weight decay, late generalization comes with the stairs; without them there is none."""
    cells = t.by("variant")
    stairs, none = (float(np.median(cells[name]["best"])) for name in (FIRST, LAST))
    ask.that("the median of the best test accuracy is 0.1 higher at ε = 1e-8 than at 1e-5", stairs - none >= 0.1)
    before = [r for r in cells[FIRST] if r.half_at is not None and (not r.late or r.late[0] > r.half_at)]
    ask.that("every seed at 1e-8 that knows half of the test set has had a late spike before", not before)
    told = f"the best test accuracy is {percent(stairs)} with stairs, {percent(none)} without"
    ask.yes(f"Within {count(t.one('steps'))} steps {told}.")
    ask.budget(t, steps=100_000)
    for name, some in cells.items():
        ask.show({f"late spikes, {name}": some.each(lambda r: len(r.late))})
        ask.show({f"step of the first, {name}": some.each(lambda r: r.late[0] if r.late else None)})
        ask.show({f"best test accuracy, {name}": some["best"]}, percent)
        ask.show({f"half of the test set known at step, {name}": some["half_at"]})
        ask.show({f"norm of the last layer at the end, {name}": some.each(lambda r: r.last_layer[-1])})
