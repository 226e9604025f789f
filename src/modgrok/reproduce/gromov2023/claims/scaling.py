"""Claims about critical fractions: budgets, optimizers, moduli, widths and samplings (sections 2, 4.2, 5.2)."""

from itertools import pairwise
from typing import Any

from modgrok.reproduce.claim import BEYOND, Verdict, claim, decide, undecided
from modgrok.reproduce.gromov2023.transitions import known, less, say
from modgrok.reproduce.nested import Numbers
from modgrok.text import count, number, percent, spread

SLOWER = 2.0
"""How many times longer than with most data grokking takes just above the critical fraction, at least."""
BONFERRONI = 2.5 / 1.96
"""By how much the interval of one difference widens where the best of four is picked: from 95 % to 98.75 %."""
NEAR = 0.2
"""α at which the paper leaves open whether gradient descent groks."""


def _budgets(n: Numbers, found: list[dict[str, Any]], name: str) -> dict[str, str]:
    return {
        f"α_c within {count(budget)} steps, {name}": say(one) for budget, one in zip(n["budgets"], found, strict=True)
    }


def _all_budgets(n: Numbers) -> dict[str, str]:
    rows: dict[str, str] = {}
    for name, found in n["critical"].items():
        rows |= _budgets(n, found, name)
    return rows | {"p": str(n["modulus"])}


def _goes_down(found: list[dict[str, Any]]) -> bool:
    """Whether no α_c is above the one before it, and the last is below the first, beyond the 95 % intervals."""
    return not any(less(a, b) for a, b in pairwise(found)) and less(found[-1], found[0])


@claim(
    "1, 2, 4.2 (Fig. 3a)",
    "for GD, Adam and AdamW α_c lies inside the fractions tried at the largest budget, and the median time at the "
    f"smallest α that groks is at least {SLOWER:g} times that at the largest; a remark where α_c falls from the "
    "smallest budget to the largest beyond the 95 % interval",
    "critical",
)
def critical_fraction(n: Numbers) -> Verdict:
    """Grokking needs a minimal share of data, and takes longest just above it."""
    outside = [name for name, found in n["critical"].items() if not known(found[-1])]
    slowing: dict[str, float] = {}
    for name, found in n["summary"].items():
        times = [time for time in found["median"] if time is not None]
        if times:
            slowing[name] = times[0] / times[-1]
    brisk = [name for name in n["critical"] if slowing.get(name, 0) < SLOWER]
    falling = [name for name, found in n["critical"].items() if less(found[-1], found[0])]
    no = " ".join(
        [
            f"No critical fraction between the smallest and the largest α for {', '.join(outside)}." if outside else "",
            f"Just above it grokking does not take {SLOWER:g} times as long for {', '.join(brisk)}." if brisk else "",
        ]
    ).strip()
    return decide(
        not outside and not brisk,
        "Below some fraction no optimizer groks within its steps, and just above it grokking takes longest.",
        no,
        {f"time just above α_c / with most data, {name}": number(ratio) for name, ratio in slowing.items()}
        | _all_budgets(n),
        bool(falling)
        and f"It is a function of the budget: from {count(n['budgets'][0])} to {count(n['budgets'][-1])} steps it "
        f"falls for {', '.join(falling)}.",
    )


@claim(
    "4.2",
    "α_c of AdamW is below that of GD at every budget and rate, beyond the 95 % interval; a remark where not at every "
    "one of them but at the largest budget with some rate",
    "critical",
)
def adamw_fraction(n: Numbers) -> Verdict:
    """AdamW is more data-efficient than gradient descent."""
    base = n["critical"]["GD"]
    found = {name: one for name, one in n["critical"].items() if name.startswith("AdamW")}
    lower = {name: [less(a, b) for a, b in zip(one, base, strict=True)] for name, one in found.items()}
    return decide(
        any(one[-1] for one in lower.values()),
        "AdamW groks with less data than plain GD within the same number of steps.",
        "AdamW does not clearly grok with less data than plain GD.",
        _budgets(n, base, "GD")
        | {key: text for name, one in found.items() for key, text in _budgets(n, one, name).items()},
        not all(all(one) for one in lower.values()) and "Not at every rate and budget.",
    )


@claim(
    BEYOND,
    "α_c of Adam without weight decay is above that of GD at the largest budget at every rate tried, beyond the 95 % "
    "interval; a remark where it is so at one rate only",
    "critical",
)
def adam_needs_more(n: Numbers) -> Verdict:
    """Without weight decay Adam needs more data than plain gradient descent."""
    base = n["critical"]["GD"]
    found = {name: one for name, one in n["critical"].items() if name.startswith("Adam,")}
    more = [name for name, one in found.items() if less(base[-1], one[-1])]
    return decide(
        bool(more),
        f"More data than plain GD is needed by {', '.join(more)}.",
        "Adam without weight decay does not clearly need more data than plain GD.",
        _budgets(n, base, "GD")
        | {key: text for name, one in found.items() for key, text in _budgets(n, one, name).items()},
        len(more) < len(found) and f"Not by {', '.join(name for name in found if name not in more)}.",
    )


@claim(
    "4.2",
    f"some run of plain GD at α = {NEAR} groks within the longest training; a remark where not all do",
    "critical",
)
def very_long(n: Numbers) -> Verdict:
    """For α near 0.2 gradient descent groks too, after an extremely long time."""
    found = n["longest"]
    cells = dict(zip(found["fractions"], zip(found["times"], found["accuracy"], strict=True), strict=True))
    if NEAR not in cells:
        return undecided(f"Nothing is trained for very long at α = {NEAR}; the paper's 0.2 is for p = 97.")
    times, accuracy = cells[NEAR]
    grokked = sum(time is not None for time in times)
    rising = sum(one["end"] > one["half"] + 0.01 for one in accuracy)
    measured = {f"grokking step at α = {a}": spread(cell) for a, (cell, _) in cells.items()}
    for name, words in (("tenth", "after a tenth of the steps"), ("half", "after half"), ("end", "at the end")):
        measured[f"test accuracy at α = {NEAR} {words}"] = spread([one[name] for one in accuracy], percent)
    return decide(
        grokked > 0,
        f"{grokked} of {len(times)} runs at α = {NEAR} grok.",
        f"No run at α = {NEAR} groks within {count(found['steps'])} steps; the test accuracy of {rising} of "
        f"{len(times)} still rises in the second half.",
        measured | {"steps": count(found["steps"])},
        grokked < len(times) and f"{rising} of {len(times)} runs still get better in the second half.",
    )


@claim(
    "5.2",
    "α_c never rises from one p to the next larger beyond the 95 % interval, and is smaller at the largest p than at "
    "the smallest beyond it, for every optimizer at the largest budget; a remark where it is not so at every budget",
    "moduli",
)
def modulus(n: Numbers) -> Verdict:
    """The critical fraction falls as the modulus grows."""
    holds = [
        all(_goes_down([one[i] for one in found]) for found in n["critical"].values())
        for i in range(len(n["budgets"]))
        if all(known(one[i]) for found in n["critical"].values() for one in found) or i == len(n["budgets"]) - 1
    ]
    return decide(
        holds[-1],
        "The larger the modulus, the smaller the share of the table that is needed.",
        "The critical fraction does not fall with the modulus.",
        {
            f"α_c, {name}, p = {p}": say(one[-1])
            for name, found in n["critical"].items()
            for p, one in zip(n["moduli"][name], found, strict=True)
        },
        not all(holds) and "Not within the smaller budgets.",
    )


@claim(
    BEYOND,
    "of the laws c·ln p / p and c·p^(−k), fitted to the same α_c of Adam at five or more moduli, the first has the "
    "smaller corrected Akaike criterion at the largest budget; a remark where it has not at every budget",
    "moduli",
)
def law(n: Numbers) -> Verdict:
    """The critical fraction falls with the modulus as ln p / p."""
    found = n["laws"]["Adam"]
    if found[-1] is None:
        return undecided(f"A law needs five moduli, and there are {len(n['moduli']['Adam'])} with a known α_c.")
    better = [one is not None and one["aicc"]["logarithmic"] < one["aicc"]["power"] for one in found]
    measured = {}
    for name, laws in n["laws"].items():
        for budget, one in zip(n["budgets"], laws, strict=True):
            if one is not None:
                rms, factors = one["rms"], one["factors"]
                measured[f"{name}, {count(budget)} steps"] = (
                    f"{number(factors['logarithmic'])} ln p / p: rms {percent(rms['logarithmic'])}; "
                    f"{number(factors['power'])} p^(−{one['exponent']:.2f}): rms {percent(rms['power'])}; "
                    f"difference of AICc {one['aicc']['logarithmic'] - one['aicc']['power']:+.1f}"
                )
    return decide(
        better[-1],
        "c·ln p / p describes the critical fractions better than a power law, with one parameter less.",
        "A power law describes the critical fractions better than c·ln p / p.",
        measured,
        not all(better) and "Not within the smaller budgets.",
    )


@claim(
    BEYOND,
    "α_c of Adam never falls from one width to the next larger beyond the 95 % interval, and is larger at the largest "
    "width than at the smallest beyond it, at the largest budget; a remark where it is not so at every budget at which "
    "all α_c are known",
    "moduli",
)
def width_and_data(n: Numbers) -> Verdict:
    """The wider the network, the more data it needs where nothing regularizes it."""
    found = n["critical_of_widths"]
    holds = [
        _goes_down([one[i] for one in reversed(found)])
        for i in range(len(n["budgets"]))
        if all(known(one[i]) for one in found) or i == len(n["budgets"]) - 1
    ]
    return decide(
        holds[-1],
        "The critical fraction rises with the width.",
        "The critical fraction does not rise with the width.",
        {f"α_c at N = {N}": say(one[-1]) for N, one in zip(n["widths"], n["critical_of_widths"], strict=True)}
        | {"p": str(n["modulus"]), "steps": count(n["budgets"][-1])},
        not all(holds) and "Not within the smaller budgets.",
    )


@claim(
    "4.2, 5.2",
    "of the guided choices tried at least one has a smaller α_c than random pairs, beyond the 98.75 % interval of the "
    "difference (95 % for the four together); a remark where not all have",
    "samplings",
)
def sampling(n: Numbers) -> Verdict:
    """A guided choice of training pairs lowers the critical fraction."""

    def ends(gain: dict[str, float] | None) -> tuple[float, float] | None:
        if gain is None:
            return None
        half = BONFERRONI * (gain["high"] - gain["low"]) / 2
        return gain["middle"] - half, gain["middle"] + half

    intervals = {name: ends(gain) for name, gain in n["gains"].items()}
    better = [name for name, found in intervals.items() if found is not None and found[1] < 0]
    worse = [name for name, found in intervals.items() if found is not None and found[0] > 0]
    rest = [name for name in intervals if name not in better]
    tried = ", ".join(intervals)
    measured = {f"α_c, {name}": say(found) for name, found in n["critical"].items()}
    for name, gain in n["gains"].items():
        if gain is not None and (interval := intervals[name]) is not None:
            measured[f"change by {name}"] = f"{gain['middle']:+.3f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"
    return decide(
        bool(better),
        f"Fewer pairs are enough where they are chosen by {', '.join(better)}.",
        f"None of the choices tried ({tried}) needs clearly fewer pairs than a random one"
        + (f"; more are needed by {', '.join(worse)}." if worse else "."),
        measured | {"p, steps, seeds at each α": f"{n['modulus']}, {count(n['steps'])}, {n['seeds']}"},
        bool(rest) and f"Not by {', '.join(rest)}.",
    )
