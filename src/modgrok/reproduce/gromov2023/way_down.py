"""Sections 4.1 and 5.1, the paper's explanation of grokking: from some training loss on, the only way down is to learn
the features. Random labels have no features to learn: how far down their memorization goes says whether it is."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.figures import panels, seed_look
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, runs, study
from modgrok.text import count, number

RULE, NONE = "n + m", "random:0"
ONSET = 0.1
"""Test accuracy at which the features begin to answer."""
POINTS = 150


def with_and_without_a_rule(s: Sizes) -> Runs:
    """n + m and random labels under gradient descent with equal settings, pairs and initial weights."""
    made = [s.descending.gd(s.sweep_modulus, N, a) for N in s.descending_widths for a in s.descending_fractions]
    found = sum((runs(settings, task=[RULE, NONE]) for settings in made), Runs([]))
    return found.but(seed=range(s.sweep_seeds))


def losses_of(run: Run, task: str) -> dict[str, Any]:
    """The training loss: thinned, its least value, and its value where the test pairs begin to be answered."""
    history = run.history
    step, loss = history["step"], history["train_loss"]
    begun = np.flatnonzero((history["test_accuracy"] >= ONSET) & (task == RULE))
    thinned = np.unique(np.geomspace(1, len(step), POINTS).round().astype(int)) - 1
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
    runs=with_and_without_a_rule,
    keep=("memorized_at", "grokked_at", losses_of),
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
