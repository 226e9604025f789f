"""Random and guided choices of the training pairs, by the critical fraction of each."""

from dataclasses import asdict
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.trends import difference
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.moduli import ADAM_RATE
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.gromov2023.times import LINES
from modgrok.reproduce.gromov2023.transitions import read, transition
from modgrok.reproduce.gromov2023.tuning import trial_run
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.tasks import SAMPLINGS
from modgrok.text import count, number

EVALUATIONS = 100


def experiments(profile: Profile) -> Tree:
    """The same fractions and seeds for every sampling."""
    search = profile.search
    more: dict[str, Any] = {"steps": search.sampling_steps, "evaluations": EVALUATIONS}
    settings = {"optimizer": "adam", "lr": ADAM_RATE}
    return {
        sampling: [
            [
                trial_run(profile, settings, fraction, seed, sampling=sampling, **more)
                for seed in range(search.sampling_seeds)
            ]
            for fraction in search.sampling_fractions
        ]
        for sampling in SAMPLINGS
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """α_c of every sampling, and its difference from that of random pairs."""
    search, times = profile.search, results(runs, "grokked_at")
    fractions, steps = search.sampling_fractions, search.sampling_steps
    found = {name: transition(fractions, cells, steps) for name, cells in times.items()}
    gaps = {name: difference(one, found["random"]) for name, one in found.items() if name != "random"}
    return {
        "modulus": profile.sweep_modulus,
        "width": profile.sweep_width,
        "rate": ADAM_RATE,
        "steps": steps,
        "seeds": search.sampling_seeds,
        "fractions": fractions,
        "times": times,
        "shares": {
            name: [float(np.mean([t is not None for t in cell])) for cell in cells] for name, cells in times.items()
        },
        "critical": {name: vars(one) for name, one in found.items()},
        "gains": {name: None if gap is None else asdict(gap) for name, gap in gaps.items()},
    }


def draw(n: Numbers) -> Any:
    figure, ((panel,),) = style.grid(1, 1, style.COLUMN, 3.1)
    for i, (name, shares) in enumerate(n["shares"].items()):
        one = read(n["critical"][name])
        look: Any = {"color": SERIES[i], "marker": MARKERS[i], "lw": 0, "fillstyle": "none"}
        panel.plot(n["fractions"], shares, label=f"{name}: {one}", **look)
        if one.critical is not None:
            x = np.linspace(n["fractions"][0], n["fractions"][-1], 400)
            panel.plot(x, one.probability(x), color=SERIES[i], ls=LINES[i % len(LINES)])
    panel.set_xlabel("fraction of the pairs trained on, α")
    panel.set_ylabel(f"share of runs that grok within {count(n['steps'])} steps")
    panel.set_title("Which pairs are trained on")
    panel.legend(loc="upper left", title=r"$\alpha_c$ and its 95 % interval")
    panel.set_ylim(-0.04, 1.04)
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, Adam without weight decay, rate {number(n['rate'])}; "
        f"{n['seeds']} seeds at each α",
    )
    return figure


STUDY = Study(
    "samplings",
    "A guided choice of the training pairs",
    "The share of runs that grok near the critical fraction under Adam: training pairs drawn at random; equally many "
    "in every row and column (balanced); equally many of every answer (answers); whole lines of a random slope, which "
    "have every row, column and answer once (lines); pairs that close as few rectangles as possible, whose fourth "
    "corner would follow from the other three (expander).",
    numbers,
    experiments,
    draw,
    beyond=True,
)
