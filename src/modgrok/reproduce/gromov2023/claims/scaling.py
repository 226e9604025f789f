"""Claims about data, optimizers and the modulus (sections 2, 4.2, 5.2; Fig. 3a)."""

from itertools import pairwise

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.study import Numbers, mean
from modgrok.text import number, percent, spread

REGULARIZED = ("GD + weight decay", "GD + dropout", "GD + batch norm")
MATCHING = (
    "Such comparisons depend on the settings, which are one choice each: weight decay, dropout and the rate of batch "
    "norm were picked from a few trial values at p = 31, the rates of GD, momentum and Adam were not tuned."
)


def _critical(n: Numbers) -> dict[str, str]:
    return {f"smallest α with grokking, {name}": number(value) for name, value in n["critical_fraction"].items()}


def _against_gd(n: Numbers, name: str) -> dict[float, float]:
    """Median steps relative to plain GD's at every fraction where both grok."""
    rows = zip(n["fractions"], n["median_times"][name], n["median_times"]["GD"], strict=True)
    return {fraction: a / b for fraction, a, b in rows if a is not None and b is not None}


@claim(
    "1, 2, 4.2 (Fig. 3a)",
    "GD and Adam grok at some α and not at the smallest; the first time on the curve is longer than the last",
    "fig3",
)
def critical_fraction(n: Numbers) -> Verdict:
    """Grokking needs a minimal share of data, and takes longest just above it."""
    smallest = n["fractions"][0]
    found = {name: n["critical_fraction"][name] for name in ("GD", "Adam", "AdamW")}
    holds = all(value is not None and value > smallest for name, value in found.items() if name != "AdamW")
    holds &= found["AdamW"] is not None
    slower = [
        times[i] > times[-1]
        for times in (n["median_times"][name] for name in ("GD", "Adam"))
        for i in [next((i for i, t in enumerate(times) if t is not None), -1)]
        if times[i] is not None and times[-1] is not None
    ]
    return decide(
        holds and bool(slower) and all(slower),
        "Below some fraction no optimizer groks within its steps, and just above it grokking takes longest."
        if holds
        else "No critical fraction shows between the smallest and the largest α.",
        "",
        _critical(n) | {"p": str(n["modulus"])},
    )


@claim("2, 4.2 (Fig. 3a)", "median steps of Adam, AdamW and momentum below GD's at the second largest α", "fig3")
def adaptive_time(n: Numbers) -> Verdict:
    """Adaptive optimizers grok in fewer steps."""
    times = {name: n["times"][name][-2] for name in ("GD", "Adam", "AdamW", "momentum")}
    base, *others = ((name, n["median_times"][name][-2]) for name in times)
    slower = [name for name, time in others if base[1] is None or time is None or time >= base[1]]
    return decide(
        not slower,
        "Adaptive optimizers and momentum grok in fewer steps than plain GD.",
        f"Not faster than plain GD: {', '.join(slower)}.",
        {f"steps at α = {n['fractions'][-2]}, {name}": spread(cell) for name, cell in times.items()},
        MATCHING,
    )


@claim(
    "1, 2 (Fig. 3a)",
    "weight decay, dropout or batch norm takes fewer median steps than plain GD at some α where both grok",
    "fig3",
)
def regularization_time(n: Numbers) -> Verdict:
    """Regularization makes grokking happen after fewer steps."""
    ratios = {name: list(_against_gd(n, name).values()) for name in REGULARIZED}
    faster = [name for name, known in ratios.items() if known and min(known) < 1]
    always = [name for name, known in ratios.items() if known and max(known) < 1]
    return decide(
        bool(faster),
        f"Fewer steps than plain GD at some α: {', '.join(faster)}.",
        "Weight decay, dropout and batch norm do not shorten the time to grokking.",
        {f"steps relative to GD, {k}": spread(known, over="fraction") if known else "–" for k, known in ratios.items()},
        len(always) < len(REGULARIZED)
        and "Not at every α, and not each of them: near the critical fraction regularization helps most.",
        MATCHING,
    )


@claim("4.1 (Fig. 3a)", "fewer median steps than GD at more than half of the α where both grok", "fig3")
def momentum(n: Numbers) -> Verdict:
    """Momentum plays a major role in shortening the time to grokking."""
    ratios = _against_gd(n, "momentum")
    slower = [number(fraction) for fraction, ratio in ratios.items() if ratio >= 1]
    holds = 2 * len(slower) < len(ratios)
    critical = n["critical_fraction"]
    same = critical["momentum"] is not None and critical["GD"] is not None and critical["momentum"] >= critical["GD"]
    return decide(
        holds,
        f"Momentum shortens the time to grokking at {len(ratios) - len(slower)} of the {len(ratios)} values of α.",
        "Momentum does not shorten the time.",
        {f"steps relative to GD at α = {fraction}": number(ratio) for fraction, ratio in ratios.items()}
        | _critical({"critical_fraction": {k: critical[k] for k in ("GD", "momentum")}}),
        f"Not at α = {', '.join(slower)}." if slower else "",
        same and "It does not lower the critical fraction on this grid.",
        MATCHING,
    )


@claim("2, 4.2 (Fig. 3a)", "a smaller critical α than plain GD's with at least two kinds of regularization", "fig3")
def lower_fraction(n: Numbers) -> Verdict:
    """Regularization and adaptive optimizers let grokking happen with less data."""
    critical = n["critical_fraction"]
    base = critical["GD"]
    others = {name: value for name, value in critical.items() if name != "GD"}
    lower = [name for name, value in others.items() if value is not None and (base is None or value < base)]
    rest = [name for name in others if name not in lower]
    regularized = {"GD + weight decay", "AdamW", "GD + dropout", "momentum + weight decay"}
    return decide(
        len(regularized & set(lower)) >= 2,
        f"Less data is enough with {', '.join(lower)}."
        if lower
        else "No optimizer groks with less data than plain GD.",
        "",
        _critical(n),
        f"Not with {', '.join(rest)}." if rest else "",
        MATCHING,
    )


@claim(
    "5.2",
    "never rises from one p to the next larger, and is smaller at the largest p than at the smallest that groks",
    "moduli",
)
def modulus(n: Numbers) -> Verdict:
    """The critical fraction falls as the modulus grows."""
    found = n["critical_fraction"]
    known = [value for value in found if value is not None]
    falls = all(b <= a for a, b in pairwise(known))
    holds = len(known) >= 2 and falls and known[-1] < known[0] and found[-1] is not None
    return decide(
        holds,
        "The larger the modulus, the smaller the share of the table that is needed.",
        "The critical fraction does not fall with the modulus.",
        {
            f"critical α, p = {p}": ("above the grid" if value is None else number(value)) + f"; seeds {spread(seeds)}"
            for p, value, seeds in zip(n["moduli"], found, n["of_seeds"], strict=True)
        },
    )


@claim(
    "4.2, 5.2",
    "more runs grok with balanced than with random pairs near the critical fraction (accuracy decides a tie)",
    "sampling",
)
def sampling(n: Numbers) -> Verdict:
    """A guided choice of training pairs lowers the critical fraction."""
    accuracy = {name: [value for cell in cells for value in cell] for name, cells in n["test_accuracy"].items()}
    grokked = {name: sum(t is not None for cell in cells for t in cell) for name, cells in n["times"].items()}
    better = grokked["balanced"] > grokked["random"] or (
        grokked["balanced"] == grokked["random"] and mean(accuracy["balanced"]) > mean(accuracy["random"])
    )
    total = len(accuracy["random"])
    clear = grokked["balanced"] - grokked["random"] >= max(2, 0.1 * total)
    return decide(
        better,
        "Near the critical fraction a balanced choice of training pairs does better than a random one.",
        "A balanced choice of training pairs does no better than a random one.",
        {f"grokked, {name}": f"{count} of {total}" for name, count in grokked.items()}
        | {f"mean test accuracy, {name}": percent(mean(values)) for name, values in accuracy.items()},
        "" if clear else "The difference is small.",
    )
