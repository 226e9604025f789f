"""The critical fraction against modulus, width, optimizer and budget, and laws for its fall with p."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Experiment
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile, natural_unit
from modgrok.reproduce.gromov2023.transitions import bars, known, transitions_of_budgets
from modgrok.reproduce.gromov2023.tuning import ADAMW_DECAY
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.text import count, number

GUESS = {"GD": 5.0, "Adam": 5.9, "AdamW": 4.2}
"""Around which multiple of ln p / p the critical fraction is looked for."""
ADAM_RATE = 0.1
MOST = 0.95
"""The largest fraction tried."""
EVALUATIONS = 100
LAWS = ("power", "logarithmic")
"""c·p^(−k), and c·ln p / p."""


def settings(profile: Profile, optimizer: str, modulus: int, width: int) -> dict[str, Any]:
    """Of one optimizer, at rates that suit every p."""
    if optimizer == "GD":
        rate = profile.search.descent * natural_unit(modulus, width)
        return {"optimizer": "gd", "lr": float(f"{rate:.4g}")}
    decay = {"weight_decay": ADAMW_DECAY} if optimizer == "AdamW" else {}
    return {"optimizer": optimizer.lower(), "lr": ADAM_RATE} | decay


def fractions(profile: Profile, optimizer: str, modulus: int) -> list[float]:
    """α around the first guess at this p."""
    guess = GUESS[optimizer] * np.log(modulus) / modulus
    tried = [round(float(guess * factor), 4) for factor in profile.search.law_factors]
    return [fraction for fraction in tried if fraction <= MOST]


def cells(profile: Profile, optimizer: str, modulus: int, width: int) -> list[list[Experiment]]:
    """Runs by fraction and seed."""
    search = profile.search
    common: dict[str, Any] = settings(profile, optimizer, modulus, width) | {
        "steps": search.law_steps,
        "evaluations": EVALUATIONS,
        "snapshots": 0,
        "until": 0,
    }
    return [
        [
            Experiment("n + m", modulus, width=width, fraction=fraction, seed=seed, **common)
            for seed in range(search.law_seeds)
        ]
        for fraction in fractions(profile, optimizer, modulus)
    ]


def experiments(profile: Profile) -> Tree:
    p, width = profile.sweep_modulus, profile.sweep_width
    return {
        "moduli": {
            optimizer: [cells(profile, optimizer, modulus, width) for modulus in moduli]
            for optimizer, moduli in profile.search.moduli
        },
        "widths": [cells(profile, "Adam", p, N) for N in all_widths(profile)],
    }


def all_widths(profile: Profile) -> list[int]:
    """The width of figure 3 among the others."""
    return sorted({*profile.search.widths, profile.sweep_width})


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """α_c by optimizer, modulus and budget, the laws through them, and α_c by width."""
    search = profile.search
    budgets = search.budgets(search.law_steps)
    times = results(runs, "grokked_at")

    def critical(optimizer: str, modulus: int, found: Any) -> list[dict[str, Any]]:
        return transitions_of_budgets(fractions(profile, optimizer, modulus), found, budgets)

    by_modulus = {
        optimizer: [critical(optimizer, p, found) for p, found in zip(moduli, times["moduli"][optimizer], strict=True)]
        for optimizer, moduli in search.moduli
    }
    return {
        "width": profile.sweep_width,
        "modulus": profile.sweep_modulus,
        "seeds": search.law_seeds,
        "budgets": budgets,
        "moduli": dict(search.moduli),
        "critical": by_modulus,
        "laws": {
            optimizer: [fit_laws(moduli, [found[i] for found in by_modulus[optimizer]]) for i in range(len(budgets))]
            for optimizer, moduli in search.moduli
        },
        "widths": all_widths(profile),
        "critical_of_widths": [critical("Adam", profile.sweep_modulus, found) for found in times["widths"]],
        "times": times,
    }


def fit_laws(moduli: Sequence[int], found: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    r"""Both laws through the same α_c, by least squares of ln α: the rms of what is left, and Akaike's criterion
    corrected for few points, $n \ln(\text{rms}^2) + 2k + 2k(k+1)/(n-k-1)$, k parameters and the scatter counted; None
    for fewer than five moduli."""
    points = [(p, one["critical"]) for p, one in zip(moduli, found, strict=True) if known(one)]
    if len(points) < 5:
        return None
    p, alpha = np.array(points, float).T
    exponent, intercept = np.polyfit(np.log(p), np.log(alpha), 1)
    shape = np.log(np.log(p) / p)
    offset = float(np.mean(np.log(alpha) - shape))
    left = {
        "power": np.log(alpha) - intercept - exponent * np.log(p),
        "logarithmic": np.log(alpha) - offset - shape,
    }
    parameters = {"power": 3, "logarithmic": 2}
    rms = {law: float(np.sqrt(np.mean(rest**2))) for law, rest in left.items()}
    n = len(points)
    return {
        "points": n,
        "factors": {"power": float(np.exp(intercept)), "logarithmic": float(np.exp(offset))},
        "exponent": -float(exponent),
        "rms": rms,
        "aicc": {
            law: n * math.log(max(rms[law], 1e-9) ** 2) + 2 * k + 2 * k * (k + 1) / (n - k - 1)
            for law, k in parameters.items()
        },
    }


def law_curves(law: dict[str, Any], p: np.ndarray) -> dict[str, np.ndarray]:
    """α of both laws at these moduli."""
    return {
        f"{number(law['factors']['logarithmic'])} ln p / p": law["factors"]["logarithmic"] * np.log(p) / p,
        f"{number(law['factors']['power'])} p^(−{law['exponent']:.2f})": law["factors"]["power"]
        * p ** -law["exponent"],
    }


def draw(n: Numbers) -> Any:
    figure, (panels,) = style.grid(1, 3, height=3.2)
    left, middle, right = panels
    for i, (optimizer, found) in enumerate(n["critical"].items()):
        _bars(left, n["moduli"][optimizer], [one[-1] for one in found], i, optimizer)
    for i, budget in enumerate(n["budgets"]):
        label = f"T = {count(budget)}"
        _bars(middle, n["moduli"]["Adam"], [one[i] for one in n["critical"]["Adam"]], i, label)
        _bars(right, n["widths"], [one[i] for one in n["critical_of_widths"]], i, label)
    if (law := n["laws"]["Adam"][-1]) is not None:
        p = np.linspace(min(n["moduli"]["Adam"]), max(n["moduli"]["Adam"]), 200)
        for (label, alpha), line in zip(law_curves(law, p).items(), ("-", ":"), strict=True):
            middle.plot(p, alpha, color="black", lw=0.9, ls=line, label=label)
    right.set_xscale("log", base=2)
    right.set_xticks(n["widths"], [number(width) for width in n["widths"]])
    for panel, label in zip(panels, ("modulus p", "modulus p", "width N"), strict=True):
        panel.set_xlabel(label)
        panel.set_ylabel(r"critical fraction $\alpha_c(T)$")
        panel.margins(x=0.08, y=0.12)
        panel.legend(fontsize=6)
    style.letter(panels, (f"T = {count(n['budgets'][-1])}", "Adam, and two laws", f"Adam, p = {n['modulus']}"))
    style.note(
        figure,
        f"n + m mod p; (a), (b) N = {n['width']}; 95 % intervals from {n['seeds']} seeds at each α; laws fitted to the "
        "largest budget",
    )
    return figure


def _bars(panel: Any, x: Sequence[int], found: Sequence[dict[str, Any]], series: int, label: str) -> None:
    middle, below, above = bars(found)
    look: Any = {"color": SERIES[series], "marker": MARKERS[series], "capsize": 2, "lw": 0, "elinewidth": 1}
    panel.errorbar(x, middle, [below, above], label=label, **look)


STUDY = Study(
    "moduli",
    "Critical fraction, modulus and width",
    "The smallest share of the table from which n + m is learnt within a budget of steps: against p by optimizer, "
    "against p for three budgets with two laws through it, and against the width.",
    numbers,
    experiments,
    draw,
    beyond=True,
)
