"""Critical fractions: the share of successes against the fraction, and α_c against p."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.critical import Critical
from modgrok.experiments.sweeps.trends import like_first, power_law
from modgrok.palette import SERIES
from modgrok.plot import style
from modgrok.plot.curves import differences
from modgrok.plot.style import Axes, Figure
from modgrok.text import count, number


def critical(found: Critical | Sequence[Critical]) -> "Figure":
    """Draws the share of runs that grok, with fitted curves. For several moduli, these are the curves of the first task
    and sampling, beside α_c with its intervals."""
    found = found if isinstance(found, Sequence) else [found]
    moduli = {one.experiment.modulus for one in found}
    with style.context():
        if len(moduli) == 1:
            figure, panels = style.grid(1, 1, style.COLUMN, 3.0)
            transitions(found, ax=panels[0, 0])
            return figure
        figure, panels = style.grid(1, 2, height=2.9)
        transitions(like_first(found), ax=panels[0, 0])
        against_modulus(found, ax=panels[0, 1])
        return figure


def transitions(found: Sequence[Critical], *, ax: "Axes | None" = None) -> "Axes":
    """Share of runs that grok at each fraction, with the fit and the 95 % interval of α_c: by modulus for several, by
    the settings in which they differ for one."""
    several = len({one.experiment.modulus for one in found}) > 1
    found = sorted(found, key=lambda one: one.experiment.modulus or 0)
    names = (
        differences([one.experiment.as_dict() | {"task": one.task_name} for one in found]) if len(found) > 1 else [""]
    )
    with style.axes(ax) as panel:
        for i, one in enumerate(found):
            color = SERIES[i % len(SERIES)]
            _points(panel, one, color, None if several else f"{names[i] or one.experiment.sampling}: {one}")
            if several and one.transition.critical is not None:
                height = 1.04 + 0.06 * (i % 2)  # neighbors at two heights, since large moduli lie close
                look: Any = {"color": color, "ha": "center", "fontsize": 7, "fontweight": "bold"}
                panel.text(one.transition.critical, height, str(one.experiment.modulus), **look)
        tried = [fraction for one in found for fraction in one.counts]
        panel.set_xlim(max(0, min(tried) - 0.03), min(1, max(tried) + 0.03))
        panel.set_ylim(-0.04, 1.17)
        panel.set_xlabel("training fraction α")
        budgets = sorted({one.budget for one in found})
        within = " to ".join(count(budget) for budget in dict.fromkeys((budgets[0], budgets[-1])))
        panel.set_ylabel(f"share of runs that grok within {within} steps")
        e = found[0].experiment
        modulus = " modulo the number on top" if several else f" mod {e.modulus}" if e.modulus else ""
        tasks = ", ".join(dict.fromkeys(one.task_name for one in found))
        optimizers = dict.fromkeys(optimizer_name(one.experiment) for one in found)
        panel.set_title(f"{tasks}{modulus}, N = {e.width}, {', '.join(optimizers)}")
        if not several:
            panel.legend(loc="upper left", bbox_to_anchor=(0, 0.95), handletextpad=0.2)
    return panel


def optimizer_name(experiment: Experiment) -> str:
    """The optimizer as papers call it: AdamW without weight decay is Adam."""
    adam = experiment.optimizer == "adamw" and not experiment.weight_decay
    return "adam" if adam else experiment.optimizer


def _points(ax: "Axes", one: Critical, color: str, label: str | None) -> None:
    shares = [successes / trials for successes, trials in one.counts.values()]
    sizes = [4 + 2.5 * trials for _, trials in one.counts.values()]
    ax.scatter(list(one.counts), shares, s=sizes, color=color, alpha=0.7, lw=0, label=label)
    t = one.transition
    if t.critical is not None and t.low is not None and t.high is not None:
        x = np.linspace(0, 1, 1001)
        ax.plot(x, t.probability(x), color=color)
        ax.axvspan(t.low, t.high, color=color, alpha=0.15, lw=0)


def against_modulus(found: Sequence[Critical], *, ax: "Axes | None" = None) -> "Axes":
    """Draws α_c with its interval for each modulus, task and sampling, and a power law through three or more moduli."""
    with style.axes(ax) as panel:
        several = len({one.experiment.task for one in found}) > 1
        kinds = dict.fromkeys((one.experiment.task, one.experiment.sampling) for one in found)
        for i, (task, sampling) in enumerate(kinds):
            mine = [one for one in found if (one.experiment.task, one.experiment.sampling) == (task, sampling)]
            known = [one for one in mine if one.transition.critical is not None]
            if not known:
                continue
            color = SERIES[i % len(SERIES)]
            p = np.array([one.experiment.modulus for one in known], float)
            middle, low, high = (
                np.array([getattr(one.transition, name) for one in known], float)
                for name in ("critical", "low", "high")
            )
            bars = np.stack([middle - low, high - middle]).clip(0)
            label = f"{mine[0].task_name}, {sampling}" if several else sampling
            panel.errorbar(p, middle, bars, fmt="o", ms=4, capsize=2.5, color=color, label=label)
            if (law := power_law(known)) is not None:
                x = np.linspace(p.min(), p.max(), 200)
                label = f"{number(law.factor, 2)} p^(−{law.exponent:.2f} ± {law.error:.2f})"
                panel.plot(x, law.factor * x**-law.exponent, color=color, lw=1, ls="--", label=label)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("modulus p")
        panel.set_ylabel(r"critical fraction $\alpha_c$")
        panel.legend()
    return panel
