"""How training goes under plain gradient descent, α = 0.49 (introduction, sections 2 and 4; Fig. 0)."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures import norm_growth
from modgrok.measures.grokking_events import AFTERMATH, grokking_events
from modgrok.plot import curves, style
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import BEYOND, Ask, Column, Row, Sizes, Table, study
from modgrok.reproduce.form import curves as whole_curves
from modgrok.reproduce.gromov2023.sizes import addition_by_gd
from modgrok.tasks import task
from modgrok.text import number, percent

LINEAR = 100
"""Steps up to which the axis of Fig. 0 is linear."""
CLOSED = 0.05
"""Share of its largest value below which the gap between test and train loss counts as closed."""
NEAR = 3.0
"""Two times are near each other within this factor."""


def events_of(run: Run) -> dict[str, Any]:
    result: Any = run.result
    return grokking_events(run.history, result["memorized_at"], result["grokked_at"])


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
    "the closed form; the gradients pass through a maximum. The dotted lines are memorization and grokking of "
    "seed 0.",
    runs=addition_by_gd,
    keep=(
        whole_curves("train_loss", "test_loss", "train_accuracy", "test_accuracy", "ipr"),
        whole_curves("norm_in", "norm_out", "gradient_in", "gradient_out"),
        events_of,
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
        for name, side in (("memorized_at", "right"), ("grokked_at", "left")):
            style.mark(panel, first[name], name.removesuffix("_at") if measure == "accuracy" else "", side)
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
    inset.set_yscale("linear")
    inset.set_xlim(0, t.first.grokked_at)
    inset.set_ylim(t.first.shown_losses)
    style.mark(inset, t.first.memorized_at)
    inset.get_legend().remove()
    inset.set_xlabel("step", fontsize=6, labelpad=1)
    inset.set_ylabel("loss", fontsize=6, labelpad=1)
    inset.tick_params(labelsize=5.5, length=2)
    inset.locator_params(nbins=3)


def all_grok(t: Table, test: Callable[[Row], Any] = lambda r: True) -> bool:
    """Whether every seed memorizes, groks and passes a test."""
    return all(r.grokked_at is not None and r.memorized_at is not None and test(r) for r in t)


def fault_together(ask: Ask, wrong: Mapping[str, Any]) -> None:
    """One sentence of all that is wrong."""
    said = "; ".join(text for text, is_so in wrong.items() if is_so)
    ask.fault(f"{said[:1].upper()}{said[1:]}.", said)


@descent.claim("abstract, 2", "test accuracy ≥ 99 % in every seed")
def grokking(t: Table, ask: Ask) -> None:
    """Plain full-batch gradient descent with the mean squared error groks modular addition without any
    regularization."""
    ask.yes("Every seed reaches 99 % test accuracy under plain gradient descent with the mean squared error.")
    ask.fault("Not every seed reaches 99 % test accuracy.", not all_grok(t))
    ask.show({"grokking step": t["grokked_at"]})
    ask.show({"test accuracy at the end": t["test_accuracy_end"]}, percent)
    ask.show({"learning rate": t.one("lr")})


@descent.claim("4.1", "at memorization, on average less than a quarter of the IPR's whole rise")
def no_waves_yet(t: Table, ask: Ask) -> None:
    """Periodic structure has not formed yet when the training pairs are known."""
    formed = (t["ipr_memorized"] - t["ipr_start"]) / (t["ipr_end"] - t["ipr_start"])
    ask.yes("When the training pairs are known, the weights have gone only a small part of the way to periodic.")
    early = all_grok(t) and formed.average() < 0.25
    ask.fault("The weights are already periodic when the training pairs are known.", not early)
    ask.show({"share of the IPR's rise done at memorization": formed}, percent)


@descent.claim(
    "1 (Fig. 0a), 4.1",
    f"the maximum exceeds the initial loss, lies no earlier than 1/{NEAR:g} of the onset (10 % test accuracy) and "
    "before grokking, at test accuracy ≤ 50 %, in every seed",
)
def loss_peak(t: Table, ask: Ask) -> None:
    """The test loss is not monotonic: it is largest right before the onset of grokking."""
    ask.yes("The test loss climbs above its initial value and turns just before the test accuracy rises.")
    ask.fault("The test loss is not largest just before generalization.", not all_grok(t, _peaks_early))
    ask.show({"step of the largest test loss": t["loss_peak_at"], "step of 10 % test accuracy": t["onset_at"]})
    ask.show({"largest / initial test loss": t["loss_peak"] / t["loss_start"]})
    ask.show({"test accuracy there": t["test_accuracy_at_peak"]}, percent)


def _peaks_early(r: Row) -> bool:
    timely = r.onset_at / NEAR <= r.loss_peak_at <= r.grokked_at
    return timely and r.loss_peak > r.loss_start and r.test_accuracy_at_peak <= 0.5


@descent.claim("1 (Fig. 0a)", "it rises between neighboring evaluations in at most 5 % of the cases")
def train_loss(t: Table, ask: Ask) -> None:
    """The training loss decays monotonically, by and large."""
    most = max(t["train_loss_rises"])
    ask.yes(f"The training loss rose between neighboring evaluations in {percent(most)} of the cases at most.")
    ask.fault("", most > 0.05)
    ask.show({"evaluations with a rise": t["train_loss_rises"]}, percent)


@descent.claim("appendix C", f"test minus train loss ends below {CLOSED:.0%} of its maximum, in every seed")
def loss_gap_closes(t: Table, ask: Ask) -> None:
    """For modular addition the gap between train and test loss disappears over time."""
    ratio = t["test_loss_end"] / t["train_loss_end"]
    ask.yes("After grokking the test loss follows the training loss down, and the difference between them vanishes.")
    closes = all_grok(t, lambda r: r.gap_end < CLOSED * r.gap_largest)
    ask.fault("The difference between the losses stays above a twentieth of its largest value.", not closes)
    ask.note("Their ratio does not go to one: both fall, the training loss further.", ratio.average() > 2)
    ask.show({"last / largest difference of the losses": t["gap_end"] / t["gap_largest"]})
    ask.show({"test loss / train loss at the end": ratio, "test loss at the end": t["test_loss_end"]})
    ask.show({"train loss at the end": t["train_loss_end"]})


def _norms(t: Table, ask: Ask) -> tuple[Column, Column, float]:
    """Growth of the norms, the share of it before the onset, and what the closed form needs."""
    needed = t.one("closed_form_growth")
    largest = t["norm_largest"] / t["norm_start"]
    before = (t["norm_onset"] - t["norm_start"]) / (t["norm_end"] - t["norm_start"])
    ask.show({"largest / initial norm": largest, "closed form / initial norm": needed})
    ask.show({"share of the growth before 10 % test accuracy": before}, percent)
    return largest, before, needed


@descent.claim(
    "1 (Fig. 0b)",
    "the largest norm is at most twice the initial one, and at most a quarter of the growth comes before the onset "
    "(10 % test accuracy), on average over seeds",
)
def norms(t: Table, ask: Ask) -> None:
    """Weight norms do not increase much, and start growing at the onset of grokking."""
    largest, before, needed = _norms(t, ask)
    grown, share = largest.average(), before.average()
    ask.yes("The weight norms grow little, and from the onset of grokking on.")
    ask.fault(
        f"The weight norms grow {grown:.1f}-fold. Claim I's own weights are {number(needed)} times as large as the "
        "initial ones, so a network that finds them has to grow so.",
        grown > 2,
    )
    ask.fault(f"The growth does not start at the onset: {percent(share)} of it come before.", not share <= 0.25)


@descent.claim(
    BEYOND,
    "the norm grows by ≥ 5 %; the step of its fastest growth is within 20 % of the onset (10 % test accuracy); it is "
    "never above 1.2 × the closed form's norm, (2D)^(1/3)/√2 times the initial one; in every seed",
)
def norms_of_solution(t: Table, ask: Ask) -> None:
    """Weight norms grow fastest at the onset of grokking, and no further than the closed form needs."""
    _, _, needed = _norms(t, ask)
    ask.yes("The weight norms grow fastest at the onset of grokking, and end near the norm of the closed form.")
    timely = all_grok(t, lambda r: r.onset_at is not None and abs(r.norm_fastest_at / r.onset_at - 1) <= 0.2)
    wrong = {"the norms do not grow": any(r.norm_end <= 1.05 * r.norm_start for r in t)}
    wrong["they do not grow fastest at the onset"] = not timely
    wrong["they grow well beyond the closed form's"] = any(r.norm_largest > 1.2 * needed * r.norm_start for r in t)
    fault_together(ask, wrong)
    ask.show({"step of 10 % test accuracy": t["onset_at"], "step of fastest growth": t["norm_fastest_at"]})


@descent.claim(
    "1 (Fig. 0d)",
    f"up to {AFTERMATH:g} × the grokking step: largest gradient ≥ 1.5 × the first, its step within 20 % of that of the "
    "largest test loss; less than half of it afterwards; in every seed. Not judged where the training loss rises and "
    "the largest gradient comes after grokking: the rate is too large then",
)
def gradients(t: Table, ask: Ask) -> None:
    """The dynamics accelerates until the test loss is largest, then slows down."""
    place = t.each(lambda r: r.gradient_peak_at / r.loss_peak_at if r.loss_peak_at else None)
    at = t["gradient_peak_at"] / t["grokked_at"]
    later = t.each(lambda r: r.gradient_later / r.gradient_peak if r.gradient_later else None)
    ask.show({"step of the largest gradient / of the largest test loss": place})
    ask.show({"step of the largest gradient / of grokking": at})
    ask.show({"largest / initial gradient": t["gradient_peak"] / t["gradient_start"]})
    ask.show({"smallest after it / largest gradient": t["gradient_settled"] / t["gradient_peak"]})
    ask.show({f"largest after {AFTERMATH:g} × the grokking step / largest gradient": later})
    ask.undecided(
        f"The rate {number(t.one('lr'))} is above its limit after grokking: the training loss rises and the "
        "gradients jump, so their maximum says nothing. A smaller rate has to judge this.",
        any(r.train_loss_rises > 0 and r.grokked_at and r.gradient_peak_at > r.grokked_at for r in t),
    )
    rises = all_grok(t, lambda r: r.gradient_peak > 1.5 * r.gradient_start)
    falls = all_grok(t, lambda r: r.gradient_settled < 0.5 * r.gradient_peak)
    ask.yes("Gradients grow until about the maximum of the test loss, and fall again as the network generalizes.")
    ask.end("The gradients do not pass through one maximum around grokking.", not rises or not falls)
    ask.end(
        f"Gradients pass through a maximum, at {number(place.average())} times the step of the largest test loss: the "
        f"dynamics goes on accelerating until {number(at.average())} of the grokking step.",
        not all(ratio is not None and abs(ratio - 1) <= 0.2 for ratio in place),
    )
    ask.note(
        "Long after grokking the gradients grow and fluctuate once more while the losses go on falling: the rate is at "
        "its limit there.",
        any(ratio > 1 for ratio in later.known()),
    )
