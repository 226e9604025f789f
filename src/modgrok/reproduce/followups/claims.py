"""What the follow-ups say, and the thresholds by which it is judged."""

import numpy as np

from modgrok.reproduce.claim import Verdict, claim, decide, undecided
from modgrok.reproduce.followups.corruption import PHASES
from modgrok.reproduce.nested import Numbers
from modgrok.text import number, percent, spread

NEAR = 0.9
"""Of the largest margin."""
KNOWN, KILLED, FORGOTTEN = 0.9, 0.5, 0.25


@claim(
    "2311.07568",
    "in every seed the margin at the end is 0.9 to 1 times the largest (to a thousandth), and larger than after the "
    "first quarter",
    "figM",
)
def largest_margin(n: Numbers) -> Verdict:
    """Gradient descent on cross-entropy with a small penalty finds the largest margin there is, from below."""
    ends = [found["margins"][-1] for found in n["seeds"]]
    rises = all(found["margins"][-1] > found["margins"][len(found["margins"]) // 4] for found in n["seeds"])
    return decide(
        all(NEAR <= end <= 1.001 for end in ends) and rises,
        f"It comes to {number(min(ends))} of the largest.",
        f"It ends at {number(min(ends))} of the largest.",
        {
            "margin at the end over the largest": spread(ends),
            "the largest": number(n["largest"]),
            f"closed form with {n['closed_form_width']} neurons": number(n["closed_form"]),
        },
    )


@claim(
    "2311.07568",
    "in every seed waves explain at least 95 % of nine tenths of the neurons (each counted by its cubed norm), the "
    "phases of the middle neuron miss by less than 0.1, and no frequency has less than half of its share of the cubed "
    "norms",
    "figM",
)
def margin_is_fourier(n: Numbers) -> Verdict:
    """The network of the largest margin is the paper's: one frequency a neuron, φ₁ + φ₂ = φ₃, every frequency alike."""
    seeds = n["seeds"]
    return decide(
        all(s["pure"] >= 0.9 and s["mismatch"] < 0.1 and s["least"] >= 0.5 for s in seeds),
        f"At least {percent(min(s['pure'] for s in seeds))} of it are single waves whose phases fit.",
        "Not in every seed.",
        {
            "neurons that are one wave, by cubed norm": spread([s["pure"] for s in seeds], percent),
            "mismatch of phases, middle neuron": spread([s["mismatch"] for s in seeds]),
            "weakest frequency over the mean": spread([s["least"] for s in seeds]),
        },
    )


@claim(
    "2310.13061",
    "every phase occurs for some fraction and share of wrong labels at some weight decay; a remark where one occurs "
    "once",
    "figC",
)
def five_phases(n: Numbers) -> Verdict:
    """With wrong labels there are five phases: coexistence, partial and full inversion, memorization, forgetting."""
    counts = {name: sum(by_name[name] for by_name in n["counts"].values()) for name in PHASES}
    absent, once = ([name for name, found in counts.items() if found == times] for times in (0, 1))
    return decide(
        not absent,
        "All five occur.",
        f"There is no {' and no '.join(absent)}.",
        {f"networks, {name}": str(found) for name, found in counts.items()},
        bool(once) and f"Only one network shows {' and '.join(once)}.",
    )


@claim(
    "2310.13061",
    "without decay some network knows the test set, and none of those is inverted; at the largest decay at which any "
    "knows it, most are",
    "figC",
)
def decay_inverts(n: Numbers) -> Verdict:
    """Weight decay makes the network forget wrong labels and keep the rule."""
    shares = []
    for by_name in n["counts"].values():
        inverted = by_name["partial inversion"] + by_name["full inversion"]
        shares.append((inverted, inverted + by_name["coexistence"]))
    without, most = shares[0], next((share for share in reversed(shares) if share[1]), (0, 0))
    found = (
        f"Of the networks that know the test set, {without[0]} of {without[1]} are inverted without decay, and "
        f"{most[0]} of {most[1]} at the largest that leaves any."
    )
    return decide(
        without[0] == 0 < without[1] and 2 * most[0] > most[1],
        found,
        found,
        {
            f"inverted of those that know the test set, decay {decay}": f"{inverted} of {of}"
            for decay, (inverted, of) in zip(n["counts"], shares, strict=True)
        },
    )


@claim(
    "2310.13061",
    "in most seeds that know half of their wrong labels: with the neurons of least IPR taken away first, there is a "
    "share at which at most a quarter of the wrong labels is known, and the test accuracy is at least 90 % and above "
    "the training accuracy; with those of the largest first, the test accuracy falls below 50 % while the training "
    "accuracy is higher",
    "figP",
)
def pruning(n: Numbers) -> Verdict:
    """Neurons of one frequency know the rule, the others the wrong labels: taking these away inverts the network."""
    seeds = [found for found in n["seeds"] if found["low"][0][2] >= KILLED]
    whole = "; ".join(", ".join(map(percent, found["low"][0])) for found in n["seeds"])
    if not seeds:
        return undecided("No network has learnt half of its wrong labels.", {"accuracies of whole networks": whole})
    inverts = [
        any(wrong <= FORGOTTEN and test >= KNOWN and test > train for train, test, wrong in found["low"])
        for found in seeds
    ]
    kills = [any(test < KILLED < train for train, test, _ in found["high"]) for found in seeds]
    return decide(
        2 * sum(a and b for a, b in zip(inverts, kills, strict=True)) > len(seeds),
        "Without the neurons of small IPR wrong labels are forgotten and the rule stays.",
        "Not in most seeds.",
        {
            "seeds that are inverted": f"{sum(inverts)} of {len(seeds)}",
            "seeds that lose the test set first": f"{sum(kills)} of {len(seeds)}",
            "least share of wrong labels known while 90 % of the test set is": spread(
                [min((wrong for _, test, wrong in found["low"] if test >= KNOWN), default=None) for found in seeds],
                percent,
            ),
            "whole networks: training set, test set, wrong labels": whole,
        },
    )


@claim(
    "2407.20199",
    "from the first iteration on the training loss is below 10⁻⁶; the test accuracy is below 10 % for at least five "
    "iterations and above 90 % in the end; remark where it only passes one half",
    "figF",
)
def machine_groks(n: Numbers) -> Verdict:
    """A recursive feature machine, which has no network and no gradient descent, groks n + m."""
    accuracy = n["test_accuracy"]
    late = sum(value < 0.1 for value in accuracy)
    found = f"The test accuracy is below 10 % for {late} iterations, and ends at {percent(accuracy[-1])}."
    return decide(
        max(n["train_loss"]) < 1e-6 and late >= 5 and accuracy[-1] > 0.5,
        found,
        found,
        {
            "training loss, largest": number(max(n["train_loss"])),
            "iterations below 10 %": str(late),
            "test accuracy at the end": percent(accuracy[-1]),
        },
        accuracy[-1] <= KNOWN and "It has not come to 90 %.",
    )


@claim(
    "2407.20199",
    "the deviation of the features' block between n and m from circulant falls to half of its first value at an "
    "iteration at which the test accuracy is still below 10 %",
    "figF",
)
def features_first(n: Numbers) -> Verdict:
    """Its features become circulant, which is the Fourier basis, before the test accuracy shows anything."""
    known = [(i, value) for i, value in enumerate(n["deviation"]) if value is not None]
    half = next((i for i, value in known if value <= known[0][1] / 2), None)
    rises = next((i for i, value in enumerate(n["test_accuracy"]) if value >= 0.1), None)
    formed, seen = (number(None if i is None else i + 1) for i in (half, rises))
    return decide(
        half is not None and (rises is None or half < rises) and bool(np.isfinite(known[-1][1])),
        f"They are half circulant at iteration {formed}; the test accuracy passes 10 % at {seen}.",
        "Not before.",
        {
            "iteration of half the deviation": formed,
            "iteration of 10 % test accuracy": seen,
            "deviation, first and last": f"{number(known[0][1])}, {number(known[-1][1])}",
        },
    )
