"""How long after memorization a network groks, from much to little data; what becomes of it with too little; how far
down memorization goes where labels are random and there are no features to learn."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.grokking_events import ONSET
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.figures import panels, seed_look
from modgrok.reproduce.form import Ask, Row, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.dynamics import all_grok, descent
from modgrok.reproduce.gromov2023.sizes import USUAL_DECAY
from modgrok.text import count, number, percent

RULE, NONE = "n + m", "random:0"


def with_data(s: Sizes, *fractions: float) -> Runs:
    """Gradient descent until it groks."""
    descended = s.delay.gd(s.sweep_modulus, s.sweep_width, 0.5)
    return runs(descended, until=0, fraction=[*fractions], seed=range(s.sweep_seeds))


def too_little_data(s: Sizes) -> Runs:
    return runs(s.delay.gd(s.sweep_modulus, s.sweep_width, s.memorizing_fraction), seed=range(s.sweep_seeds))


def memorizing_of(run: Run) -> dict[str, Any]:
    """Where curves end, and how far they have moved over the second half of the steps."""
    h = run.history
    half = int(np.searchsorted(h["step"], h["step"][-1] / 2))
    return {
        "best_test_accuracy": h["test_accuracy"][h["step"] > 0].max(),
        "loss_peak": h["test_loss"].max(),
        "loss_end": h["test_loss"][-1],
        "train_loss_half": h["train_loss"][half],
        "train_loss_end": h["train_loss"][-1],
    }


delay = study(
    "delay",
    "The delay between memorizing and grokking",
    "n + m under plain gradient descent from little to much data: how many times as long as memorizing it takes to "
    "grok. And AdamW from a fifth of the table, where the delay is more than tenfold.",
    runs=lambda s: (
        with_data(s, *s.delay_fractions)
        + runs(s.dramatic.adamw(s.modulus, s.width, 0.2), weight_decay=USUAL_DECAY, seed=range(s.dramatic_seeds))
    ).but(until=0),
    keep=("memorized_at", "grokked_at"),
)
memorizing = study(
    "memorizing",
    "Too little data",
    "n + m under plain gradient descent from so small a share of the table that networks learn it by heart and "
    "stay there.",
    runs=too_little_data,
    keep=("memorized_at", "train_accuracy", memorizing_of),
)


@descent.claim("1, 4.1", delay)
def memorizes_first(t: Table, data: Table, ask: Ask) -> None:
    """The network first fits the training pairs; generalization comes later and suddenly, and the later the less data
    there is."""
    later = all_grok(t, lambda r: r.grokked_at > r.memorized_at)
    ratio = t.each(lambda r: r.grokked_at / r.memorized_at if later else None)
    plain, dramatic = data.where(optimizer="gd"), data.where(optimizer="adamw")
    delays = {alpha: cell["grokked_at"] / cell["memorized_at"] for alpha, cell in plain.by("fraction").items()}
    known = [np.median(some.known()) for some in delays.values() if 2 * len(some.known()) >= len(some)]
    ask.that("train accuracy reaches 99 % before test accuracy does, in every seed", later)
    ask.that(
        "test accuracy rises from 10 to 90 % within a fifth of the grokking step, and in less than half of the steps "
        "that train accuracy takes for it",
        all_grok(t, _sudden),
    )
    ask.that(
        "the delay (grokking step / memorization step) is at least 1.5 times as long at the smallest α where half of "
        "the seeds grok as at the largest",
        len(known) > 1 and known[0] >= 1.5 * known[-1],
    )
    alpha = t.one("fraction")
    ask.remark(f"at α = {alpha} grokking takes at least twice as long as memorizing, on average", ratio.average() >= 2)
    ask.show({"memorization step": t["memorized_at"], "grokking step": t["grokked_at"]})
    ask.show({f"grokking / memorization step at α = {alpha}": ratio})
    ask.show({"steps from 10 to 90 % test accuracy": t["test_rise"]})
    ask.show({"steps from 10 to 90 % train accuracy": t["train_rise"]})
    ask.show({f"delay at α = {a}, p = {plain.one('modulus')}": some for a, some in delays.items()})
    where = f"α = {dramatic.one('fraction')}, p = {dramatic.one('modulus')}"
    late = dramatic["grokked_at"] / dramatic["memorized_at"]
    ask.show({f"delay under AdamW at {where}": late, "grokking step there": dramatic["grokked_at"]})


def _sudden(r: Row) -> bool:
    known = r.test_rise is not None and r.train_rise is not None
    return known and r.test_rise <= 0.2 * r.grokked_at and r.test_rise < 0.5 * r.train_rise


@memorizing.claim("4.1")
def memorizing_phase(t: Table, ask: Ask) -> None:
    """With too little data the network stays a memorizer: the training loss saturates, and the test loss never leaves
    its maximum."""
    p, alpha, steps = t.one("modulus"), t.one("fraction"), t.one("steps")
    chance = 1 / p
    limit = chance + 5 * (chance / round((1 - alpha) * p**2)) ** 0.5
    largest = np.median(t["loss_peak"])
    ratio = t.each(lambda r: r.loss_end / largest)
    falls = t["train_loss_half"] / t["train_loss_end"]
    ask.that(f"train accuracy is at least 99 % at α = {alpha}, in every seed", min(t["train_accuracy"]) >= 0.99)
    long = all(m is not None and 5 * m <= steps for m in t["memorized_at"])
    ask.that("training lasts for at least 5 times the steps to memorization", long)
    best = max(t["best_test_accuracy"])
    ask.that("the best test accuracy is at most five standard deviations above chance", best <= limit)
    ask.that(
        "the last test loss is at least 95 % of the seeds' median maximum (that of one seed may be a spike)",
        min(ratio) >= 0.95,
    )
    ask.remark(
        "the training loss saturates: it falls at most 1.1-fold over the second half of the steps, on average",
        not falls.average() > 1.1,
    )
    ask.show({"steps / memorization step": t.each(lambda r: steps / r.memorized_at if r.memorized_at else None)})
    ask.show({"train accuracy": t["train_accuracy"], "best test accuracy": t["best_test_accuracy"]}, percent)
    ask.show({"chance, limit": f"{percent(chance)}, {percent(limit)}", "last test loss / median of the largest": ratio})
    ask.show({"largest test loss": t["loss_peak"], "train loss after half of the steps / at the end": falls})
    ask.show({"p": str(p)})


def losses_of(run: Run, task: str) -> dict[str, Any]:
    """The training loss: thinned, its least value, and its value where the test pairs begin to be answered."""
    history = run.history
    step, loss = history["step"], history["train_loss"]
    begun = np.flatnonzero((history["test_accuracy"] >= ONSET) & (task == RULE))
    thinned = np.unique(np.geomspace(1, len(step), 150).round().astype(int)) - 1
    return {
        "step": step[thinned],
        "loss": loss[thinned],
        "least": np.min(loss),
        "onset": step[begun[0]] if len(begun) else None,
        "loss_at_onset": loss[begun[0]] if len(begun) else None,
    }


descending = study(
    "way_down",
    "How far down memorization goes",
    "The training loss of n + m and of random labels, of equal networks on equal pairs. The dashed line is the loss at "
    f"which n + m begins to be answered (test accuracy {ONSET:.0%}). Where random labels stay above it, memorization "
    "goes no further down and only features do; where they pass it, there is another way down.",
    runs=lambda s: runs(
        {},
        width={N: s.descending.gd(s.sweep_modulus, N, 0.5) for N in s.descending_widths},
        fraction=[*s.descending_fractions],
    ).but(task=[RULE, NONE], seed=range(s.sweep_seeds)),
    keep=("grokked_at", losses_of),
)


@descending.figure(beyond=True)
def losses(t: Table) -> Any:
    cells = t.by("width", "fraction")
    titles = [f"N = {count(N)}, α = {a}" for N, a in cells]
    note = f"mod {t.one('modulus')}, plain GD, mean squared error; bold: seed 0, faint: the others"
    figure, shown = panels(*titles, rows=-(-len(cells) // 2), height=2.5 * -(-len(cells) // 2), note=note, sharey=True)
    for panel, cell in zip(shown, cells.values(), strict=True):
        for (name, some), color in zip(cell.by("task").items(), SERIES, strict=False):
            for row in some:
                label = name if name == RULE else "random labels"
                panel.loglog(np.maximum(row.step, 1), row.loss, color=color, **seed_look(row.seed, label))
        if (onset := cell.where(task=RULE)["loss_at_onset"].median()) is not None:
            panel.axhline(onset, color=GRAY, linestyle="--", linewidth=0.9)
        panel.set(xlabel="step", ylabel="training loss")
    shown[0].legend(loc="lower left")
    return figure


@descending.claim("4.1, 5.1")
def only_way_down(t: Table, ask: Ask) -> None:
    """From some training loss on, the only way to decrease it further is to learn the right features."""
    rule, none = (t.where(task=task) for task in (RULE, NONE))
    ask.possible("n + m is learned in every seed", rule["grokked_at"].whole() and rule["onset"].whole())
    late, steps = max(rule["onset"]), t.one("steps")
    ask.possible(
        f"n + m reaches a test accuracy of {ONSET} within a tenth of the steps",
        10 * late <= steps,
        f"step {count(late)} of {count(steps)} at the latest",
    )
    ratios: list[float] = []
    for (N, a), cell in rule.by("width", "fraction").items():
        said = f"N = {N}, α = {a}"
        ratio = none.where(width=N, fraction=a)["least"] / cell["loss_at_onset"]
        ratios += ratio
        ask.show({f"loss at the onset of n + m, {said}": cell["loss_at_onset"]})
        ask.show({f"least loss of random labels / that, {said}": ratio})
        ask.show({f"least loss of n + m / that, {said}": cell["least"] / cell["loss_at_onset"]})
    ask.that(
        "the training loss of random labels on the same pairs stays at or above that at which n + m reaches a test "
        f"accuracy of {ONSET}, at every width and α, in every seed",
        min(ratios) >= 1,
        f"{number(min(ratios))} of it at the least",
    )
