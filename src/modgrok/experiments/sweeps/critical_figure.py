"""Critical fractions as a picture: success against the fraction, and α_c against p."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.critical import Critical
from modgrok.experiments.sweeps.figures import PALETTE, new_figure, style
from modgrok.experiments.sweeps.trends import power_law


def draw_critical(found: Sequence[Critical]) -> Any:
    """Points with the fitted curves; where there are several moduli, α_c with its intervals beside them."""
    moduli = sorted({one.experiment.modulus or 0 for one in found})
    samplings = list(dict.fromkeys(one.experiment.sampling for one in found))
    with style():
        if len(moduli) < 2:
            figure, left = new_figure(5.2, 3.4)
            _transitions(left, found, by_sampling=True)
            return figure
        figure, (left, right) = new_figure(9.2, 3.6, ncols=2)
        one_sampling = [one for one in found if one.experiment.sampling == samplings[0]]
        _transitions(left, one_sampling, by_sampling=False)
        _against_modulus(right, found, samplings)
        return figure


def _transitions(axes: Any, found: Sequence[Critical], by_sampling: bool) -> None:
    x = np.linspace(0, 1, 1001)
    for i, one in enumerate(sorted(found, key=lambda one: one.experiment.modulus or 0)):
        e, colour = one.experiment, PALETTE[i % len(PALETTE)]
        label = f"{e.sampling}: {one}" if by_sampling else None
        fractions = np.array(list(one.counts))
        shares = np.array([successes / trials for successes, trials in one.counts.values()])
        sizes = np.array([trials for _, trials in one.counts.values()])
        axes.scatter(fractions, shares, s=4 + 2.5 * sizes, color=colour, alpha=0.7, lw=0, label=label)
        t = one.transition
        if t.critical is not None:
            axes.plot(x, t.probability(x), color=colour, lw=1.2)
            axes.axvspan(t.low, t.high, color=colour, alpha=0.15, lw=0)
            if not by_sampling:
                height = 1.04 + 0.06 * (i % 2)  # neighbours at two heights, since large moduli lie close
                axes.text(t.critical, height, f"{e.modulus}", color=colour, ha="center", fontsize=8, fontweight="bold")
    tried = [fraction for one in found for fraction in one.counts]
    axes.set(xlim=(max(0, min(tried) - 0.03), min(1, max(tried) + 0.03)), ylim=(-0.04, 1.17))
    budgets = sorted({one.budget for one in found})
    within = f"{budgets[0]:,}" if len(budgets) == 1 else f"{budgets[0]:,} to {budgets[-1]:,}"
    axes.set(xlabel="training fraction α", ylabel=f"share of runs that grok within {within} steps")
    axes.set_title(_title(found, by_sampling), loc="left", fontsize=10)
    if by_sampling:
        axes.legend(fontsize=7.5, loc="upper left", bbox_to_anchor=(0, 0.95), handletextpad=0.2)


def _against_modulus(axes: Any, found: Sequence[Critical], samplings: list[str]) -> None:
    for i, sampling in enumerate(samplings):
        known = [one for one in found if one.experiment.sampling == sampling and one.transition.critical is not None]
        if not known:
            continue
        p = np.array([one.experiment.modulus for one in known], float)
        middle, low, high = (
            np.array([getattr(one.transition, name) for one in known], float) for name in ("critical", "low", "high")
        )
        bars = np.stack([middle - low, high - middle]).clip(0)
        colour = PALETTE[i]
        axes.errorbar(p, middle, bars, fmt="o", ms=4, capsize=2.5, color=colour, label=sampling)
        if (law := power_law(known)) is not None:
            x = np.linspace(p.min(), p.max(), 200)
            label = f"{law.factor:.2g} p^(−{law.exponent:.2f} ± {law.error:.2f})"
            axes.plot(x, law.factor * x**-law.exponent, color=colour, lw=1, ls="--", label=label)
    axes.set(xlabel="modulus p", ylabel=r"critical fraction $\alpha_c$", ylim=(0, None))
    axes.legend(fontsize=8)


def _title(found: Sequence[Critical], with_modulus: bool) -> str:
    e = found[0].experiment
    modulus = f" mod {e.modulus}" if with_modulus else ""
    return f"{e.task}{modulus or ' modulo the number on top'}, N = {e.width}, {e.optimizer}"
