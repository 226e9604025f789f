"""Claims about what trained weights look like (sections 3.1, 4.1 and 4.3; Figs. 1, 2 and 4)."""

import math
from typing import Any

from modgrok.reproduce.claim import Verdict, claim, decide, not_run
from modgrok.reproduce.study import Numbers, mean
from modgrok.text import number, percent, spread

EXTRA = ("n − m", "2n", "2m")
NEAR = 3.0
"""Two times are near each other within this factor."""


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


@claim("4.1", "≥ 60 % of the median neuron's power in one wave for GD and AdamW, < 20 % for random weights", "fig2")
def periodic(n: Numbers) -> Verdict:
    """Trained weights are periodic with frequencies 2πk/p, whatever the optimizer."""
    explained = {kind: _seeds(n, kind, "explained_median") for kind in n["kinds"]}
    holds = min(explained["GD"]) >= 0.6 and min(explained["AdamW"]) >= 0.6 and max(explained["random"]) < 0.2
    return decide(
        holds,
        "One wave of one frequency accounts for most of a trained neuron's weights, in n, in m and in q.",
        "A single frequency does not account for most of a trained neuron's weights.",
        {
            f"share of the median neuron's power in one wave, {kind}": spread(v, percent)
            for kind, v in explained.items()
        },
    )


@claim(
    "3.1, 4.1",
    "at least half of all frequencies in use, on average ≥ 2 neurons each, ≥ 50 % of the median neuron's "
    "power in one wave",
    "fig2",
)
def copies(n: Numbers) -> Verdict:
    """Beyond (p−1)/2 neurons the frequencies come in several copies with different phases."""
    most = n["modulus"] // 2
    used = {kind: _seeds(n, kind, "frequencies") for kind in ("GD", "AdamW")}
    copies = {kind: _seeds(n, kind, "copies") for kind in used}
    holds = all(min(used[kind]) >= 0.5 * most and min(copies[kind]) >= 2 for kind in used)
    holds &= _groups_periodic(n)
    return decide(
        holds,
        f"With N = {n['width']} there are several neurons for each of the {most} frequencies.",
        "The frequencies do not occur in several copies each.",
        {f"frequencies in use, {kind}": f"{spread(v)} of {most}" for kind, v in used.items()}
        | {f"neurons per frequency, {kind}": spread(v) for kind, v in copies.items()},
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


@claim("4.1", "|mean of exp(iφ1)| below 0.2 (or three times 1/√N) in every seed", "fig2")
def phases_random(n: Numbers) -> Verdict:
    """Apart from the constraint the phases are approximately random."""
    resultant = {kind: _seeds(n, kind, "first_phase_resultant") for kind in ("GD", "AdamW")}
    largest = max(max(values) for values in resultant.values())
    noise = 3 / n["width"] ** 0.5
    holds = largest < max(0.2, noise) and _groups_periodic(n)
    return decide(
        holds,
        "Taken alone, the phases of the trained neurons point in all directions.",
        "The phases of the trained neurons prefer a direction, or there are no waves.",
        {f"|mean of exp(iφ1)|, {kind}": spread(values) for kind, values in resultant.items()}
        | {"expected for random phases": number(0.89 / n["width"] ** 0.5)},
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
    f"of the four fitted slopes the second or third is ≥ 2 × the first; grokking not before 1/{NEAR:g} of "
    "the first bend "
    "nor after 1.5 × the last, in every seed",
    "fig4",
)
def ipr_onset(n: Numbers) -> Verdict:
    """The inverse participation ratio grows slowly from the start and sharply faster with the onset of grokking."""
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
        "The ratio grows from the start, and several times faster from the onset of grokking on.",
        "The ratio's growth does not accelerate at the onset of grokking.",
        {
            "fastest / first slope": spread(faster),
            "start of the transition": spread([run["bends"][1] for run in runs]),
            "grokking step": spread([run["grokked_at"] for run in runs]),
            "start of the last regime": spread([run["bends"][3] for run in runs]),
        },
        "" if all(saturates) else "The last regime, saturation, is not reached within these steps.",
    )


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
        return not_run("The networks have no ratio.")
    return decide(
        mean(more) > mean(less),
        f"From α = {n['fractions'][0]} to {n['fractions'][1]} the final ratio "
        f"{'rises' if mean(more) > mean(less) else 'does not rise'}.",
        "",
        {f"IPR at α = {a}": spread(cell) for a, cell in zip(n["fractions"], n["ipr"], strict=True)},
    )
