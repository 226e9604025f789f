"""Claims about how training goes (introduction, sections 2 and 4; Fig. 0)."""

from collections.abc import Callable
from typing import Any

from modgrok.reproduce.claim import Verdict, claim, decide, undecided
from modgrok.reproduce.gromov2023.fig0 import AFTERMATH
from modgrok.reproduce.nested import Numbers, mean
from modgrok.text import NONE, number, percent, spread

NEAR = 3.0
"""Two times are near each other within this factor."""


def _events(n: Numbers) -> list[dict[str, Any]]:
    return [run["events"] for run in n["runs"]]


def _all(events: list[dict[str, Any]], test: Callable[[dict[str, Any]], bool]) -> bool:
    return all(
        event["grokked_at"] is not None and event["memorized_at"] is not None and test(event) for event in events
    )


@claim("abstract, 2", "test accuracy ≥ 99 % in every seed", "fig0")
def grokking(n: Numbers) -> Verdict:
    """Plain full-batch gradient descent with the mean squared error groks modular addition without any
    regularization."""
    events = _events(n)
    return decide(
        _all(events, lambda e: True),
        "Every seed reaches 99 % test accuracy under plain gradient descent with the mean squared error.",
        "Not every seed reaches 99 % test accuracy.",
        {
            "grokking step": spread([e["grokked_at"] for e in events]),
            "test accuracy at the end": spread([e["test_accuracy_end"] for e in events], percent),
            "learning rate": number(n["learning_rate"]),
        },
    )


@claim(
    "1, 4.1",
    "train accuracy reaches 99 % before test accuracy does, in every seed; test accuracy rises from 10 to 90 % within "
    "a fifth of the grokking step and in less than half of the steps that train accuracy takes for it; the delay "
    "(grokking step / memorization step) is at least 1.5 times as long at the smallest α that groks as at the largest",
    "fig0",
    "delay",
)
def memorizes_first(n: Numbers, data: Numbers) -> Verdict:
    """The network first fits the training pairs; generalization comes later and suddenly, and the later the less data
    there is."""
    events = _events(n)
    later = _all(events, lambda e: e["grokked_at"] > e["memorized_at"])
    sudden = _all(
        events,
        lambda e: (
            e["test_rise"] is not None
            and e["train_rise"] is not None
            and e["test_rise"] <= 0.2 * e["grokked_at"]
            and e["test_rise"] < 0.5 * e["train_rise"]
        ),
    )
    known = [cell for cell in data["cells"] if cell["delay"] is not None]
    grows = len(known) >= 2 and known[0]["delay"] >= 1.5 * known[-1]["delay"]
    ratio = [e["grokked_at"] / e["memorized_at"] if later else None for e in events]
    wrong = {
        "test accuracy does not follow training accuracy in every seed": not later,
        "test accuracy rises no faster than training accuracy": later and not sudden,
        "the delay does not grow as α falls": not grows,
    }
    said = "; ".join(text for text, is_so in wrong.items() if is_so)
    dramatic = data["dramatic"]
    return decide(
        later and sudden and grows,
        "The training pairs are learnt before the test pairs in every seed, the test accuracy then rises at once, and "
        "the delay grows as α falls.",
        f"{said[:1].upper()}{said[1:]}.",
        {
            "memorization step": spread([e["memorized_at"] for e in events]),
            "grokking step": spread([e["grokked_at"] for e in events]),
            f"grokking / memorization step at α = {number(n['fraction'])}": spread(ratio),
            "steps from 10 to 90 % test accuracy": spread([e["test_rise"] for e in events]),
            "steps from 10 to 90 % train accuracy": spread([e["train_rise"] for e in events]),
        }
        | {f"delay at α = {c['fraction']}, p = {data['modulus']}": spread(c["delays"]) for c in data["cells"]}
        | {
            f"delay under AdamW at α = {dramatic['fraction']}, p = {dramatic['modulus']}": spread(dramatic["delays"]),
            "grokking step there": spread(dramatic["grokked_at"]),
        },
        later
        and mean(ratio) < 2
        and f"At α = {number(n['fraction'])} the delay is short, a factor of {mean(ratio):.2f}; at "
        f"α = {known[0]['fraction'] if known else NONE} it is {number(known[0]['delay'] if known else None)}.",
    )


@claim("4.1", "at memorization, on average less than a quarter of the IPR's whole rise", "fig0")
def no_waves_yet(n: Numbers) -> Verdict:
    """Periodic structure has not formed yet when the training pairs are known."""
    events = _events(n)
    formed = [
        (e["ipr_memorized"] - e["ipr_start"]) / (e["ipr_end"] - e["ipr_start"]) if e["ipr_memorized"] else None
        for e in events
    ]
    holds = _all(events, lambda e: True) and mean(formed) < 0.25
    return decide(
        holds,
        "When the training pairs are known, the weights have gone only a small part of the way to periodic.",
        "The weights are already periodic when the training pairs are known.",
        {"share of the IPR's rise done at memorization": spread(formed, percent)},
    )


@claim(
    "1 (Fig. 0a), 4.1",
    f"the maximum exceeds the initial loss, lies no earlier than 1/{NEAR:g} of the onset (10 % test accuracy) and "
    "before grokking, at test accuracy ≤ 50 %, in every seed",
    "fig0",
)
def loss_peak(n: Numbers) -> Verdict:
    """The test loss is not monotonic: it is largest right before the onset of grokking."""
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
        "The test loss climbs above its initial value and turns just before the test accuracy rises.",
        "The test loss is not largest just before generalization.",
        {
            "step of the largest test loss": spread([e["loss_peak_at"] for e in events]),
            "step of 10 % test accuracy": spread([e["onset_at"] for e in events]),
            "largest / initial test loss": spread([e["loss_peak"] / e["loss_start"] for e in events]),
            "test accuracy there": spread([e["test_accuracy_at_peak"] for e in events], percent),
        },
    )


@claim("1 (Fig. 0a)", "it rises between neighbouring evaluations in at most 5 % of the cases", "fig0")
def train_loss(n: Numbers) -> Verdict:
    """The training loss decays monotonically, by and large."""
    events = _events(n)
    rises = [e["train_loss_rises"] for e in events]
    return decide(
        max(rises) <= 0.05,
        f"The training loss rose between neighbouring evaluations in {percent(max(rises))} of the cases at most.",
        "",
        {"evaluations with a rise": spread(rises, percent)},
    )


@claim("appendix C", "test minus train loss ends below a twentieth of its maximum, in every seed", "fig0")
def loss_gap_closes(n: Numbers) -> Verdict:
    """For modular addition the gap between train and test loss disappears over time."""
    events = _events(n)
    holds = _all(events, lambda e: e["gap_end"] < 0.05 * e["gap_largest"])
    ratio = [e["test_loss_end"] / e["train_loss_end"] for e in events]
    return decide(
        holds,
        "After grokking the test loss follows the training loss down, and the difference between them vanishes.",
        "The difference between the losses stays above a twentieth of its largest value.",
        {
            "last / largest difference of the losses": spread([e["gap_end"] / e["gap_largest"] for e in events]),
            "test loss / train loss at the end": spread(ratio),
            "test loss at the end": spread([e["test_loss_end"] for e in events]),
            "train loss at the end": spread([e["train_loss_end"] for e in events]),
        },
        "Their ratio does not go to one: both fall, the training loss further." if mean(ratio) > 2 else "",
    )


@claim(
    "1 (Fig. 0b)",
    "the norm grows by ≥ 5 %; the step of its fastest growth is within 20 % of the onset (10 % test accuracy); it is "
    "never above 1.2 × the closed form's norm, (2D)^(1/3)/√2 times the initial one; in every seed",
    "fig0",
)
def norms(n: Numbers) -> Verdict:
    """Weight norms grow at the onset of grokking, and no further than the solution needs."""
    events, needed = _events(n), n["closed_form_growth"]
    at_onset = _all(
        events, lambda e: e["onset_at"] is not None and abs(e["norm_fastest_at"] / e["onset_at"] - 1) <= 0.2
    )
    grows = all(e["norm_end"] > 1.05 * e["norm_start"] for e in events)
    bounded = all(e["norm_largest"] <= 1.2 * needed * e["norm_start"] for e in events)
    largest = [e["norm_largest"] / e["norm_start"] for e in events]
    before = [
        (e["norm_onset"] - e["norm_start"]) / (e["norm_end"] - e["norm_start"]) if e["norm_onset"] else None
        for e in events
    ]
    wrong = {
        "the norms do not grow": not grows,
        "they do not grow fastest at the onset": not at_onset,
        "they grow well beyond the closed form's": not bounded,
    }
    said = "; ".join(text for text, is_so in wrong.items() if is_so)
    return decide(
        grows and at_onset and bounded,
        "The weight norms grow fastest at the onset of grokking, and end near the norm of the closed form.",
        f"{said[:1].upper()}{said[1:]}.",
        {
            "largest / initial norm": spread(largest),
            "closed form / initial norm": number(needed),
            "step of 10 % test accuracy": spread([e["onset_at"] for e in events]),
            "step of fastest growth": spread([e["norm_fastest_at"] for e in events]),
            "share of the growth before 10 % test accuracy": spread(before, percent),
        },
        mean(largest) > 2
        and f"That is no small increase: {mean(largest):.1f}-fold. Claim I's own weights are {number(needed)} times as "
        "large as the initial ones, so a network that finds them has to grow so.",
        mean(before) > 0.5 and f"The growth does not begin there: {percent(mean(before))} of it come before.",
    )


@claim(
    "1 (Fig. 0d)",
    f"up to {AFTERMATH:g} × the grokking step: largest gradient ≥ 1.5 × the first, its step within 20 % of that of the "
    "largest test loss; less than half of it afterwards; in every seed. Not judged where the training loss rises and "
    "the largest gradient comes after grokking: the rate is too large then",
    "fig0",
)
def gradients(n: Numbers) -> Verdict:
    """The dynamics accelerates until the test loss is largest, then slows down."""
    events = _events(n)
    passes = _all(
        events,
        lambda e: e["gradient_peak"] > 1.5 * e["gradient_start"] and e["gradient_settled"] < 0.5 * e["gradient_peak"],
    )
    place = [e["gradient_peak_at"] / e["loss_peak_at"] if e["loss_peak_at"] else None for e in events]
    there = all(ratio is not None and abs(ratio - 1) <= 0.2 for ratio in place)
    later = [e["gradient_later"] / e["gradient_peak"] if e["gradient_later"] else None for e in events]
    grokking = [e["gradient_peak_at"] / e["grokked_at"] if e["grokked_at"] else None for e in events]
    measured = {
        "step of the largest gradient / of the largest test loss": spread(place),
        "step of the largest gradient / of grokking": spread(grokking),
        "largest / initial gradient": spread([e["gradient_peak"] / e["gradient_start"] for e in events]),
        "smallest after it / largest gradient": spread([e["gradient_settled"] / e["gradient_peak"] for e in events]),
        f"largest after {AFTERMATH:g} × the grokking step / largest gradient": spread(later),
    }
    if any(e["train_loss_rises"] > 0 and at is not None and at > 1 for e, at in zip(events, grokking, strict=True)):
        return undecided(
            f"The rate {number(n['learning_rate'])} is above its limit after grokking: the training loss rises and the "
            "gradients jump, so their maximum says nothing. A smaller rate has to judge this.",
            measured,
        )
    return decide(
        passes and there,
        "Gradients grow until about the maximum of the test loss, and fall again as the network generalizes.",
        f"Gradients pass through a maximum, at {number(mean(place))} times the step of the largest test loss: the "
        f"dynamics goes on accelerating until {number(mean(grokking))} of the grokking step."
        if passes
        else "The gradients do not pass through one maximum around grokking.",
        measured,
        any(ratio is not None and ratio > 1 for ratio in later)
        and "Long after grokking the gradients grow and fluctuate once more while the losses go on falling: the rate "
        "is at its limit there.",
    )


@claim(
    "4.1",
    "trained for at least 5 × the memorization step: train accuracy ≥ 99 %, best test accuracy within five standard "
    "deviations of chance or below it, last test loss ≥ 95 % of its maximum, in every seed",
    "memorizing",
)
def memorizing_phase(n: Numbers) -> Verdict:
    """With too little data the network stays a memorizer: the training loss saturates, and the test loss never leaves
    its maximum."""
    chance = 1 / n["modulus"]
    limit = chance + 5 * (chance / n["test_pairs"]) ** 0.5
    ratio = [end / peak for end, peak in zip(n["loss_end"], n["loss_peak"], strict=True)]
    falls = [half / end for half, end in zip(n["train_loss_half"], n["train_loss_end"], strict=True)]
    known = min(n["train_accuracy"]) >= 0.99 and all(m is not None for m in n["memorized_at"])
    long = known and 5 * max(n["memorized_at"]) <= n["steps"]
    holds = long and max(n["best_test_accuracy"]) <= limit and min(ratio) >= 0.95
    return decide(
        holds,
        f"With α = {n['fraction']} the network knows its training pairs, and the test loss stays at its maximum.",
        f"With α = {n['fraction']} the answers stay at chance, but the test loss leaves its maximum: "
        f"it falls to {number(min(ratio))} of it."
        if long and max(n["best_test_accuracy"]) <= limit
        else f"With α = {n['fraction']} the network does not stay in the memorizing phase.",
        {
            "steps / memorization step": spread([n["steps"] / m if m else None for m in n["memorized_at"]]),
            "train accuracy": spread(n["train_accuracy"], percent),
            "best test accuracy": spread(n["best_test_accuracy"], percent),
            "chance, limit": f"{percent(chance)}, {percent(limit)}",
            "last / largest test loss": spread(ratio),
            "train loss after half of the steps / at the end": spread(falls),
            "p": str(n["modulus"]),
        },
        mean(falls) > 1.1
        and f"The training loss does not saturate: over the second half of the steps it falls {mean(falls):.1f}-fold.",
    )
