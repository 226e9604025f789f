"""Claims about what trained weights look like (sections 3.1, 4.1 and 4.3; Figs. 1, 2 and 4)."""

import math
from collections.abc import Sequence
from typing import Any

from modgrok.reproduce.claim import Verdict, claim, decide, undecided
from modgrok.reproduce.gromov2023.fig2 import CLEAR
from modgrok.reproduce.gromov2023.fig4 import EARLY
from modgrok.reproduce.nested import Numbers, mean
from modgrok.text import number, percent, spread

EXTRA = ("n − m", "2n", "2m")
UNIFORM = 1e-4
"""Probability below which phases do not pass as uniform: the 60 tests at full scale (six combinations, two optimizers,
five seeds) raise a false alarm with a chance of at most 0.6 %."""


def _seeds(n: Numbers, kind: str, name: str) -> list[Any]:
    return [seed[name] for seed in n["kinds"][kind]["seeds"]]


def _groups_periodic(n: Numbers) -> bool:
    return min(min(_seeds(n, kind, "explained_median")) for kind in ("GD", "AdamW")) >= 0.5


@claim(
    "1 (Fig. 1)",
    "trained: ≥ 90 % of the power in n + m, and less than half of the closed form's share in n − m, 2n, 2m; "
    "closed form: ≥ 50 % in n + m",
    "fig1",
)
def fourier_peaks(n: Numbers) -> Verdict:
    """The Fourier image of a trained output shows one series of peaks; the closed form's shows extra weak ones."""
    trained, closed = n["shares"]["gradient descent"], n["shares"]["closed form"]
    main = [share["n + m"] for share in trained]
    extra = {name: [sum(share[f] for f in EXTRA) for share in n["shares"][name]] for name in n["shares"]}
    holds = min(main) >= 0.9 and max(extra["gradient descent"]) < 0.5 * min(extra["closed form"])
    holds &= min(share["n + m"] for share in closed) >= 0.5
    return decide(
        holds,
        "The trained output has one series of peaks, n + m; the closed form has the same and three weaker ones.",
        "The Fourier image of the trained output is not one series of peaks cleaner than the closed form's.",
        {
            "trained: power in n + m": spread(main, percent),
            "trained: power in n − m, 2n, 2m": spread(extra["gradient descent"], percent),
            "closed form: power in n + m": spread([share["n + m"] for share in closed], percent),
            "closed form: power in n − m, 2n, 2m": spread(extra["closed form"], percent),
            "exact form: power in n − m, 2n, 2m": spread(extra["exact form"], percent),
            "initialization: power in n + m": spread(
                [share["n + m"] for share in n["shares"]["initialization"]], percent
            ),
        },
    )


@claim(
    "4.1",
    "for every optimizer, in every seed: ≥ 60 % of the power of all weights in one wave per neuron; < 20 % for random "
    "weights; a remark where cross-entropy, which has a row of its own, stays below 60 %",
    "fig2",
    "features",
    "cross_entropy",
)
def periodic(n: Numbers, more: Numbers, entropy: Numbers) -> Verdict:
    """Trained weights are periodic with frequencies 2πk/p, whatever the optimizer: GD, momentum, weight decay, dropout,
    Adam, AdamW."""
    shares = {kind: _seeds(n, kind, "in_waves") for kind in n["kinds"]}
    shares |= {kind: [seed["in_waves"] for seed in found] for kind, found in more["ways"].items()}
    trained = {kind: min(values) for kind, values in shares.items() if kind != "random"}
    less = [kind for kind, least in trained.items() if least < 0.6]
    late = [kind for kind, found in more["ways"].items() if min(seed["test_accuracy"] for seed in found) < 0.99]
    other = [waves["in_waves"] for waves in entropy["waves"]]
    return decide(
        not less and max(shares["random"]) < 0.2,
        f"One wave for each neuron accounts for most of the weights, in n, in m and in q, after {len(trained)} "
        "optimizers.",
        f"One wave for each neuron does not account for most of the weights after {', '.join(less)}."
        if less
        else "Random weights look periodic too.",
        {f"share of the power in one wave per neuron, {kind}": spread(v, percent) for kind, v in shares.items()}
        | {
            "the same, AdamW on cross-entropy": spread(other, percent),
            "p of momentum, weight decay, dropout, Adam": str(more["modulus"]),
        },
        bool(late) and f"Not every seed has grokked with {', '.join(late)}.",
        min(other) < 0.6 and f"With cross-entropy instead of the mean squared error it is {percent(mean(other))}.",
    )


@claim(
    "3.1, 4.1",
    f"≥ 90 % of all frequencies have at least two neurons with ≥ {CLEAR:.0%} of their power in that wave, GD and "
    "AdamW, in every seed, and the phases of the copies differ: n|⟨exp iφ⟩|² of φ1 and of φ2 ≤ 2 on average over "
    "frequencies (1 for independent phases, the number n of copies for equal ones); random weights have such copies of "
    "< 10 % of them",
    "fig2",
)
def copies(n: Numbers) -> Verdict:
    """Beyond (p−1)/2 neurons the frequencies come in several copies with different phases."""
    most = n["modulus"] // 2
    several = {kind: _seeds(n, kind, "several") for kind in n["kinds"]}
    number_of = {kind: _seeds(n, kind, "copies") for kind in ("GD", "AdamW")}
    alike = {
        f"{kind}, {phase}": [found[phase] for found in _seeds(n, kind, "agreement")]
        for kind in ("GD", "AdamW")
        for phase in ("φ1", "φ2")
    }
    everywhere = all(min(several[kind]) >= 0.9 * most for kind in ("GD", "AdamW"))
    differ = all(value is not None and value <= 2 for values in alike.values() for value in values)
    chance = max(several["random"]) >= 0.1 * most
    return decide(
        everywhere and differ and not chance,
        f"With N = {n['width']} there are several neurons for each of the {most} frequencies, with different phases.",
        "Random weights have such copies too."
        if chance
        else "The copies of a frequency have the same phases."
        if everywhere
        else "Not every frequency occurs in several copies.",
        {f"frequencies with copies, {kind}": f"{spread(v)} of {most}" for kind, v in several.items()}
        | {f"clear neurons per frequency, {kind}": spread(v) for kind, v in number_of.items()}
        | {f"n|⟨exp iφ⟩|², {name}": spread(values) for name, values in alike.items()},
    )


@claim(
    "3.1, 4.1 (Fig. 2)",
    "circular deviation ≤ 0.8 and |mean| ≤ 0.1 for GD and AdamW in every seed; deviation > 1.2 at initialization",
    "fig2",
)
def phases(n: Numbers) -> Verdict:
    """The phases found by training obey φ1 + φ2 = φ3 approximately."""
    deviation = {kind: _seeds(n, kind, "deviation") for kind in n["kinds"]}
    means = {kind: [abs(m) for m in _seeds(n, kind, "mean")] for kind in ("GD", "AdamW")}
    holds = all(max(deviation[kind]) <= 0.8 and max(means[kind]) <= 0.1 for kind in ("GD", "AdamW"))
    holds &= min(value if value is not None else 9.0 for value in deviation["random"]) > 1.2
    return decide(
        holds,
        "φ1 + φ2 − φ3 is concentrated around zero after GD and after AdamW, and spread over the circle at "
        "initialization.",
        "φ1 + φ2 − φ3 is not concentrated around zero after both optimizers.",
        {f"deviation in radians, {kind}": spread(v) for kind, v in deviation.items()}
        | {f"mean in radians, {kind}": spread(v) for kind, v in means.items()},
    )


@claim("3.1 (Fig. 2)", "mean circular deviation smaller for AdamW", "fig2")
def phases_adamw(n: Numbers) -> Verdict:
    """AdamW's phases are closer to the closed form's than GD's."""
    gd, adamw = _seeds(n, "GD", "deviation"), _seeds(n, "AdamW", "deviation")
    clear = max(adamw) < min(gd)
    return decide(
        mean(adamw) < mean(gd),
        "The phases are closer to the closed form's after AdamW.",
        "The phases are not closer to the closed form's after AdamW.",
        {"deviation, GD": spread(gd), "deviation, AdamW": spread(adamw)},
        "" if clear else "The ranges of the seeds overlap; the order depends on how long each trains.",
    )


@claim(
    "4.1",
    f"φ1, φ2, φ1 − φ2, φ1 + φ2, 2φ1 and 2φ2 over all neurons, GD and AdamW: Kuiper's test of uniformity gives P ≥ "
    f"{UNIFORM} in every seed; ≥ 50 % of the median neuron's power in one wave",
    "fig2",
)
def phases_random(n: Numbers) -> Verdict:
    """Apart from the constraint the phases are approximately random."""
    least = {kind: [min(seed.values()) for seed in _seeds(n, kind, "uniform")] for kind in ("GD", "AdamW")}
    largest = {kind: [max(seed.values()) for seed in _seeds(n, kind, "moments")] for kind in ("GD", "AdamW")}
    agreement = {
        f"{kind}, {name}": mean([seed[name] for seed in _seeds(n, kind, "agreement")])
        for kind in ("GD", "AdamW")
        for name in n["kinds"][kind]["seeds"][0]["agreement"]
    }
    unlike = {name: value for name, value in agreement.items() if not 0.7 <= value <= 1.4}
    uniform = min(min(values) for values in least.values()) >= UNIFORM
    return decide(
        uniform and _groups_periodic(n),
        "Taken over all neurons, the phases and their combinations point in all directions.",
        "The phases of the trained neurons prefer directions." if not uniform else "There are no waves.",
        {f"smallest P of Kuiper's test, {kind}": spread(values) for kind, values in least.items()}
        | {f"largest |⟨exp iφ⟩|, {kind}": spread(values) for kind, values in largest.items()}
        | {"|⟨exp iφ⟩| expected for random phases": number(0.89 / n["width"] ** 0.5)}
        | {f"n|⟨exp iφ⟩|² within a frequency, {name}": number(value) for name, value in agreement.items()},
        bool(unlike)
        and "Within a frequency they are not independent: n|⟨exp iφ⟩|², 1 for independent phases, is "
        + ", ".join(f"{number(value, 2)} ({name})" for name, value in unlike.items())
        + ".",
    )


@claim(
    "2, 4.1",
    "test accuracy ≥ 99 %, ≥ 50 % of the median neuron's power in one wave, phase deviation ≤ 0.8, in every seed",
    "cross_entropy",
    "fig2",
)
def cross_entropy(n: Numbers, mse: Numbers) -> Verdict:
    """The loss function does not matter for the features: cross-entropy gives the same."""
    explained = [waves["explained_median"] for waves in n["waves"]]
    deviation = [waves["deviation"] for waves in n["waves"]]
    holds = min(n["test_accuracy"]) >= 0.99 and min(explained) >= 0.5 and max(deviation) <= 0.8
    return decide(
        holds,
        "Cross-entropy leads to the same features: single waves whose phases obey the constraint.",
        "Cross-entropy does not lead to waves with the same constraint.",
        {
            "test accuracy": spread(n["test_accuracy"], percent),
            "share of the median neuron's power in one wave": spread(explained, percent),
            "deviation of φ1 + φ2 − φ3": spread(deviation),
            "the same with the mean squared error": spread(_seeds(mse, "AdamW", "deviation")),
            "IPR": f"{spread(n['ipr_start'])} → {spread(n['ipr_end'])}",
        },
    )


@claim(
    "4.3 (Fig. 4)",
    f"over the first {EARLY:.0%} of the steps to the onset (10 % test accuracy) a straight line through the ratio "
    "rises, in every seed, and the ratio is nowhere later below its start",
    "fig4",
)
def ipr_start(n: Numbers) -> Verdict:
    """The inverse participation ratio grows from the very beginning of training."""
    runs = n["runs"]
    rising = [run["early_slope"] is not None and run["early_slope"] > 0 for run in runs]
    above = [run["lowest"] >= 0 for run in runs]
    change = [run["early_change"] for run in runs]
    return decide(
        all(rising) and all(above),
        "The ratio grows from the first steps on.",
        f"At first the ratio stays at its random value and may fall: it rises over the first "
        f"{number(mean([run['early_steps'] for run in runs]))} steps in {sum(rising)} of {len(runs)} seeds, and "
        f"changes by {percent(max(map(abs, change)), 2)} at most.",
        {
            "change over these steps": spread(change, lambda value: percent(value, 2)),
            "lowest value, from the start": spread([run["lowest"] for run in runs], lambda value: percent(value, 2)),
            "step of the lowest value": spread([run["lowest_at"] for run in runs]),
            "step of 10 % test accuracy": spread([run["onset_at"] for run in runs]),
        },
    )


@claim(
    "4.3 (Fig. 4)",
    "of four fitted pieces the second is ≥ 3 × as steep as the first, and the bend between them is within 25 % of the "
    "onset (10 % test accuracy), in every seed",
    "fig4",
)
def ipr_onset(n: Numbers) -> Verdict:
    """With the onset of grokking the inverse participation ratio grows sharply faster."""
    runs = n["runs"]
    faster = [_ratio(run["slopes"][1], run["slopes"][0]) for run in runs]
    place = [None if run["onset_at"] is None else run["bends"][1] / run["onset_at"] for run in runs]
    near = all(ratio is not None and abs(ratio - 1) <= 0.25 for ratio in place)
    sharp = min(faster) >= 3
    return decide(
        sharp and near,
        "The ratio's growth becomes many times faster at the onset of grokking.",
        "The ratio's growth does not become sharply faster."
        if not sharp
        else "The ratio's growth becomes sharply faster, but not at the onset of grokking.",
        {
            "second / first slope": "the first piece does not rise everywhere"
            if any(map(math.isinf, faster))
            else spread(faster),
            "first bend": spread([run["bends"][1] for run in runs]) + _within(n["bend_intervals"][0]),
            "step of 10 % test accuracy": spread([run["onset_at"] for run in runs]),
            "first bend / onset": spread(place),
        },
        near and mean(place) < 1 and "It leads: the first bend comes before the test accuracy rises.",
    )


@claim(
    "4.3 (Fig. 4)",
    "of four fitted pieces, in every seed: (i) and (ii) rise, (iii) is the steepest and starts at ≥ 99.9 % test "
    "accuracy, the grokking step lies in (ii), and (iv) has less than a quarter of the slope of (iii)",
    "fig4",
)
def ipr_regimes(n: Numbers) -> Verdict:
    """The ratio has four regimes: slow linear growth; a transition, which coincides with grokking; fast linear growth,
    which starts after 100 % test accuracy; saturation."""
    runs = n["runs"]
    steepest = [int(max(range(4), key=lambda i, run=run: run["slopes"][i])) for run in runs]  # type: ignore[misc]
    grokked = [_piece(run["bends"], run["grokked_at"]) for run in runs]
    complete = [_piece(run["bends"], run["complete_at"]) for run in runs]
    fits = [
        run["slopes"][0] > 0
        and run["slopes"][1] > 0
        and piece == 2
        and place == 1
        and run["complete_at"] is not None
        and run["complete_at"] <= run["bends"][2]
        and run["slopes"][3] < 0.25 * run["slopes"][2]
        for run, piece, place in zip(runs, steepest, grokked, strict=True)
    ]
    names = ("(i)", "(ii)", "(iii)", "(iv)")
    fastest, where, full = (_most(found) for found in (steepest, grokked, complete))
    saturates = all(run["slopes"][3] < 0.25 * max(run["slopes"]) for run in runs)
    return decide(
        all(fits),
        "The four pieces are the paper's regimes.",
        f"Here the steepest piece is {names[fastest]}"
        + (f"; the network groks in {names[where]}" if where is not None else "; the network does not grok")
        + (f" and answers everything from {names[full]} on" if full is not None else "")
        + ": "
        + (
            "fast growth and grokking are one regime, which slower growth and saturation follow."
            if where == fastest
            else "not the paper's order."
        ),
        {
            f"piece {name}, slope per 1000 steps": spread([1000 * run["slopes"][i] for run in runs])
            for i, name in enumerate(names)
        }
        | {
            f"bend {i}": spread([run["bends"][i] for run in runs]) + _within(n["bend_intervals"][i - 1])
            for i in (1, 2, 3)
        }
        | {
            "grokking step": spread([run["grokked_at"] for run in runs]),
            "step of 99.9 % test accuracy": spread([run["complete_at"] for run in runs]),
        },
        not saturates and "Saturation is not reached within these steps.",
    )


def _ratio(a: int | float, b: int | float) -> float:
    return a / b if b > 0 else math.inf if a > 0 else 0.0


def _within(interval: list[int | float] | None) -> str:
    return "" if interval is None else f"; 95 % interval {number(interval[0])} to {number(interval[1])}"


def _piece(bends: list[int | float], step: int | float | None) -> int | None:
    """In which piece of a broken line a step lies."""
    return None if step is None else max(0, min(3, sum(bend <= step for bend in bends) - 1))


def _most(values: Sequence[int | None]) -> Any:
    return max(set(values), key=values.count)


@claim("4.3 (Fig. 4)", "final IPR above 5 times its start and below 99 % of the closed form's, in every seed", "fig4")
def ipr_gap(n: Numbers) -> Verdict:
    """The final ratio stays below the closed form's: some noise remains in the weights."""
    closed = n["closed_form_ipr"]
    ends = [run["end"] for run in n["runs"]]
    holds = all(5 * run["start"] < run["end"] < 0.99 * closed for run in n["runs"])
    return decide(
        holds,
        "At the end the weights are many times more localized than at the start, and short of the closed form.",
        "The final ratio is not between noise and the closed form.",
        {
            "IPR at the start": spread([run["start"] for run in n["runs"]]),
            "IPR at the end": spread(ends),
            "closed form": number(closed),
        },
    )


@claim("4.3 (Fig. 4)", "mean final IPR larger at the larger α", "more_data")
def ipr_data(n: Numbers) -> Verdict:
    """More data narrows the gap to the closed form."""
    less, more = n["ipr"]
    if math.isnan(mean(less)):
        return undecided("The networks have no ratio.")
    return decide(
        mean(more) > mean(less),
        f"From α = {n['fractions'][0]} to {n['fractions'][1]} the final ratio "
        f"{'rises' if mean(more) > mean(less) else 'does not rise'}.",
        "",
        {f"IPR at α = {a}": spread(cell) for a, cell in zip(n["fractions"], n["ipr"], strict=True)},
    )
