"""The general behavior under other optimizers, losses and functions, and what goes on meanwhile (4.1, 4.3)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.grokking_events import acceleration, loss_peak
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, joined, runs, study
from modgrok.reproduce.gromov2023.delay import too_little_data, with_data
from modgrok.reproduce.gromov2023.dynamics import all_grok
from modgrok.reproduce.gromov2023.preactivations import explained_of
from modgrok.reproduce.gromov2023.sizes import addition_by_gd, by_adamw, natural_rate, usual, usual_by_gd
from modgrok.reproduce.gromov2023.statements import with_minibatches
from modgrok.text import number, percent, spread

FUNCTIONS = ("n - m", "n*m", "n^2 + m^2", "(n + m)^2")
FASTER = 1.2
"""How many times faster is an acceleration."""
WITHOUT_DECAY: dict[str, Any] = {"optimizer": "adam", "weight_decay": 0.0}
LATE = 3
"""Ratio of grokking to memorization step above which the two are apart."""


def varied(s: Sizes) -> Runs:
    """Other optimizers, and functions beside GD's n + m, without weight decay, which lowers the test loss itself."""
    slow = natural_rate(s.usual_gd.rate, s.sweep_modulus, s.sweep_width) / 10
    optimizers = {
        "GD": usual_by_gd(s),
        "momentum": usual_by_gd(s, optimizer="momentum", lr=slow),
        "SGD + batch norm": with_minibatches(s),
        "Adam": usual(s, **WITHOUT_DECAY),
        "AdamW": usual(s),
    }
    named = [some.tag(kind="optimizer", name=name) for name, some in optimizers.items()]
    named += [usual_by_gd(s, task=text).tag(kind="function", name=text) for text in FUNCTIONS]
    return joined(named)


def with_entropy(s: Sizes) -> Runs:
    """Cross-entropy beside Adam's mean squared error."""
    settings = s.adam_entropy.adamw(s.sweep_modulus, s.sweep_width, s.usual_fraction) | WITHOUT_DECAY
    found = runs(settings, loss="cross_entropy", seed=range(s.sweep_seeds))
    return found.tag(kind="loss", name="cross-entropy")


def over_training(run: Run) -> dict[str, Any]:
    """The IPR at grokking, half way from there to the end, and at the end."""
    result: Any = run.result
    step, ipr, grokked = run.history["step"], run.history["ipr"], result["grokked_at"]
    places = (None, None) if grokked is None else np.interp([grokked, (grokked + step[-1]) / 2], step, ipr)
    return {"at_grokking": places[0], "half_way": places[1], "end": ipr[-1]}


KEPT = ("memorized_at", "grokked_at", "test_accuracy", loss_peak, explained_of)
general = study(
    "general_behavior",
    "Other optimizers and functions",
    "Memorization, maximum of the test loss, grokking and waves for five optimizers and four more functions.",
    runs=varied,
    keep=KEPT,
)
entropy = study("other_loss", "Another loss", "The same for cross-entropy under Adam.", runs=with_entropy, keep=KEPT)
training = study(
    "over_training",
    "What goes on while training does",
    "The IPR from grokking to the end.",
    runs=lambda s: addition_by_gd(s).tag(way="GD") + by_adamw(s, s.adamw).tag(way="AdamW"),
    keep=over_training,
)
late = study(
    "late_grokking",
    "The training loss where grokking comes late",
    "How fast the training loss falls under gradient descent from so little data that grokking comes long after "
    "memorization: from memorization to the onset, and from there to grokking. Beside it a network that stays a "
    "memorizer: from memorization to half of its steps, and from there to the end.",
    runs=lambda s: too_little_data(s) + with_data(s, *s.late_fractions),
    keep=("memorized_at", "grokked_at", acceleration),
)


def _lacking(t: Table) -> list[str]:
    """What of the general behavior some seed does not show."""
    peaked = t.where("rise > 0", "peak_at > 0").where(lambda r: (r.test_accuracy_at_peak or 0) <= 0.5)
    shown = {
        "memorized before grokked": all_grok(t, lambda r: r.memorized_at < r.grokked_at),
        "a maximum of the test loss": len(peaked) == len(t),
        "waves": len(t.where("explained >= 0.5")) == len(t),
    }
    return [what for what, shows in shown.items() if not shows]


@general.claim("4.1", entropy)
def general_behavior_everywhere(t: Table, other: Table, ask: Ask) -> None:
    """The general behavior (memorization, a maximum of the test loss, then grokking by periodic features) is
    insensitive to optimizer, loss and function."""
    t = Table([*t, *other])
    cells = t.by("kind", "name")
    lacking = {key: _lacking(cell) for key, cell in cells.items()}
    kinds = {kind: [not what for (one, _), what in lacking.items() if one == kind] for kind in t["kind"].distinct()}
    others = "; ".join(f"{name} lacks {', '.join(what)}" for (_, name), what in lacking.items() if what)
    unfinished = t.where(lambda r: r.grokked_at is None and (r.test_accuracy or 0) >= 0.5)["name"].distinct()
    columns = ("memorized_at", "peak_at", "rise", "grokked_at", "explained")
    for (_, name), cell in cells.items():
        memorized, peak, rise, grokked, explained = (cell[column].average() for column in columns)
        said = [number(memorized), f"{number(peak)} ({percent(rise)})", number(grokked), percent(explained, 0)]
        ask.show({f"{name}: memorized, maximum of the test loss (rise), grokked, power in a wave": ", ".join(said)})
    ask.possible(
        "all that end at a test accuracy of 50 % or more have grokked",
        not unfinished,
        f"not yet: {', '.join(unfinished)}" if unfinished else None,
    )
    ask.that(
        "at least three quarters of the optimizers, of the losses and of the functions show in every seed: memorized "
        "before grokked, a local maximum of the test loss at test accuracy of at most 50 %, and at least 50 % of the "
        "median neuron's power in one wave at the end",
        all(sum(some) >= 0.75 * len(some) for some in kinds.values()),
    )
    ask.remark("all of them do", not others, others or None)


@late.claim("4.1")
def train_loss_accelerates(t: Table, ask: Ask) -> None:
    """After a period of slow decrease the training loss falls slightly faster, and that is when grokking happens."""
    found = t.where(lambda r: r.grokked_at and r.grokked_at >= LATE * r.memorized_at)
    memorizers = t.where(lambda r: r.grokked_at is None and r.before)
    ask.possible(f"some seed groks as late as {LATE} times its memorization step", found)
    ratio, never = (some["during"] / some["before"] for some in (found, memorizers))
    ask.show({"rate from memorization to the onset": found["before"], "rate during grokking": found["during"]})
    ask.show({"the same of a memorizer, second half of its steps / first": never}, over="run")
    ask.that(
        "the mean rate of decay of the training loss (its logarithm) from the onset (10 % test accuracy) to grokking "
        f"is at least {FASTER} times that from memorization to the onset, in every seed that groks so late",
        min(ratio) >= FASTER,
        spread(ratio, over="run"),
    )
    ask.that(
        f"the rate of every memorizer in the second half of the steps is less than {FASTER} times that before",
        max(never, default=0) < FASTER,
    )
    ask.remark("the loss decays only slightly faster: at most twice as fast, on average", not ratio.average() > 2)


@training.claim("4.3 (Fig. 4)")
def ipr_training(t: Table, ask: Ask) -> None:
    """More training narrows the gap to the closed form."""
    higher = all(r.at_grokking is not None and r.end > r.at_grokking for r in t)
    ask.that("the IPR is higher at the end than at grokking, in every seed of GD and AdamW", higher)
    passed = any(r.half_way and r.half_way > r.end for r in t)
    ask.remark("half way from grokking to the end the IPR is no higher than at the end", not passed)
    places = ("at_grokking", "half_way", "end")
    for way, cell in t.by("way").items():
        ask.show({f"IPR at grokking → half way → end, {way}": " → ".join(spread(cell[name]) for name in places)})
