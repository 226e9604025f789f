"""A machine that learns features without a network groks too (Mallinar et al.)."""

from typing import Any

from modgrok.measures.feature_machine import learn
from modgrok.palette import GREEN, TEST, TRAIN
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.text import number, percent


def iterations(s: Sizes) -> list[dict[str, Any]]:
    found = learn(s.machine_modulus, s.machine_fraction, s.iterations)
    same = {"modulus": s.machine_modulus, "fraction": s.machine_fraction}
    return [same | {"iteration": i} | one._asdict() for i, one in enumerate(found, start=1)]


machine = study(
    "figF",
    "A machine without a network",
    "A recursive feature machine interpolates the training set at every iteration and learns the test set late; its "
    "features become circulant before that.",
    rows=iterations,
)


@machine.figure("losses", "what is learned", height=2.6)
def losses_and_features(t: Table, left: Any, right: Any) -> str:
    for name, color, label in (("train_loss", TRAIN, "training set"), ("test_loss", TEST, "test set")):
        left.plot(t["iteration"], t[name], color=color, label=label)
    left.set(xlabel="iteration", ylabel="squared error")
    left.set_ylim(bottom=0)
    right.plot(t["iteration"], t["test_accuracy"], color=TEST, label="test accuracy")
    known = t.where("deviation >= 0")
    right.plot(known["iteration"], known["deviation"], color=GREEN, linestyle="--", label="deviation from circulant")
    right.set(xlabel="iteration", ylim=(-0.02, 1.04))
    for panel in (left, right):
        panel.legend()
    return f"n + m mod {t.one('modulus')}, α = {number(t.one('fraction'))}, kernel (xᵀMx′)²"


@machine.claim("2407.20199")
def machine_groks(t: Table, ask: Ask) -> None:
    """A recursive feature machine, which has no network and no gradient descent, groks n + m."""
    late, largest, end = len(t.where("test_accuracy < 0.1")), max(t["train_loss"]), t["test_accuracy"][-1]
    ask.that("from the first iteration on the training loss is below 10⁻⁶", largest < 1e-6)
    ask.that("the test accuracy is below 10 % for at least five iterations", late >= 5)
    ask.that("it passes one half in the end", end > 0.5)
    ask.remark("it passes 90 %", end > 0.9)
    ask.yes(f"The test accuracy is below 10 % for {late} iterations, and ends at {percent(end)}.")
    ask.show({"training loss, largest": largest, "iterations below 10 %": str(late)})
    ask.show({"test accuracy at the end": percent(end)})


@machine.claim("2407.20199")
def features_first(t: Table, ask: Ask) -> None:
    """Its features become circulant, which is the Fourier basis, before the test accuracy shows anything."""
    known = t.where("deviation >= 0")
    first, last = known.first.deviation, known.rows[-1].deviation
    half, rises = known.where(f"deviation <= {first / 2}")["iteration"], t.where("test_accuracy >= 0.1")["iteration"]
    formed, seen = (number(some[0] if some else None) for some in (half, rises))
    ask.that("the deviation from circulant of the features' block between n and m falls by half", half)
    ask.that("at that iteration the test accuracy is below 10 %", half and (not rises or half[0] < rises[0]))
    ask.yes(f"They are half circulant at iteration {formed}; the test accuracy passes 10 % at {seen}.")
    ask.show({"iteration of half the deviation": formed, "iteration of 10 % test accuracy": seen})
    ask.show({"deviation, first and last": f"{number(first)}, {number(last)}"})
