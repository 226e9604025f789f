"""Claims about how training goes (introduction, sections 2 and 4; Fig. 0)."""

from collections.abc import Callable
from typing import Any

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.gromov2023.fig0 import AFTERMATH
from modgrok.reproduce.study import Numbers, mean
from modgrok.text import number, percent, spread

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


@claim("1, 4.1", "train accuracy reaches 99 % before test accuracy does, in every seed", "fig0")
def memorizes_first(n: Numbers) -> Verdict:
    """The network first fits the training pairs; generalization comes later and suddenly."""
    events = _events(n)
    holds = _all(events, lambda e: e["grokked_at"] > e["memorized_at"])
    ratio = [e["grokked_at"] / e["memorized_at"] if holds else None for e in events]
    small = holds and mean(ratio) < 2
    return decide(
        holds,
        "The training pairs are learnt before the test pairs in every seed.",
        "Test accuracy does not follow training accuracy in every seed.",
        {
            "memorization step": spread([e["memorized_at"] for e in events]),
            "grokking step": spread([e["grokked_at"] for e in events]),
            "ratio": spread(ratio),
        },
        "At this α the delay is less than a factor of two; it grows as α falls." if small else "",
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
    "norm grows by ≥ 5 %, less than half of it before the onset (10 % test accuracy), never above 5 × its start",
    "fig0",
)
def norms(n: Numbers) -> Verdict:
    """Weight norms begin to grow at the onset of grokking, without the large increase others have reported."""
    events = _events(n)
    holds = _all(
        events,
        lambda e: (
            e["norm_end"] > 1.05 * e["norm_start"]
            and e["norm_onset"] - e["norm_start"] < 0.5 * (e["norm_end"] - e["norm_start"])
            and e["norm_largest"] < 5 * e["norm_start"]
        ),
    )
    growth = [e["norm_end"] / e["norm_start"] for e in events]
    before = [
        (e["norm_onset"] - e["norm_start"]) / (e["norm_end"] - e["norm_start"]) if e["norm_onset"] else None
        for e in events
    ]
    found = f"{percent(mean(before))} of the growth of the weight norms comes before the onset of generalization"
    return decide(
        holds,
        f"{found}, and there is no explosion.",
        f"{found}, and in the end they are {mean(growth):.1f} times what they were at the start.",
        {
            "norm at the end / at the start": spread(growth),
            "share of the growth before 10 % test accuracy": spread(before, percent),
            "step of 10 % test accuracy": spread([e["onset_at"] for e in events]),
            "step of fastest growth": spread([e["norm_fastest_at"] for e in events]),
        },
    )


@claim(
    "1 (Fig. 0d)",
    f"up to {AFTERMATH:g} × the grokking step: largest gradient ≥ 1.5 × the first, within a factor {NEAR:g} of the "
    "step of the largest test loss; less than half of it afterwards",
    "fig0",
)
def gradients(n: Numbers) -> Verdict:
    """The dynamics accelerates until the test loss is largest, then slows down."""
    events = _events(n)
    holds = _all(
        events,
        lambda e: (
            e["gradient_peak"] > 1.5 * e["gradient_start"]
            and e["gradient_settled"] < 0.5 * e["gradient_peak"]
            and 1 / NEAR <= e["gradient_peak_at"] / e["loss_peak_at"] <= NEAR
        ),
    )
    later = [e["gradient_later"] / e["gradient_peak"] if e["gradient_later"] else None for e in events]
    return decide(
        holds,
        "Gradients grow until about the maximum of the test loss, and fall again as the network generalizes.",
        "Around grokking the gradients are not largest about the maximum of the test loss.",
        {
            "step of the largest gradient / of the largest test loss": spread(
                [e["gradient_peak_at"] / e["loss_peak_at"] if e["loss_peak_at"] else None for e in events]
            ),
            "largest / initial gradient": spread([e["gradient_peak"] / e["gradient_start"] for e in events]),
            "smallest after it / largest gradient": spread(
                [e["gradient_settled"] / e["gradient_peak"] for e in events]
            ),
            f"largest after {AFTERMATH:g} × the grokking step / largest gradient": spread(later),
        },
        "Long after grokking the gradients grow and fluctuate once more while the losses go on falling: the rate is at "
        "its limit there."
        if holds and any(ratio is not None and ratio > 1 for ratio in later)
        else "",
    )


@claim(
    "4.1",
    "train accuracy ≥ 99 %, test accuracy < 50 %, last test loss > 80 % of its maximum, in every seed",
    "memorizing",
)
def memorizing_phase(n: Numbers) -> Verdict:
    """With too little data the network stays a memorizer: the test loss never leaves its maximum."""
    ratio = [end / peak for end, peak in zip(n["loss_end"], n["loss_peak"], strict=True)]
    holds = min(n["train_accuracy"]) >= 0.99 and max(n["test_accuracy"]) < 0.5 and min(ratio) > 0.8
    return decide(
        holds,
        f"With α = {n['fraction']} the network knows its training pairs, and the test loss stays at its maximum.",
        f"With α = {n['fraction']} the network does not stay in the memorizing phase.",
        {
            "train accuracy": spread(n["train_accuracy"], percent),
            "test accuracy": spread(n["test_accuracy"], percent),
            "last / largest test loss": spread(ratio),
            "p": str(n["modulus"]),
        },
    )
