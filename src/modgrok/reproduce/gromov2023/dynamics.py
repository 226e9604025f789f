"""How training goes under plain gradient descent, α = 0.49 (introduction, sections 2 and 4; Fig. 0)."""

import math
from collections.abc import Callable
from typing import Any

from modgrok.closed_form import solve
from modgrok.measures import norm_growth
from modgrok.measures.grokking_events import AFTERMATH, grokking_events
from modgrok.plot import curves, style
from modgrok.reproduce.figures import mark_events, modular
from modgrok.reproduce.form import BEYOND, Ask, Column, Row, Sizes, Table, study
from modgrok.reproduce.form import curves as whole_curves
from modgrok.reproduce.gromov2023.sizes import addition_by_gd
from modgrok.tasks import task
from modgrok.text import number, percent

LINEAR = 100
"""Steps up to which the axis of Fig. 0 is linear."""
CLOSED = 0.05
"""Share of its largest value below which the gap between test and train loss counts as closed."""


def peak_and_growth(s: Sizes, t: Table) -> dict[str, Any]:
    """How far the norm of the closed form is from that of random weights; and losses that show the maximum of seed 0's
    test loss: to as far below its first value as the maximum is above."""
    first, losses = t.first, None
    if first.grokked_at is not None:
        start, largest = first.test_loss[0], first.test_loss[first.step <= first.grokked_at].max()
        rise = max(largest - start, 0.01 * start)
        losses = (start - 2 * rise, start + 1.3 * rise)
    growth = norm_growth(solve(task("n + m", s.modulus), "waves", s.width))
    return {"closed_form_growth": growth, "shown_losses": losses}


descent = study(
    "fig0",
    "Grokking under plain gradient descent",
    "Modular addition trained by full-batch gradient descent with the mean squared error and no regularization at all. "
    "The network first learns the training pairs by heart; the test loss climbs a few percent to a maximum (inset, "
    "linear axes), and only then does the test accuracy jump. The weight norms grow on the way, to about the norm of "
    "the closed form; the gradients pass through a maximum. The dotted lines are memorization and grokking of seed 0.",
    runs=addition_by_gd,
    keep=(
        whole_curves("train_loss", "test_loss", "train_accuracy", "test_accuracy", "ipr"),
        whole_curves("norm_in", "norm_out", "gradient_in", "gradient_out"),
        grokking_events,
    ),
    also=peak_and_growth,
)


@descent.figure(
    "loss: the test loss rises before it falls (inset)",
    "weight norms: fastest growth at the onset",
    "accuracy: training pairs first",
    "gradients: a maximum at grokking",
    rows=2,
    height=4.8,
    sharex=True,
)
def losses_norms_accuracies_gradients(t: Table, *grid: Any) -> str:
    first = t.first
    for panel, measure in zip(grid, ("loss", "norm", "accuracy", "gradient"), strict=True):
        curves([vars(row) for row in t], measure, linear=LINEAR, ax=panel)
        mark_events(panel, first, measure == "accuracy")
    for upper, panel in zip(grid[:2], grid[2:], strict=True):
        upper.set_xlabel("")
        panel.set_title(panel.get_title(loc="left"), pad=13)
        panel.set_xlabel(f"step (linear up to {LINEAR}, then logarithmic)")
    grid[0].set_ylabel("mean squared error")
    grid[0].get_legend().set_loc("lower left")
    if first.shown_losses is not None:
        _draw_peak(grid[0].inset_axes((0.17, 0.42, 0.5, 0.42)), t)
    sizes = f"{modular(t)}, N = {first.width}, α = {first.fraction}, plain GD with rate {number(first.lr)}"
    return f"{sizes}; bold: seed 0, faint: {len(t) - 1} more"


def _draw_peak(inset: Any, t: Table) -> None:
    curves([vars(row) for row in t], "loss", linear=math.inf, ax=inset)
    inset.set(yscale="linear", xlim=(0, t.first.grokked_at), ylim=t.first.shown_losses)
    style.mark(inset, t.first.memorized_at)
    inset.get_legend().remove()
    inset.set_xlabel("step", fontsize=6, labelpad=1)
    inset.set_ylabel("loss", fontsize=6, labelpad=1)
    inset.tick_params(labelsize=5.5, length=2)
    inset.locator_params(nbins=3)


def all_grok(t: Table, test: Callable[[Row], Any] = lambda r: True) -> bool:
    """Whether every seed memorizes, groks and passes a test."""
    return all(r.grokked_at is not None and r.memorized_at is not None and test(r) for r in t)


@descent.claim("abstract, 2")
def grokking(t: Table, ask: Ask) -> None:
    """Plain full-batch gradient descent with the mean squared error groks modular addition without any
    regularization."""
    ask.that("every seed reaches 99 % train and test accuracy", all_grok(t))
    ask.show({"grokking step": t["grokked_at"]})
    ask.show({"test accuracy at the end": t["test_accuracy_end"]}, percent)
    ask.show({"learning rate": t.one("lr")})


@descent.claim("4.1")
def no_waves_yet(t: Table, ask: Ask) -> None:
    """Periodic structure has not formed yet when the training pairs are known."""
    formed = (t["ipr_memorized"] - t["ipr_start"]) / (t["ipr_end"] - t["ipr_start"])
    ask.that(
        "every seed groks, and at memorization less than a quarter of the IPR's whole rise is done, on average",
        all_grok(t) and formed.average() < 0.25,
    )
    ask.show({"share of the IPR's rise done at memorization": formed}, percent)


@descent.claim("1 (Fig. 0a), 4.1")
def loss_peak(t: Table, ask: Ask) -> None:
    """The test loss is not monotonic: it is largest right before the onset of grokking."""
    ask.that(
        "every seed groks, and its test loss is largest before, from a third of the onset (10 % test accuracy) on",
        all_grok(t, lambda r: r.onset_at / 3 <= r.loss_peak_at <= r.grokked_at),
    )
    ask.that("the largest test loss exceeds the initial one", all_grok(t, lambda r: r.loss_peak > r.loss_start))
    ask.that("test accuracy is at most 50 % at that maximum", all_grok(t, lambda r: r.test_accuracy_at_peak <= 0.5))
    ask.show({"step of the largest test loss": t["loss_peak_at"], "step of 10 % test accuracy": t["onset_at"]})
    ask.show({"largest / initial test loss": t["loss_peak"] / t["loss_start"]})
    ask.show({"test accuracy there": t["test_accuracy_at_peak"]}, percent)


@descent.claim("1 (Fig. 0a)")
def train_loss(t: Table, ask: Ask) -> None:
    """The training loss decays monotonically, by and large."""
    ask.that(
        "the training loss rises between neighboring evaluations in at most 5 % of the cases, in every seed",
        max(t["train_loss_rises"]) <= 0.05,
    )
    ask.show({"evaluations with a rise": t["train_loss_rises"]}, percent)


@descent.claim("appendix C")
def loss_gap_closes(t: Table, ask: Ask) -> None:
    """For modular addition the gap between train and test loss disappears over time."""
    ratio = t["test_loss_end"] / t["train_loss_end"]
    closes = all_grok(t, lambda r: r.gap_end < CLOSED * r.gap_largest)
    ask.that(f"every seed groks, and test minus train loss ends below {CLOSED} of its maximum", closes)
    ask.remark("test loss / train loss ends at 2 or less, on average", not ratio.average() > 2)
    ask.show({"last / largest difference of the losses": t["gap_end"] / t["gap_largest"]})
    ask.show({"test loss / train loss at the end": ratio, "test loss at the end": t["test_loss_end"]})
    ask.show({"train loss at the end": t["train_loss_end"]})


def _norms(t: Table, ask: Ask) -> tuple[Column, Column]:
    """Growth of the norms, and the share of it before the onset."""
    largest = t["norm_largest"] / t["norm_start"]
    before = (t["norm_onset"] - t["norm_start"]) / (t["norm_end"] - t["norm_start"])
    ask.show({"largest / initial norm": largest})
    ask.show({"closed form / initial norm, which a network that finds it has to reach": t.one("closed_form_growth")})
    ask.show({"share of the growth before 10 % test accuracy": before}, percent)
    return largest, before


@descent.claim("1 (Fig. 0b)")
def norms(t: Table, ask: Ask) -> None:
    """Weight norms do not increase much, and start growing at the onset of grokking."""
    largest, before = _norms(t, ask)
    grown, early = largest.average(), before.average()
    ask.that("the largest norm is at most twice the initial one, on average", not grown > 2, grown)
    ask.that(
        "at most a quarter of the growth comes before the onset (10 % test accuracy), on average",
        early <= 0.25,
        percent(early),
    )


@descent.claim(BEYOND)
def norms_of_solution(t: Table, ask: Ask) -> None:
    """Weight norms grow fastest at the onset of grokking, and no further than the closed form needs."""
    _norms(t, ask)
    ask.that("norms grow by more than 5 % in every seed", all(r.norm_end > 1.05 * r.norm_start for r in t))
    together = all_grok(t, lambda r: r.onset_at is not None and abs(r.norm_fastest_at / r.onset_at - 1) <= 0.2)
    ask.that("every seed groks, and its norm grows fastest within 20 % of the onset (10 % test accuracy)", together)
    within = all(r.norm_largest <= 1.2 * r.closed_form_growth * r.norm_start for r in t)
    ask.that("no norm exceeds 1.2 times the closed form's, which is (2D)^(1/3)/√2 times the initial one", within)
    ask.show({"step of 10 % test accuracy": t["onset_at"], "step of fastest growth": t["norm_fastest_at"]})


@descent.claim("1 (Fig. 0d)")
def gradients(t: Table, ask: Ask) -> None:
    """The dynamics accelerates until the test loss is largest, then slows down."""
    place = t.each(lambda r: r.gradient_peak_at / r.loss_peak_at if r.loss_peak_at else None)
    later = t.each(lambda r: r.gradient_later / r.gradient_peak if r.gradient_later else None)
    ask.show({"step of the largest gradient / of grokking": t["gradient_peak_at"] / t["grokked_at"]})
    ask.show({"largest / initial gradient": t["gradient_peak"] / t["gradient_start"]})
    ask.show({"smallest after it / largest gradient": t["gradient_settled"] / t["gradient_peak"]})
    ask.show({f"largest after {AFTERMATH} × the grokking step / largest gradient": later})
    ask.possible(
        "the rate is small enough: no seed has both a rise of the training loss and its largest gradient after "
        "grokking",
        not any(r.train_loss_rises > 0 and r.grokked_at and r.gradient_peak_at > r.grokked_at for r in t),
    )
    ask.that(
        f"every seed groks, and up to {AFTERMATH} × that step its largest gradient is more than 1.5 × the first",
        all_grok(t, lambda r: r.gradient_peak > 1.5 * r.gradient_start),
    )
    settles = all_grok(t, lambda r: r.gradient_settled < 0.5 * r.gradient_peak)
    ask.that("gradients fall below half of that maximum afterwards", settles)
    ask.that(
        "the step of the largest gradient is within 20 % of that of the largest test loss, in every seed",
        all(ratio is not None and abs(ratio - 1) <= 0.2 for ratio in place),
        place,
    )
    ask.remark(
        f"gradients stay within that maximum after {AFTERMATH} × the grokking step, where the rate may be at its limit",
        not any(ratio > 1 for ratio in later.known()),
    )
