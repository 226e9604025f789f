"""Sections 3 and 5, Fig. 7: the progress measures on the way, for the transformer and the two-layer network."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.experiments.analysis import progress_of
from modgrok.measures import first_reached
from modgrok.palette import GRAY, GREEN, PURPLE, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import BEYOND, Ask, Table, study
from modgrok.reproduce.nanda2023.sizes import observed, two_layer
from modgrok.text import count, number

MODULUS = 113
"""Of the paper's main runs; times are judged there alone."""
THEN = "at the last step at which the test loss is above half of its maximum"


def progress_and_phases(run: Run) -> dict[str, Any]:
    """All measures at the kept steps, and the phases of training."""
    found, history = progress_of(run), run.history
    found["test_accuracy"] = np.interp(found["step"], history["step"], history["test_accuracy"])
    return found | phases(found)


def phases(found: dict[str, np.ndarray]) -> dict[str, int | None]:
    """Where among the kept steps circuit formation and clean-up begin and end: from the least excluded loss on the
    circuit forms; clean-up lasts from the last step at which the test loss is at least half of its maximum until 99 %
    of the test is right."""
    test = found["test_loss"]
    late = int(np.flatnonzero(test >= test.max() / 2)[-1])
    solved = np.flatnonzero(found["test_accuracy"] >= 0.99)
    done = int(solved[0]) if len(solved) else None
    return {"forming": int(found["excluded_loss"][: late + 1].argmin()), "cleaning": late, "clean": done}


progress = study(
    "fig7",
    "Progress measures of a transformer and of the two-layer network",
    "Restricted loss: only what the logits have along the key frequencies of n + m, on all pairs. Excluded loss: the "
    "logits without that, on the training pairs. Key frequencies are those whose norm in W_L is above a quarter of the "
    "largest at the end. The two-layer network learns by squared error, and its measures are taken with that.",
    runs=lambda s: observed(s) + two_layer(s),
    keep=("memorized_at", progress_and_phases),
)


@progress.figure(rows=3, columns=2, height=6.2, sharex="col")
def measures_on_the_way(t: Table, *panels: Any) -> str:
    ways = (t.first, "transformer", "cross-entropy"), (t.rows[-1], "two layers of squares", "squared error")
    for side, (row, title, loss) in enumerate(ways):
        column, x = panels[side::2], row.step[1:]
        for name, color in {"train": TRAIN, "test": TEST, "restricted": GREEN, "excluded": PURPLE}.items():
            column[0].plot(x, row[f"{name}_loss"][1:], label=name, color=color)
        for name, label in {"gini_embedding": "Gini of $W_E$", "gini_readout": "Gini of $W_L$", "ipr": "IPR"}.items():
            if row[name]:
                column[1].plot(x, row[name][1:], label=label)
        column[2].plot(x, row.squares[1:], color=GRAY)
        column[0].set(yscale="log", ylabel=loss)
        column[1].set(ylabel="Gini coefficient", ylim=(0, 1))
        column[2].set(ylabel="sum of squared weights", xlabel="step", yscale="log")
        column[0].set_title(f"{title}, {len(row.frequencies)} key frequencies", pad=12)
        column[1].legend(loc="upper left", fontsize=6)
        for panel in column:
            panel.set_xscale("log")
            first = panel is column[0]
            style.mark(panel, row.step[row.forming], "circuit" if first else "", "right")
            if row.clean is not None:
                style.mark(panel, row.step[row.cleaning], "clean-up" if first else "")
                style.mark(panel, row.step[row.clean])
    panels[0].legend(loc="lower left", fontsize=6)
    return f"{modular(t)}; transformer: seed 0 of {len(t) - 1}, {count(t.first.step[-1])} steps; dotted: phases"


def most(ask: Ask, phrase: str, good: Sequence[bool]) -> None:
    """More than half of the seeds that grok; a remark where not all."""
    ask.that(f"in most seeds that grok, {phrase}", 2 * sum(good) > len(good))
    ask.note(f"Not so in {count(len(good) - sum(good), 'seed')}.", not all(good))


@progress.claim("3 (Fig. 2)")
def grokking(t: Table, ask: Ask) -> None:
    """A one-layer transformer groks modular addition."""
    seeds = t.where(network="transformer")
    reached = seeds.each(lambda r: first_reached(np.array(r.step), np.array(r.test_accuracy), 0.95))
    learned, known = seeds["memorized_at"], reached.known()
    late = [bool(r and m and r >= 3 * m) for r, m in zip(reached, learned, strict=True)]
    timely = t.one("modulus") != MODULUS or (known and 4_000 <= np.median(known) <= 12_000)
    ask.that("every seed knows the training set within 500 steps", learned.whole() and max(learned) <= 500)
    ask.that("most seeds know the test set at least three times as late", 2 * sum(late) > len(late))
    ask.that(f"at p = {MODULUS} the median time to 95 % of the test set is 4 000 to 12 000 steps", timely)
    ask.note(f"Not so in {count(late.count(False), 'seed')}.", not all(late))
    ask.show({"steps to 99 % of the training set": learned, "steps to 95 % of the test set": reached})


def grokked(t: Table) -> Table:
    """Its seeds whose transformer groks."""
    return t.where("clean >= 0", network="transformer")


@progress.claim("5.1 (Fig. 7)")
def excluded_rises_first(t: Table, ask: Ask) -> None:
    """While the circuit forms, before the test loss falls, the loss without it rises: memory is given up."""
    seeds = grokked(t)
    growth = seeds.each(lambda r: r.excluded_loss[r.cleaning] / r.excluded_loss[r.forming])
    most(ask, f"the excluded loss has at least doubled from its minimum {THEN}", [value >= 2 for value in growth])
    ask.show({"excluded loss there, in units of its minimum": growth})
    ask.show({"circuit formation from step": seeds.each(lambda r: r.step[r.forming])})
    ask.show({"clean-up from step": seeds.each(lambda r: r.step[r.cleaning])})
    ask.show({"99 % of the test set at step": seeds.each(lambda r: r.step[r.clean])})


@progress.claim("5.1 (Fig. 7)")
def restricted_falls_first(t: Table, ask: Ask) -> None:
    """The circuit answers well before the whole network does."""
    seeds, chance = grokked(t), np.log(t.one("modulus"))
    left = seeds.each(lambda r: r.restricted_loss[r.cleaning] / chance)
    test = seeds.each(lambda r: r.test_loss[r.cleaning] / chance)
    most(ask, f"the restricted loss is at most half of ln p {THEN}", [value <= 0.5 for value in left])
    ask.show({"restricted loss there, in units of ln p": left, "test loss there, in units of ln p": test})


@progress.claim("5.1 (Fig. 7)")
def clean_up(t: Table, ask: Ask) -> None:
    """Grokking proper is a clean-up: weight decay removes what the circuit does not need."""
    seeds = grokked(t)
    shrunk = seeds.each(lambda r: r.squares[-1] / r.squares[r.cleaning])
    before = seeds.each(lambda r: r.gini_embedding[r.cleaning])
    after = seeds.each(lambda r: r.gini_embedding[-1])
    good = [s <= 0.8 and a > b for s, a, b in zip(shrunk, after, before, strict=True)]
    most(ask, "since clean-up began the sum of squares has fallen to 0.8 or less, and the Gini of W_E has grown", good)
    ask.show({"sum of squares at the end, in units of that before": shrunk})
    ask.show({"Gini of the embedding, before": before, "Gini of the embedding, at the end": after})


@progress.claim(BEYOND)
def two_layer_network(t: Table, ask: Ask) -> None:
    """The same measures foresee grokking in the two-layer network, which uses many frequencies instead of a few."""
    one, two = t.first, t.rows[-1]
    ask.that("the two-layer network groks", two.clean is not None)
    last = max((i for i, accuracy in enumerate(two.test_accuracy) if accuracy < 0.1), default=0)
    there, trained = (loss[last] / max(loss) for loss in (two.restricted_loss, two.train_loss))
    ask.that("its restricted loss falls below half of its maximum while its test accuracy is below 10 %", there <= 0.5)
    ask.that("at the end it has more key frequencies than the transformer", len(two.frequencies) > len(one.frequencies))
    ask.that("the Gini coefficient of its readout is smaller", two.gini_readout[-1] < one.gini_readout[-1])
    ask.show({"restricted loss there, in units of its maximum": there, "training loss there, likewise": trained})
    frequencies, ginis = f"{len(two.frequencies)}, {len(one.frequencies)}", (two.gini_readout[-1], one.gini_readout[-1])
    ask.show({"key frequencies, two layers and transformer": frequencies})
    ask.show({"Gini of the readout": ", ".join(map(number, ginis)), "IPR at the end": two.ipr[-1]})
    solved = [count(None if r.clean is None else r.step[r.clean]) for r in (two, one)]
    ask.show({"99 % of the test set at step": ", ".join(solved)})
