"""Claims about how training goes (introduction, sections 2 and 4; Figs. 0 and 4)."""

import math
from collections.abc import Callable
from typing import Any

from modgrok.reproduce.claims.claim import Claim, Verdict, decide, not_run
from modgrok.reproduce.study import Numbers
from modgrok.reproduce.values import mean, percent, short, spread

NEAR = 3.0
"""Two times are near each other within this factor."""


def _events(n: Numbers) -> list[dict[str, Any]]:
    return [run["events"] for run in n["runs"]]


def _all(events: list[dict[str, Any]], test: Callable[[dict[str, Any]], bool]) -> bool:
    return all(
        event["grokked_at"] is not None and event["memorized_at"] is not None and test(event) for event in events
    )


def _groks_without_regularization(n: Numbers) -> Verdict:
    events = _events(n)
    return decide(
        _all(events, lambda e: True),
        "Every seed reaches 99 % test accuracy under plain gradient descent with the mean squared error."
        if _all(events, lambda e: True)
        else "Not every seed reaches 99 % test accuracy.",
        {
            "grokking step": spread([e["grokked_at"] for e in events]),
            "test accuracy at the end": spread([e["test_accuracy_end"] for e in events], percent),
            "learning rate": short(n["learning_rate"]),
        },
    )


def _memorizes_first(n: Numbers) -> Verdict:
    events = _events(n)
    holds = _all(events, lambda e: e["grokked_at"] > e["memorized_at"])
    ratio = [e["grokked_at"] / e["memorized_at"] if holds else None for e in events]
    small = holds and mean(ratio) < 2
    return decide(
        holds,
        "The training pairs are learnt before the test pairs in every seed."
        if holds
        else "Test accuracy does not follow training accuracy in every seed.",
        {
            "memorization step": spread([e["memorized_at"] for e in events]),
            "grokking step": spread([e["grokked_at"] for e in events]),
            "ratio": spread(ratio),
        },
        "At this α the delay is less than a factor of two; it grows as α falls." if small else "",
    )


def _loss_peaks_before(n: Numbers) -> Verdict:
    events = _events(n)
    holds = _all(
        events,
        lambda e: (
            e["loss_peak"] > e["loss_start"]
            and e["onset_at"] / NEAR <= e["loss_peak_at"] <= e["grokked_at"]
            and e["test_accuracy_at_peak"] <= 0.5
        ),
    )
    return decide(
        holds,
        "The test loss climbs above its initial value and turns just before the test accuracy rises."
        if holds
        else "The test loss is not largest just before generalization.",
        {
            "step of the largest test loss": spread([e["loss_peak_at"] for e in events]),
            "step of 10 % test accuracy": spread([e["onset_at"] for e in events]),
            "largest / initial test loss": spread([e["loss_peak"] / e["loss_start"] for e in events]),
            "test accuracy there": spread([e["test_accuracy_at_peak"] for e in events], percent),
        },
    )


def _norms_grow(n: Numbers) -> Verdict:
    events = _events(n)
    holds = _all(
        events,
        lambda e: (
            e["norm_end"] > 1.05 * e["norm_start"]
            and e["norm_onset"] - e["norm_start"] < 0.5 * (e["norm_end"] - e["norm_start"])
            and e["norm_largest"] < 5 * e["norm_start"]
        ),
    )
    before = [
        (e["norm_onset"] - e["norm_start"]) / (e["norm_end"] - e["norm_start"]) if e["norm_onset"] else None
        for e in events
    ]
    return decide(
        holds,
        "Most of the growth of the weight norms comes after the onset of generalization, and there is no explosion."
        if holds
        else "The weight norms do not grow moderately from the onset on.",
        {
            "norm at the end / at the start": spread([e["norm_end"] / e["norm_start"] for e in events]),
            "share of the growth before the onset": spread(before, percent),
        },
    )


def _gradients_peak(n: Numbers) -> Verdict:
    events = _events(n)
    holds = _all(
        events,
        lambda e: (
            e["gradient_peak"] > 1.5 * e["gradient_start"]
            and e["gradient_end"] < 0.5 * e["gradient_peak"]
            and 1 / NEAR <= e["gradient_peak_at"] / e["loss_peak_at"] <= NEAR
        ),
    )
    return decide(
        holds,
        "Gradients grow until about the maximum of the test loss, then shrink."
        if holds
        else "The gradients are not largest about the maximum of the test loss.",
        {
            "step of the largest gradient / of the largest test loss": spread(
                [e["gradient_peak_at"] / e["loss_peak_at"] if e["loss_peak_at"] else None for e in events]
            ),
            "largest / initial gradient": spread([e["gradient_peak"] / e["gradient_start"] for e in events]),
            "last / largest gradient": spread([e["gradient_end"] / e["gradient_peak"] for e in events]),
        },
    )


def _train_loss_falls(n: Numbers) -> Verdict:
    events = _events(n)
    rises = [e["train_loss_rises"] for e in events]
    return decide(
        max(rises) <= 0.05,
        f"The training loss rose between neighbouring evaluations in {percent(max(rises))} of the cases at most.",
        {"evaluations with a rise": spread(rises, percent)},
    )


def _gap_closes(n: Numbers) -> Verdict:
    events = _events(n)
    closing = [e["test_loss_end"] / e["loss_peak"] for e in events]
    holds = _all(events, lambda e: e["test_loss_end"] < 0.1 * e["loss_peak"])
    return decide(
        holds,
        "After grokking the test loss follows the training loss down."
        if holds
        else "The test loss stays above a tenth of its largest value.",
        {
            "last / largest test loss": spread(closing),
            "test loss at the end": spread([e["test_loss_end"] for e in events]),
            "train loss at the end": spread([e["train_loss_end"] for e in events]),
        },
    )


def _no_waves_when_memorized(n: Numbers) -> Verdict:
    events = _events(n)
    formed = [
        (e["ipr_memorized"] - e["ipr_start"]) / (e["ipr_end"] - e["ipr_start"]) if e["ipr_memorized"] else None
        for e in events
    ]
    holds = _all(events, lambda e: True) and mean(formed) < 0.25
    return decide(
        holds,
        "When the training pairs are known, the weights have gone only a small part of the way to periodic."
        if holds
        else "The weights are already periodic when the training pairs are known.",
        {"share of the IPR's rise done at memorization": spread(formed, percent)},
    )


def _stays_memorizing(n: Numbers) -> Verdict:
    ratio = [end / peak for end, peak in zip(n["loss_end"], n["loss_peak"], strict=True)]
    holds = min(n["train_accuracy"]) >= 0.99 and max(n["test_accuracy"]) < 0.5 and min(ratio) > 0.8
    return decide(
        holds,
        f"With α = {n['fraction']} the network knows its training pairs, and the test loss stays at its maximum."
        if holds
        else f"With α = {n['fraction']} the network does not stay in the memorizing phase.",
        {
            "train accuracy": spread(n["train_accuracy"], percent),
            "test accuracy": spread(n["test_accuracy"], percent),
            "last / largest test loss": spread(ratio),
            "p": str(n["modulus"]),
        },
    )


def _ipr_rises(n: Numbers) -> Verdict:
    runs = n["runs"]
    faster = [max(run["slopes"][1:3]) / max(run["slopes"][0], 1e-12) for run in runs]
    near = [
        run["grokked_at"] is not None and run["bends"][1] / NEAR <= run["grokked_at"] <= run["bends"][3] * 1.5
        for run in runs
    ]
    saturates = [run["slopes"][3] < 0.5 * max(run["slopes"]) for run in runs]
    holds = min(faster) >= 2 and all(near)
    return decide(
        holds,
        "The ratio grows from the start, and several times faster from the onset of grokking on."
        if holds
        else "The ratio's growth does not accelerate at the onset of grokking.",
        {
            "fastest / first slope": spread(faster),
            "start of the transition": spread([run["bends"][1] for run in runs]),
            "grokking step": spread([run["grokked_at"] for run in runs]),
            "start of the last regime": spread([run["bends"][3] for run in runs]),
        },
        "" if all(saturates) else "The last regime, saturation, is not reached within these steps.",
    )


def _ipr_gap(n: Numbers) -> Verdict:
    closed = n["closed_form_ipr"]
    ends = [run["end"] for run in n["runs"]]
    holds = all(5 * run["start"] < run["end"] < 0.99 * closed for run in n["runs"])
    return decide(
        holds,
        "At the end the weights are many times more localized than at the start, and short of the closed form."
        if holds
        else "The final ratio is not between noise and the closed form.",
        {
            "IPR at the start": spread([run["start"] for run in n["runs"]]),
            "IPR at the end": spread(ends),
            "closed form": short(closed),
        },
    )


def _more_data(n: Numbers) -> Verdict:
    less, more = n["ipr"]
    if math.isnan(mean(less)):
        return not_run("The networks have no ratio.")
    return decide(
        mean(more) > mean(less),
        f"From α = {n['fractions'][0]} to {n['fractions'][1]} the final ratio "
        f"{'rises' if mean(more) > mean(less) else 'does not rise'}.",
        {f"IPR at α = {a}": spread(cell) for a, cell in zip(n["fractions"], n["ipr"], strict=True)},
    )


CLAIMS = (
    Claim(
        "grokking",
        "abstract, 2",
        "Plain full-batch gradient descent with the mean squared error groks modular addition without any "
        "regularization.",
        ("fig0",),
        "test accuracy ≥ 99 % in every seed",
        _groks_without_regularization,
    ),
    Claim(
        "memorizes_first",
        "1, 4.1",
        "The network first fits the training pairs; generalization comes later and suddenly.",
        ("fig0",),
        "train accuracy reaches 99 % before test accuracy does, in every seed",
        _memorizes_first,
    ),
    Claim(
        "no_waves_yet",
        "4.1",
        "Periodic structure has not formed yet when the training pairs are known.",
        ("fig0",),
        "at memorization, on average less than a quarter of the IPR's whole rise",
        _no_waves_when_memorized,
    ),
    Claim(
        "loss_peak",
        "1 (Fig. 0a), 4.1",
        "The test loss is not monotonic: it is largest right before the onset of grokking.",
        ("fig0",),
        f"the maximum exceeds the initial loss, lies no earlier than 1/{NEAR:g} of the onset (10 % test accuracy) and "
        "before grokking, at test accuracy ≤ 50 %, in every seed",
        _loss_peaks_before,
    ),
    Claim(
        "train_loss",
        "1 (Fig. 0a)",
        "The training loss decays monotonically, by and large.",
        ("fig0",),
        "it rises between neighbouring evaluations in at most 5 % of the cases",
        _train_loss_falls,
    ),
    Claim(
        "loss_gap_closes",
        "appendix C",
        "For modular addition the gap between train and test loss disappears over time.",
        ("fig0",),
        "the last test loss is below a tenth of its maximum, in every seed",
        _gap_closes,
    ),
    Claim(
        "norms",
        "1 (Fig. 0b)",
        "Weight norms begin to grow at the onset of grokking, without the large increase others have reported.",
        ("fig0",),
        "norm grows by ≥ 5 %, less than half of the growth before the onset, never above 5 times its start",
        _norms_grow,
    ),
    Claim(
        "gradients",
        "1 (Fig. 0d)",
        "The dynamics accelerates until the test loss is largest, then slows down.",
        ("fig0",),
        f"largest gradient ≥ 1.5 × the first, within a factor {NEAR:g} of the step of the largest test loss; "
        "last ≤ half of it",
        _gradients_peak,
    ),
    Claim(
        "memorizing_phase",
        "4.1",
        "With too little data the network stays a memorizer: the test loss never leaves its maximum.",
        ("memorizing",),
        "train accuracy ≥ 99 %, test accuracy < 50 %, last test loss > 80 % of its maximum, in every seed",
        _stays_memorizing,
    ),
    Claim(
        "ipr_onset",
        "4.3 (Fig. 4)",
        "The inverse participation ratio grows slowly from the start and sharply faster with the onset of grokking.",
        ("fig4",),
        f"of the four fitted slopes the second or third is ≥ 2 × the first; grokking not before 1/{NEAR:g} of "
        "the first bend "
        "nor after 1.5 × the last, in every seed",
        _ipr_rises,
    ),
    Claim(
        "ipr_gap",
        "4.3 (Fig. 4)",
        "The final ratio stays below the closed form's: some noise remains in the weights.",
        ("fig4",),
        "final IPR above 5 times its start and below 99 % of the closed form's, in every seed",
        _ipr_gap,
    ),
    Claim(
        "ipr_data",
        "4.3 (Fig. 4)",
        "More data narrows the gap to the closed form.",
        ("more_data",),
        "mean final IPR larger at the larger α",
        _more_data,
    ),
)
