"""Claims about what trained weights look like (sections 3.1 and 4.1; Figs. 1 and 2)."""

from typing import Any

from modgrok.reproduce.claims.claim import Claim, Verdict, decide
from modgrok.reproduce.study import Numbers
from modgrok.reproduce.values import mean, percent, short, spread

EXTRA = ("n − m", "2n", "2m")


def _one_series(n: Numbers) -> Verdict:
    trained, closed = n["shares"]["gradient descent"], n["shares"]["closed form"]
    main = [share["n + m"] for share in trained]
    extra = {name: [sum(share[f] for f in EXTRA) for share in n["shares"][name]] for name in n["shares"]}
    holds = min(main) >= 0.9 and max(extra["gradient descent"]) < 0.5 * min(extra["closed form"])
    holds &= min(share["n + m"] for share in closed) >= 0.5
    return decide(
        holds,
        "The trained output has one series of peaks, n + m; the closed form has the same and three weaker ones."
        if holds
        else "The Fourier image of the trained output is not one series of peaks cleaner than the closed form's.",
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


def _seeds(n: Numbers, kind: str, name: str) -> list[Any]:
    return [seed[name] for seed in n["kinds"][kind]["seeds"]]


def _periodic(n: Numbers) -> Verdict:
    explained = {kind: _seeds(n, kind, "explained_median") for kind in n["kinds"]}
    holds = min(explained["GD"]) >= 0.6 and min(explained["AdamW"]) >= 0.6 and max(explained["random"]) < 0.2
    return decide(
        holds,
        "One wave of one frequency accounts for most of a trained neuron's weights, in n, in m and in q."
        if holds
        else "A single frequency does not account for most of a trained neuron's weights.",
        {
            f"share of the median neuron's power in one wave, {kind}": spread(v, percent)
            for kind, v in explained.items()
        },
    )


def _copies(n: Numbers) -> Verdict:
    most = n["modulus"] // 2
    used = {kind: _seeds(n, kind, "frequencies") for kind in ("GD", "AdamW")}
    copies = {kind: _seeds(n, kind, "copies") for kind in used}
    holds = all(min(used[kind]) >= 0.5 * most and min(copies[kind]) >= 2 for kind in used)
    holds &= _groups_periodic(n)
    return decide(
        holds,
        f"With N = {n['width']} there are several neurons for each of the {most} frequencies."
        if holds
        else "The frequencies do not occur in several copies each.",
        {f"frequencies in use, {kind}": f"{spread(v)} of {most}" for kind, v in used.items()}
        | {f"neurons per frequency, {kind}": spread(v) for kind, v in copies.items()},
    )


def _groups_periodic(n: Numbers) -> bool:
    return min(min(_seeds(n, kind, "explained_median")) for kind in ("GD", "AdamW")) >= 0.5


def _constraint(n: Numbers) -> Verdict:
    deviation = {kind: _seeds(n, kind, "deviation") for kind in n["kinds"]}
    means = {kind: [abs(m) for m in _seeds(n, kind, "mean")] for kind in ("GD", "AdamW")}
    holds = all(max(deviation[kind]) <= 0.8 and max(means[kind]) <= 0.1 for kind in ("GD", "AdamW"))
    holds &= min(value if value is not None else 9.0 for value in deviation["random"]) > 1.2
    return decide(
        holds,
        "φ1 + φ2 − φ3 is concentrated around zero after GD and after AdamW, and spread over the circle at "
        "initialization."
        if holds
        else "φ1 + φ2 − φ3 is not concentrated around zero after both optimizers.",
        {f"deviation in radians, {kind}": spread(v) for kind, v in deviation.items()}
        | {f"mean in radians, {kind}": spread(v) for kind, v in means.items()},
    )


def _tighter(n: Numbers) -> Verdict:
    gd, adamw = _seeds(n, "GD", "deviation"), _seeds(n, "AdamW", "deviation")
    clear = max(adamw) < min(gd)
    return decide(
        mean(adamw) < mean(gd),
        "The phases are closer to the closed form's after AdamW."
        if mean(adamw) < mean(gd)
        else "The phases are not closer to the closed form's after AdamW.",
        {"deviation, GD": spread(gd), "deviation, AdamW": spread(adamw)},
        "" if clear else "The ranges of the seeds overlap; the order depends on how long each trains.",
    )


def _random_phases(n: Numbers) -> Verdict:
    resultant = {kind: _seeds(n, kind, "first_phase_resultant") for kind in ("GD", "AdamW")}
    largest = max(max(values) for values in resultant.values())
    noise = 3 / n["width"] ** 0.5
    holds = largest < max(0.2, noise) and _groups_periodic(n)
    return decide(
        holds,
        "Taken alone, the phases of the trained neurons point in all directions."
        if holds
        else "The phases of the trained neurons prefer a direction, or there are no waves.",
        {f"|mean of exp(iφ1)|, {kind}": spread(values) for kind, values in resultant.items()}
        | {"expected for random phases": short(0.89 / n["width"] ** 0.5)},
    )


def _cross_entropy(n: Numbers, mse: Numbers) -> Verdict:
    explained = [waves["explained_median"] for waves in n["waves"]]
    deviation = [waves["deviation"] for waves in n["waves"]]
    holds = min(n["test_accuracy"]) >= 0.99 and min(explained) >= 0.5 and max(deviation) <= 0.8
    return decide(
        holds,
        "Cross-entropy leads to the same features: single waves whose phases obey the constraint."
        if holds
        else "Cross-entropy does not lead to waves with the same constraint.",
        {
            "test accuracy": spread(n["test_accuracy"], percent),
            "share of the median neuron's power in one wave": spread(explained, percent),
            "deviation of φ1 + φ2 − φ3": spread(deviation),
            "the same with the mean squared error": spread(_seeds(mse, "AdamW", "deviation")),
            "IPR": f"{spread(n['ipr_start'])} → {spread(n['ipr_end'])}",
        },
    )


CLAIMS = (
    Claim(
        "fourier_peaks",
        "1 (Fig. 1)",
        "The Fourier image of a trained output shows one series of peaks; the closed form's shows extra weak ones.",
        ("fig1",),
        "trained: ≥ 90 % of the power in n + m, and less than half of the closed form's share in n − m, 2n, 2m; "
        "closed form: ≥ 50 % in n + m",
        _one_series,
    ),
    Claim(
        "periodic",
        "4.1",
        "Trained weights are periodic with frequencies 2πk/p, whatever the optimizer.",
        ("fig2",),
        "≥ 60 % of the median neuron's power in one wave for GD and AdamW, < 20 % for random weights",
        _periodic,
    ),
    Claim(
        "copies",
        "3.1, 4.1",
        "Beyond (p−1)/2 neurons the frequencies come in several copies with different phases.",
        ("fig2",),
        "at least half of all frequencies in use, on average ≥ 2 neurons each, ≥ 50 % of the median neuron's "
        "power in one wave",
        _copies,
    ),
    Claim(
        "phases",
        "3.1, 4.1 (Fig. 2)",
        "The phases found by training obey φ1 + φ2 = φ3 approximately.",
        ("fig2",),
        "circular deviation ≤ 0.8 and |mean| ≤ 0.1 for GD and AdamW in every seed; deviation > 1.2 at initialization",
        _constraint,
    ),
    Claim(
        "phases_adamw",
        "3.1 (Fig. 2)",
        "AdamW's phases are closer to the closed form's than GD's.",
        ("fig2",),
        "mean circular deviation smaller for AdamW",
        _tighter,
    ),
    Claim(
        "phases_random",
        "4.1",
        "Apart from the constraint the phases are approximately random.",
        ("fig2",),
        "|mean of exp(iφ1)| below 0.2 (or three times 1/√N) in every seed",
        _random_phases,
    ),
    Claim(
        "cross_entropy",
        "2, 4.1",
        "The loss function does not matter for the features: cross-entropy gives the same.",
        ("cross_entropy", "fig2"),
        "test accuracy ≥ 99 %, ≥ 50 % of the median neuron's power in one wave, phase deviation ≤ 0.8, in every seed",
        _cross_entropy,
    ),
)
