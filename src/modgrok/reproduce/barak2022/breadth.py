"""Sections 4 and C: the same parity with other activations, batches, initial weights, widths and wrong labels."""

from typing import Any

import numpy as np

from modgrok.palette import SERIES
from modgrok.reproduce.barak2022.sizes import parity
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, study
from modgrok.text import count, number

K = 3
BATCHES = (4, 32, 256, 1024)
STEPS = 100_000
"""Of the paper's sweeps."""


def variations(s: Sizes) -> Runs:
    """One line through the usual network for each of the four; runs stop when they have the parity. The noisy set is
    larger than a network of 100 neurons can learn by heart."""
    schedule = {"lr": 0.1, "steps": s.breadth_steps, "until": 0, "evaluations": 200}
    usual = parity(s.breadth_bits, K, s.breadth_seeds, **schedule)
    return (
        usual.but(activation=["relu", f"x^{K}", "sin"]).tag(part="activation")
        + usual.but(batch_size=[*BATCHES], init_scale=[0.3, 1.0, 3.0]).tag(part="batch")
        + usual.but(width=[*s.breadth_widths]).tag(part="width")
        + usual.but(examples=50_000, wrong_labels=[*s.noises]).tag(part="noise")
    )


breadth = study(
    "figB",
    "Other networks, batches and labels",
    "Steps until a parity is known: with other activations; against the batch, for three scales of the initial "
    "weights; against the width; against the share of wrong labels in a set too large to learn by heart. Crosses: runs "
    "that do not get there.",
    runs=variations,
    keep="grokked_at",
)


def _marks(panel: Any, t: Table, x: str, places: dict[Any, float], color: str, label: str | None = None) -> None:
    known, never = t.where("grokked_at > 0"), t.where(grokked_at=None)
    panel.plot([places[r[x]] for r in known], known["grokked_at"], "o", color=color, fillstyle="none", label=label)
    panel.plot([places[r[x]] for r in never], never["steps"], "x", color=color)


@breadth.figure("activation", "batch", "width", "wrong labels", rows=2, height=4.6, sharey=True)
def times(t: Table, kinds: Any, batches: Any, widths: Any, noise: Any) -> str:
    parts = t.by("part")
    names = parts["activation"]["activation"].distinct()
    _marks(kinds, parts["activation"], "activation", {name: i for i, name in enumerate(names)}, SERIES[0])
    kinds.set_xticks(range(len(names)), names)
    kinds.set_xlim(-0.5, len(names) - 0.5)
    for i, (scale, cell) in enumerate(parts["batch"].by("init_scale").items()):
        places = {B: B * 1.12 ** (i - 1) for B in BATCHES}
        _marks(batches, cell, "batch_size", places, SERIES[i], f"weights × {number(scale)}")
    batches.legend(fontsize=6)
    for panel, part, x in ((widths, "width", "width"), (noise, "noise", "wrong_labels")):
        values = {value: value or 0.0 for value in parts[part][x].distinct()}
        _marks(panel, parts[part], x, values, SERIES[0])
    for panel in (batches, widths):
        panel.set_xscale("log")
    labels = ("", "examples in a batch", "neurons", "share of wrong labels")
    for panel, label in zip((kinds, batches, widths, noise), labels, strict=True):
        panel.set(yscale="log", xlabel=label, ylabel="steps until 99 % right")
    return f"parity of {K} of {t.one('bits')} bits, SGD with rate 0.1, batches of 32 unless said; {seeds(t)} each"


def _converges(cells: dict[Any, Table]) -> bool:
    """In the paper's words, of settings at which a fifth of the trials get there."""
    return all(len(cell["grokked_at"].known()) / len(cell) >= 0.2 for cell in cells.values())


@breadth.claim("4, C.1")
def other_activations(t: Table, ask: Ask) -> None:
    """The phase transition is not one of ReLU: powers and sinusoids learn parities, too."""
    cells = t.where(part="activation").by("activation")
    ask.that(f"a fifth of the seeds or more knows the parity of {K} bits with every activation", _converges(cells))
    ask.budget(t, steps=STEPS)
    ask.show({f"steps, {name}": cell["grokked_at"] for name, cell in cells.items()})


@breadth.claim("4, C.1")
def batches_and_scales(t: Table, ask: Ask) -> None:
    """Parities are learned at all batch sizes, from a few to a thousand examples, and scales of the initial weights."""
    cells = t.where(part="batch").by("batch_size", "init_scale")
    some = _converges(cells)
    ask.that("a fifth of the seeds or more gets there in every batch, from every scale of the weights", some)
    ask.budget(t, steps=STEPS)
    for (batch, scale), cell in cells.items():
        ask.show({f"steps, batches of {batch}, weights × {number(scale)}": cell["grokked_at"]})


@breadth.claim("4 (Fig. 2)")
def width_is_no_luck(t: Table, ask: Ask) -> None:
    """Wider networks are not faster in proportion: width does not act like more lottery tickets."""
    medians = t.where(part="width").median("grokked_at", "width").known()
    ask.possible("half of the seeds get there at two widths or more", len(medians) > 1)
    (first, *_, last), (slow, *_, fast) = medians, medians.y
    gain, more = slow / fast, last / first
    ask.that("the median time falls by less than the square root of what the width grows by", gain < np.sqrt(more))
    ask.show({"width, median time": f"{number(more)}-fold, {number(1 / gain)}-fold"})
    ask.show({f"steps, N = {count(N)}": cell["grokked_at"] for N, cell in t.where(part="width").by("width").items()})


@breadth.claim("4, C.1")
def label_noise(t: Table, ask: Ask) -> None:
    """Parities are learned from labels of which many are wrong: 40 % here, up to 49 % in the paper."""
    cells = t.where(part="noise").by("wrong_labels")
    learned = all(cell["grokked_at"].median() is not None for cell in cells.values())
    ask.that("most seeds know the parity with every share of wrong labels", learned)
    ask.that("the largest share is 40 % or more", max(t.where(part="noise").each(lambda r: r.wrong_labels or 0)) >= 0.4)
    ask.budget(t, steps=STEPS)
    ask.show({f"steps, {number(share or 0)} wrong": cell["grokked_at"] for share, cell in cells.items()})
