"""Claims about the inverse participation ratio (section 4.3; Fig. 4)."""

import math

from modgrok.reproduce.claims.claim import Claim, Verdict, decide, not_run
from modgrok.reproduce.study import Numbers
from modgrok.reproduce.values import mean, short, spread

NEAR = 3.0
"""Two times are near each other within this factor."""


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
