"""Sections 4.2 and 5.2: random and guided choices of the training pairs, by the critical fraction of each."""

from typing import Any

import numpy as np

from modgrok.experiments.sweeps.trends import difference
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import LINES, modular, seeds
from modgrok.reproduce.form import Ask, Table, runs, study
from modgrok.reproduce.gromov2023.moduli import ADAM_RATE
from modgrok.reproduce.gromov2023.search import until_grokked
from modgrok.reproduce.transitions import transitions, within
from modgrok.tasks import SAMPLINGS
from modgrok.text import count, number

EVALUATIONS = 100
ZOOM = 0.012
"""How far beyond the intervals of α_c the figure reaches."""
BONFERRONI = 2.5 / 1.96
"""By how much the interval of one difference widens where the best of four is picked: from 95 % to 98.75 %."""

samplings = study(
    "samplings",
    "A guided choice of the training pairs",
    "The share of runs that grok near the critical fraction under Adam: training pairs drawn at random; equally many "
    "in every row and column (balanced); equally many of every answer (answers); whole lines of a random slope, which "
    "have every row, column and answer once (lines); pairs that close as few rectangles as possible, whose fourth "
    "corner would follow from the other three (expander).",
    runs=lambda s: runs(
        until_grokked(s, s.sampling_steps, EVALUATIONS) | {"optimizer": "adam", "lr": ADAM_RATE},
        sampling=[*SAMPLINGS],
        fraction=[*s.sampling_fractions],
        seed=range(s.sampling_seeds),
    ).fresh_seeds(),
    keep="grokked_at",
    also=lambda s, t: {"critical": within(t, [s.sampling_steps], "sampling")},
    beyond=True,
)


@samplings.figure(width=style.COLUMN, height=3.1)
def chosen_pairs(t: Table, panel: Any) -> str:
    x = np.linspace(min(t["fraction"]), max(t["fraction"]), 400)
    for i, row in enumerate(transitions(t)):
        some = t.where(sampling=row.sampling)
        shares = some.of("grokked_at", lambda times: len(times.known()) / len(times), "fraction")
        look: Any = {"color": SERIES[i], "marker": MARKERS[i], "lw": 0, "fillstyle": "none"}
        panel.plot([*shares], shares.y, label=f"{row.sampling}: {row.alpha}", **look)
        if row.alpha.critical is not None:
            panel.plot(x, row.alpha.probability(x), color=SERIES[i], ls=LINES[i % len(LINES)])
    panel.set_xlabel("fraction of the pairs trained on, α")
    panel.set_ylabel(f"share of runs that grok within {count(t.one('steps'))} steps")
    panel.set_title("Which pairs are trained on")
    panel.legend(loc="upper left", title=r"$\alpha_c$ and its 95 % interval")
    panel.set_ylim(-0.04, 1.04)
    known = [row.alpha for row in transitions(t) if row.alpha.critical is not None]
    if known:
        panel.set_xlim(min(alpha.low for alpha in known) - 2 * ZOOM, max(alpha.high for alpha in known) + ZOOM)
    sizes = f"{modular(t)}, N = {t.one('width')}, Adam without weight decay, rate {number(t.one('lr'))}"
    return f"{sizes}; {seeds(t)} at each α"


@samplings.claim("4.2, 5.2")
def sampling(t: Table, ask: Ask) -> None:
    """A guided choice of training pairs lowers the critical fraction."""
    random, *guided = transitions(t)
    ask.show({f"α_c, {row.sampling}": str(row.alpha) for row in (random, *guided)})
    better = worse = 0
    for row in guided:
        if (gain := difference(row.alpha, random.alpha)) is not None:
            # α_c has five decimals, and so have differences.
            middle, half = round(gain.middle, 5), BONFERRONI * (gain.high - gain.low) / 2
            better += middle + half < 0
            worse += middle - half > 0
            ends = f"[{middle - half:+.3f}, {middle + half:+.3f}]"
            ask.show({f"change by {row.sampling}": f"{middle:+.3f} {ends}"})
    ask.show({"p, steps, seeds at each α": f"{t.one('modulus')}, {count(t.one('steps'))}, {t.seeds}"})
    ask.possible(
        "some choice tried under Adam needs clearly fewer pairs than a random one or all need clearly more, for other "
        "choices and optimizers are open",
        better or worse == len(guided),
    )
    ask.that(
        "at least one guided choice has a smaller α_c than random pairs, beyond the 98.75 % interval of the difference "
        "(95 % for the four together)",
        better,
    )
    ask.remark("all of them have", better == len(guided))
