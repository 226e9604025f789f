"""What the paper says, and the thresholds by which it is judged."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.reproduce.claim import Verdict, claim, decide, undecided
from modgrok.reproduce.study import Numbers, median_time
from modgrok.text import count, number, percent, spread

MODULUS = 113
"""Of the paper's main runs; times are judged there alone."""
FORMED = 2.0
"""By how much the excluded loss has to grow, and the restricted loss to shrink, to count as changed."""


def _grokked(runs: Sequence[Any]) -> list[Any]:
    return [run for run in runs if run["places"][2] is not None]


def _missing(runs: Sequence[Any], good: Sequence[Any]) -> str | bool:
    return len(good) < len(runs) and f"In {count(len(runs) - len(good), 'seed')} it does not."


@claim(
    "3 (Fig. 2)",
    "every seed knows the training set within 500 steps, and most seeds the test set at least three times as late; at "
    "p = 113 the median time to 95 % of the test set is 4 000 to 12 000 steps",
    "fig7",
)
def grokking(n: Numbers) -> Verdict:
    """A one-layer transformer groks modular addition."""
    runs = n["transformer"]
    learnt = [run["memorized_at"] for run in runs]
    reached = [_first(run["steps"], run["test_accuracy"], 0.95) for run in runs]
    known = [time for time in reached if time is not None]
    late = [r for r, m in zip(reached, learnt, strict=True) if r is not None and m is not None and r >= 3 * m]
    timely = n["modulus"] != MODULUS or (bool(known) and 4_000 <= float(np.median(known)) <= 12_000)
    return decide(
        all(time is not None and time <= 500 for time in learnt) and 2 * len(late) > len(runs) and timely,
        "Training accuracy comes first, test accuracy much later.",
        "The times are other ones." if known else "No seed groks.",
        {"steps to 99 % of the training set": spread(learnt), "steps to 95 % of the test set": spread(reached)},
        _missing(runs, late),
    )


def _first(steps: Sequence[int], curve: Sequence[float], level: float) -> int | None:
    return next((step for step, value in zip(steps, curve, strict=True) if value >= level), None)


@claim(
    "5.1 (Fig. 7)",
    "in most seeds that grok the excluded loss has at least doubled from its minimum at the last step at which the "
    "test loss is above half of its maximum",
    "fig7",
)
def excluded_rises_first(n: Numbers) -> Verdict:
    """While the circuit forms, before the test loss falls, the loss without it rises: memory is given up."""
    runs = _grokked(n["transformer"])
    if not runs:
        return decide(False, "", "No seed groks.", {})
    growth = [run["excluded_loss"][run["places"][1]] / run["excluded_loss"][run["places"][0]] for run in runs]
    good = [value for value in growth if value >= FORMED]
    return decide(
        2 * len(good) > len(runs),
        "The excluded loss rises while the test loss is still high.",
        "By then the excluded loss has grown less than twofold in as many seeds or more.",
        {
            "excluded loss there, in units of its minimum": spread(growth),
            "circuit formation from step": spread([run["forming_from"] for run in runs]),
            "clean-up from step": spread([run["cleaning_from"] for run in runs]),
            "99 % of the test set at step": spread([run["clean_at"] for run in runs]),
        },
        _missing(runs, good),
    )


@claim("5.1 (Fig. 7)", "at the same step the restricted loss is at most half of ln p in most seeds that grok", "fig7")
def restricted_falls_first(n: Numbers) -> Verdict:
    """The circuit answers well before the whole network does."""
    runs = _grokked(n["transformer"])
    if not runs:
        return decide(False, "", "No seed groks.", {})
    left = [run["restricted_loss"][run["places"][1]] / np.log(n["modulus"]) for run in runs]
    good = [value for value in left if value <= 1 / FORMED]
    return decide(
        2 * len(good) > len(runs),
        "The restricted loss has fallen while the test loss is still high.",
        "The restricted loss falls no sooner than the test loss.",
        {
            "restricted loss there, in units of ln p": spread(left),
            "test loss there, in units of ln p": spread(
                [run["test_loss"][run["places"][1]] / np.log(n["modulus"]) for run in runs]
            ),
        },
        _missing(runs, good),
    )


@claim(
    "5.1 (Fig. 7)",
    "in most seeds that grok the sum of squares at the end is at most 0.8 of what it was when clean-up began, and the "
    "Gini coefficient of W_E has grown since then",
    "fig7",
)
def clean_up(n: Numbers) -> Verdict:
    """Grokking proper is a clean-up: weight decay removes what the circuit does not need."""
    runs = _grokked(n["transformer"])
    if not runs:
        return decide(False, "", "No seed groks.", {})
    shrunk = [run["squares"][-1] / run["squares"][run["places"][1]] for run in runs]
    ginis = [(run["gini_embedding"][run["places"][1]], run["gini_embedding"][-1]) for run in runs]
    good = [s for s, (before, after) in zip(shrunk, ginis, strict=True) if s <= 0.8 and after > before]
    return decide(
        2 * len(good) > len(runs),
        "Weights shrink and become sparse in frequency when the test loss falls.",
        "Weights do not shrink, or become no sparser, when the test loss falls.",
        {
            "sum of squares at the end, in units of that before": spread(shrunk),
            "Gini of the embedding, before": spread([before for before, _ in ginis]),
            "Gini of the embedding, at the end": spread([after for _, after in ginis]),
        },
        _missing(runs, good),
    )


def _learnt(n: Numbers) -> list[Any]:
    return [one for one in n["seeds"] if one["test_accuracy"] >= 0.99]


@claim("4.1 (Fig. 3)", "3 to 6 key frequencies in most seeds that grok", "fig3")
def key_frequencies(n: Numbers) -> Verdict:
    """A handful of frequencies carries the sum."""
    seeds = _learnt(n)
    counts = [len(one["keys"]) for one in seeds]
    good = [value for value in counts if 3 <= value <= 6]
    return decide(
        2 * len(good) > len(seeds) > 0,
        "The readout has a few frequencies.",
        "The readout has more or fewer frequencies." if seeds else "No seed groks.",
        {
            "key frequencies of W_L": spread(counts),
            "of seed 0": ", ".join(map(str, n["seeds"][0]["keys"])),
            "of the embedding": spread([len(one["keys_of_embedding"]) for one in seeds]),
            "of clear neurons": spread([len(one["keys_of_neurons"]) for one in seeds]),
            "Gini of W_E": spread([one["gini"][0] for one in seeds]),
            "Gini of W_L": spread([one["gini"][1] for one in seeds]),
        },
        bool(seeds) and _missing(seeds, good),
    )


@claim(
    "4.2 to 4.4",
    "in most seeds that grok: sums of cosines explain at least 90 % of the logits, one frequency explains more than "
    "85 % of at least 75 % of the neurons, key frequencies hold at least 95 % of W_L",
    "fig3",
)
def trigonometric_circuit(n: Numbers) -> Verdict:
    """Neurons are waves of one frequency, and logits are sums of cos(w(n + m − c))."""
    seeds = _learnt(n)
    good = [s for s in seeds if s["logits_explained"] >= 0.9 and s["clear"] >= 0.75 and s["readout_share"] >= 0.95]
    found = (
        f"Cosines explain {spread([s['logits_explained'] for s in seeds], percent)} of the logits, one frequency each "
        f"{spread([s['clear'] for s in seeds], percent)} of the neurons."
    )
    return decide(
        2 * len(good) > len(seeds) > 0,
        found,
        found if seeds else "No seed groks.",
        {
            "logits explained by cosines of the key frequencies": spread(
                [s["logits_explained"] for s in seeds], percent
            ),
            "neurons explained by one frequency": spread([s["clear"] for s in seeds], percent),
            "W_L in the key frequencies": spread([s["readout_share"] for s in seeds], percent),
            "neurons along the key directions explained by n + m, least": spread(
                [float(np.min(s["directions"])) for s in seeds], percent
            ),
            "attention from = to =": spread([s["attention_to_equals"] for s in seeds], percent),
            "heads explained by one frequency, seed 0": ", ".join(
                f"{head['frequency']}: {percent(head['explained'])}" for head in n["seeds"][0]["heads"]
            ),
        },
        bool(seeds) and _missing(seeds, good),
    )


@claim("5.1", "the restricted loss is at most the full loss over all pairs, in most seeds that grok", "fig3")
def restriction_helps(n: Numbers) -> Verdict:
    """In the end the circuit alone answers better than the whole network."""
    seeds = _learnt(n)
    good = [one for one in seeds if one["restricted_loss"] <= one["loss"]]
    return decide(
        2 * len(good) > len(seeds) > 0,
        "Its loss over all pairs is at most that of the whole network.",
        "Its loss over all pairs is larger." if seeds else "No seed groks.",
        {
            "full loss": spread([one["loss"] for one in seeds]),
            "restricted loss": spread([one["restricted_loss"] for one in seeds]),
        },
        bool(seeds) and _missing(seeds, good),
    )


@claim(
    "4.4 (ablations)",
    "neurons replaced by waves of n + m, or projected on the key directions, give at most twice the full loss; without "
    "the key directions, the MLP, attention or the path around attention the loss is above 0.5",
    "fig5",
)
def parts_of_the_circuit(n: Numbers) -> Verdict:
    """The waves of n + m are all that the network needs of its neurons, and it needs them."""
    losses = n["losses"]
    full = losses["nothing"]
    kept = ("clear neurons as waves of n + m", "neurons along the key directions alone")
    needed = (
        "neurons without the key directions",
        "without the MLP",
        "without attention",
        "without the path around attention",
    )
    worse = [name for name in kept if losses[name] > 2 * full]
    idle = [name for name in needed if losses[name] <= 0.5]
    return decide(
        not worse and not idle and full < n["chance"] / 10,
        "Replacing helps or does no harm, and nothing of the circuit can go.",
        f"Other than in the paper: {', '.join([*worse, *idle])}." if worse or idle else "The network has not learnt.",
        {f"loss, {name}": number(loss) for name, loss in losses.items()}
        | {f"without frequency {k}": number(loss) for k, loss in n["without_key"].items()},
        losses["without the path around the MLP"] > 10 * full
        and "Without the path around the MLP the loss is more than ten times the full one.",
    )


@claim(
    "appendix (fractions)",
    "no seed at the smallest fraction groks; all do at the usual one; at the largest the test set is known within "
    "twice the steps of the training set, and after a smaller multiple of them than at the usual one, for every seed",
    "figA",
)
def fractions(n: Numbers) -> Verdict:
    """Too little data never groks, some data groks, much data generalizes at once."""
    cells = {float(value): cell for value, cell in n["fractions"].items()}
    few, usual, many = cells[min(cells)], cells[n["fraction"]], cells[max(cells)]
    ratios = {value: _delays(cell) for value, cell in cells.items()}
    least = [time for time in few["grokked_at"] if time is not None]
    at_once, delayed = ratios[max(cells)], ratios[n["fraction"]]
    all_grok = None not in usual["grokked_at"] and None not in many["grokked_at"]
    measured = {
        f"steps to 99 % of the test set at {percent(value, 0)}": spread(cell["grokked_at"])
        for value, cell in cells.items()
    }
    measured |= {f"in units of the training set's, {percent(v, 0)}": spread(r) for v, r in ratios.items() if r}
    faults = [
        least and f"At {percent(min(cells), 0)} {len(least)} of {len(few['grokked_at'])} seeds grok.",
        not all_grok and "At larger fractions not all seeds do.",
        all_grok
        and max(at_once) > 2
        and f"At {percent(max(cells), 0)} the test set takes up to {number(max(at_once))} times as long as the "
        "training set.",
        all_grok and max(at_once) >= min(delayed) and "With most data the delay is no shorter for every seed.",
    ]
    return decide(not any(faults), "The three regimes are there.", " ".join(f for f in faults if f), measured)


def _delays(cell: Any) -> list[float]:
    both = zip(cell["grokked_at"], cell["memorized_at"], strict=True)
    return [grokked / memorized for grokked, memorized in both if grokked and memorized]


@claim(
    "appendix (weight decay)",
    "without decay no seed groks; median times fall from decay to decay wherever both have one",
    "figA",
)
def decays(n: Numbers) -> Verdict:
    """Without weight decay nothing groks, and more of it is faster (the printed sweep reads both ways)."""
    cells = {float(value): cell["grokked_at"] for value, cell in n["decays"].items()}
    medians = {value: median_time(cell) for value, cell in cells.items()}
    known = [(value, time) for value, time in sorted(medians.items()) if value > 0 and time is not None]
    if len(known) < 2:
        return undecided("Fewer than two decays grok within the steps of this profile.", _times(cells))
    falls = all(later < earlier for (_, earlier), (_, later) in pairwise(known))
    products = [value * time for value, time in known]
    return decide(
        all(time is None for time in cells.get(0.0, [])) and falls,
        f"More decay groks sooner; without it nothing does within {count(n['steps'])} steps.",
        "Some seed groks without decay, or more decay groks later.",
        _times(cells) | {"decay · median time": ", ".join(map(number, products))},
        max(products) > 1.5 * min(products) and "The time is not inversely proportional to the decay.",
        len(known) < 3 and "Only two decays grok within the steps.",
    )


def _times(cells: dict[float, Any]) -> dict[str, str]:
    return {f"steps to 99 % of the test set, decay {value:g}": spread(cell) for value, cell in cells.items()}


@claim(
    "beyond the paper",
    "when the test accuracy of the two-layer network is last below 10 %, its restricted loss is below half of its "
    "maximum; at the end it has more key frequencies and a smaller Gini coefficient of the readout",
    "fig7",
)
def two_layer_network(n: Numbers) -> Verdict:
    """The same measures foresee grokking in the two-layer network, which uses many frequencies instead of a few."""
    two, one = n["two_layer"], n["transformer"][0]
    if two["places"][2] is None:
        return decide(False, "", "The two-layer network does not grok here.", {})
    restricted = two["restricted_loss"]
    last = max((i for i, accuracy in enumerate(two["test_accuracy"]) if accuracy < 0.1), default=0)
    there = restricted[last] / max(restricted)
    spreads = len(two["keys"]) > len(one["keys"]) and two["gini_readout"][-1] < one["gini_readout"][-1]
    return decide(
        there <= 0.5 and spreads,
        "They do, with many frequencies.",
        "The restricted loss falls with the test accuracy, not before it." if spreads else "It has as few frequencies.",
        {
            "restricted loss there, in units of its maximum": number(there),
            "training loss there, likewise": number(two["train_loss"][last] / max(two["train_loss"])),
            "key frequencies, two layers and transformer": f"{len(two['keys'])}, {len(one['keys'])}",
            "Gini of the readout": f"{number(two['gini_readout'][-1])}, {number(one['gini_readout'][-1])}",
            "IPR at the end": number(two["ipr"][-1]),
            "99 % of the test set at step": f"{count(two['clean_at'])}, {count(one['clean_at'])}",
        },
    )
