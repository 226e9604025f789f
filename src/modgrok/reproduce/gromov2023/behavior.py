"""Sections 4.1 and 4.3: the general behavior under other optimizers, losses and functions, and what goes on while
training does."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import neuron_waves
from modgrok.measures.loss_curves import acceleration, loss_peak
from modgrok.reproduce.form import Ask, Row, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.delay import too_little_data, with_data
from modgrok.reproduce.gromov2023.sizes import addition_by_gd, by_adamw, usual, usual_by_gd
from modgrok.reproduce.gromov2023.statements import with_minibatches
from modgrok.text import number, percent, spread

FUNCTIONS = ("n - m", "n*m", "n^2 + m^2", "(n + m)^2")
ON_ITS_WAY = 0.5
"""Test accuracy from which a network that has not grokked was stopped too early."""
FASTER = 1.2
"""How many times faster is an acceleration."""
WITHOUT_DECAY: dict[str, Any] = {"optimizer": "adam", "weight_decay": 0.0}
LATE = 3.0
"""Ratio of grokking to memorization step above which the two are apart."""


def varied(s: Sizes) -> Runs:
    """Other optimizers, and functions beside GD's n + m, without weight decay, which lowers the test loss itself."""
    rate = usual_by_gd(s).rows[0][1]["lr"]
    kinds = {
        "optimizer": {
            "GD": usual_by_gd(s),
            "momentum": usual_by_gd(s, optimizer="momentum", lr=rate / 10),
            "SGD + batch norm": with_minibatches(s),
            "Adam": usual(s, **WITHOUT_DECAY),
            "AdamW": usual(s),
        },
        "function": {text: usual_by_gd(s, task=text) for text in FUNCTIONS},
    }
    named = [some.tag(kind=kind, name=name) for kind, rows in kinds.items() for name, some in rows.items()]
    return sum(named, Runs([]))


def with_entropy(s: Sizes) -> Runs:
    """Cross-entropy beside Adam's mean squared error."""
    settings = s.adam_entropy.adamw(s.sweep_modulus, s.sweep_width, s.usual_fraction) | WITHOUT_DECAY
    found = runs(settings, loss="cross_entropy", seed=range(s.sweep_seeds))
    return found.tag(kind="loss", name="cross-entropy")


def behavior(run: Run) -> dict[str, Any]:
    """A maximum of the test loss before grokking, and waves at the end."""
    waves = neuron_waves(run.network, run.task.structure.coordinate)
    return loss_peak(run.history, run.result) | {"explained": float(np.nanmedian(waves.explained))}


def over_training(run: Run) -> dict[str, Any]:
    """The IPR at grokking, half way from there to the end, and at the end."""
    history, result = run.history, dict(run.result or {})
    step, ipr, grokked = history["step"], history["ipr"], result["grokked_at"]
    places = (None, None) if grokked is None else np.interp([grokked, (grokked + step[-1]) / 2], step, ipr)
    return {"at_grokking": places[0], "half_way": places[1], "end": ipr[-1]}


def rates_of(run: Run) -> dict[str, Any]:
    result: Any = run.result
    return acceleration(run.history, result)


general, entropy = (
    study(name, title, caption, runs=made, keep=("memorized_at", "grokked_at", "test_accuracy", behavior))
    for name, title, caption, made in (
        (
            "general_behavior",
            "Other optimizers and functions",
            "Memorization, maximum of the test loss, grokking and waves for five optimizers and four more functions.",
            varied,
        ),
        ("other_loss", "Another loss", "The same for cross-entropy under Adam.", with_entropy),
    )
)
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
    keep=("memorized_at", "grokked_at", rates_of),
)


def _lacking(t: Table) -> list[str]:
    """What of the general behavior some seed does not show."""
    shown = {"memorized before grokked": _delayed, "a maximum of the test loss": _peaked, "waves": _periodic}
    return [what for what, shows in shown.items() if not all(t.each(shows))]


def _delayed(r: Row) -> bool:
    return None not in (r.memorized_at, r.grokked_at) and r.memorized_at < r.grokked_at


def _peaked(r: Row) -> bool:
    return (r.rise or 0) > 0 and (r.peak_at or 0) > 0 and (r.test_accuracy_at_peak or 0) <= 0.5


def _periodic(r: Row) -> bool:
    return (r.explained or 0) >= 0.5


@general.claim(
    "4.1",
    "for every optimizer, loss and function and in every seed: memorized before grokked; the test loss rises to a "
    "local maximum at test accuracy ≤ 50 %; ≥ 50 % of the median neuron's power in one wave at the end; with a remark "
    "if at least three quarters of the rows of each kind are so. Undecided where some network ends above "
    f"{ON_ITS_WAY:.0%} test accuracy without having grokked",
    entropy,
)
def general_behavior_everywhere(t: Table, other: Table, ask: Ask) -> None:
    """The general behavior (memorization, a maximum of the test loss, then grokking by periodic features) is
    insensitive to optimizer, loss and function."""
    t = Table([*t, *other])
    cells = t.by("kind", "name")
    lacking = {key: _lacking(cell) for key, cell in cells.items()}
    kinds = {kind: [what for (one, _), what in lacking.items() if one == kind] for kind in t["kind"].distinct()}
    poor = [kind for kind, rows in kinds.items() if sum(not what for what in rows) < 0.75 * len(rows)]
    unfinished = t.where(lambda r: r.grokked_at is None and (r.test_accuracy or 0) >= ON_ITS_WAY)
    others = "; ".join(f"{name} lacks {', '.join(what)}" for (_, name), what in lacking.items() if what)
    found = f"{sum(not what for what in lacking.values())} of {len(lacking)} rows show it all"
    ask.yes(f"{found}.")
    for (_, name), cell in cells.items():
        memorized, peak, rise, grokked, explained = (
            cell[column].average() for column in ("memorized_at", "peak_at", "rise", "grokked_at", "explained")
        )
        said = [number(memorized), f"{number(peak)} ({percent(rise)})", number(grokked), percent(explained, 0)]
        ask.show({f"{name}: memorized, maximum of the test loss (rise), grokked, power in a wave": ", ".join(said)})
    if unfinished:
        names, steps = ", ".join(unfinished["name"].distinct()), number(max(unfinished["steps"]))
        ends = f"after {steps} steps at {percent(unfinished['test_accuracy'].average())} of the test pairs"
        ask.undecided(f"{found}{f' ({others})' if others else ''}; but {names} is still on its way, {ends}.")
    ask.fault(f"{found}: {others}.", poor)
    ask.note(f"{others}.", others)


@late.claim(
    "4.1",
    f"mean rate of decay of the training loss (its logarithm) from 10 % test accuracy to grokking ≥ {FASTER} × the "
    "mean rate from memorization to there, in every seed that groks; in no seed of a memorizer is it so from one half "
    f"of its steps to the next. Undecided where no seed groks as late as {LATE:g} × its memorization step",
)
def train_loss_accelerates(t: Table, ask: Ask) -> None:
    """After a period of slow decrease the training loss falls slightly faster, and that is when grokking happens."""
    found = t.where(lambda r: r.grokked_at and r.grokked_at >= LATE * r.memorized_at)
    memorizers = t.where(lambda r: r.grokked_at is None and r.before)
    ask.undecided(f"No seed groks as late as {LATE:g} times its memorization step.", not found)
    ratio, never = (some["during"] / some["before"] for some in (found, memorizers))
    ask.show({"rate from memorization to the onset": found["before"], "rate during grokking": found["during"]})
    ask.show({"ratio": ratio, "the same of a memorizer, second half of its steps / first": never}, over="run")
    ask.yes("The training loss falls faster while the network generalizes than between memorization and that.")
    ask.fault(
        "Where grokking comes late, the training loss falls more slowly while the network generalizes than before: at "
        f"{number(ratio.average())} times the rate (memorizers: {number(never.average())}).",
        min(ratio) < FASTER,
    )
    ask.fault("That of a memorizer falls faster with time, too.", max(never, default=0) >= FASTER)
    ask.note(f"Not slightly: {ratio.average():.2g} times faster.", ratio.average() > 2)


@training.claim("4.3 (Fig. 4)", "IPR at the end above that at grokking, in every seed of GD and AdamW")
def ipr_training(t: Table, ask: Ask) -> None:
    """More training narrows the gap to the closed form."""
    ask.yes("The ratio goes on growing from grokking to the end of training.")
    ask.fault(
        "The ratio does not grow in every seed after grokking.",
        any(t.each(lambda r: r.at_grokking is None or r.end <= r.at_grokking)),
    )
    ask.note(
        "In some seeds it has passed its maximum before the end.",
        any(t.each(lambda r: r.half_way is not None and r.half_way > r.end)),
    )
    places = ("at_grokking", "half_way", "end")
    for way, cell in t.by("way").items():
        ask.show({f"IPR at grokking → half way → end, {way}": " → ".join(spread(cell[name]) for name in places)})
