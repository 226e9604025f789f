"""The critical fraction against modulus, width, optimizer and budget, with laws for its fall with p (section 5.2), and
for random and guided choices of the training pairs (sections 4.2 and 5.2)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.experiments.sweeps.logistic import Transition
from modgrok.experiments.sweeps.trends import clearly_below, difference
from modgrok.measures.laws import fit_laws
from modgrok.plot import style
from modgrok.reproduce.figures import modular, panels, seeds, series_look
from modgrok.reproduce.form import BEYOND, Ask, Runs, Sizes, Table, joined, runs, study
from modgrok.reproduce.gromov2023.search import until_grokked
from modgrok.reproduce.gromov2023.sizes import USUAL_DECAY, budgets, natural_rate
from modgrok.reproduce.transitions import error_bars, transitions, within
from modgrok.tasks import SAMPLINGS
from modgrok.text import count, number, percent

GUESS = {"GD": 5.0, "Adam": 5.9, "AdamW": 4.2}
"""Around which multiple of ln p / p the critical fraction is looked for."""
ADAM_RATE = 0.1
MOST = 0.95
"""The largest fraction tried."""
FITS = 2
"""χ² per degree of freedom up to which a law fits."""
ZOOM = 0.012
"""How far beyond the intervals of α_c the figure reaches."""
BONFERRONI = 2.5 / 1.96
"""By how much the interval of one difference widens where the best of four is picked: from 95 % to 98.75 %."""


def around(s: Sizes, way: str, modulus: int, width: int) -> Runs:
    """One optimizer at a rate that suits every p, at α around the first guess at this p."""
    rate = natural_rate(s.search_descent, modulus, width) if way == "GD" else ADAM_RATE
    decay = {"weight_decay": USUAL_DECAY} if way == "AdamW" else {}
    settings = until_grokked(s, s.law_steps) | {"modulus": modulus, "width": width}
    settings |= {"optimizer": way.lower(), "lr": rate, **decay}
    guess = GUESS[way] * np.log(modulus) / modulus
    tried = [round(float(guess * factor), 4) for factor in s.law_factors]
    found = runs(settings, fraction=[a for a in tried if a <= MOST], seed=range(s.law_seeds))
    return found.fresh_seeds().tag(way=way)


def moduli_and_widths(s: Sizes) -> Runs:
    p, N = s.sweep_modulus, s.sweep_width
    moduli = [around(s, way, modulus, N).tag(part="moduli") for way, some in s.law_moduli.items() for modulus in some]
    widths = [around(s, "Adam", p, width).tag(part="widths") for width in sorted({*s.law_widths, N})]
    return joined(moduli + widths)


def fractions_and_laws(s: Sizes, t: Table) -> dict[str, Any]:
    """α_c of everything, and laws by optimizer and budget."""
    found = within(t, budgets(s.law_steps), "part", "way", "modulus", "width")
    cells = transitions(Table([{"critical": found}])).where(part="moduli").by("way", "budget").items()
    known = {key: {r.modulus: r.alpha.critical for r in cell if r.alpha.critical is not None} for key, cell in cells}
    laws = [(*key, fit_laws(found)) for key, found in known.items()]
    return {"critical": found, "laws": laws}


moduli = study(
    "moduli",
    "Critical fraction, modulus and width",
    "The smallest share of the table from which n + m is learned within a budget of steps: against p by optimizer, "
    "against p for three budgets with two laws through it, and against the width.",
    runs=moduli_and_widths,
    keep="grokked_at",
    also=fractions_and_laws,
    beyond=True,
)


def _laws(t: Table) -> dict[tuple[str, int], dict[str, Any] | None]:
    """By optimizer and budget."""
    return {(way, budget): law for way, budget, law in t.first.laws}


def _names(law: dict[str, Any]) -> dict[str, str]:
    factors = {kind: number(factor) for kind, factor in law["factors"].items()}
    power = f"{factors['power']} p^(−{law['exponent']:.2f})"
    return {"logarithmic": f"{factors['logarithmic']} ln p / p", "power": power}


def _misfits(t: Table, way: str, budget: int, law: dict[str, Any]) -> dict[str, float]:
    """χ² per degree of freedom of both laws, a 95 % interval being 3.92 standard deviations."""
    found = transitions(t).where(lambda r: r.alpha.critical is not None, part="moduli", way=way, budget=budget)
    p, alphas = np.array(found["modulus"]), found["alpha"]
    middle = np.array([alpha.critical for alpha in alphas])
    deviation = np.array([(alpha.high - alpha.low) / 3.92 for alpha in alphas])
    chi = {kind: float(np.square((middle - fitted) / deviation).sum()) for kind, fitted in _fitted(law, p).items()}
    return {"logarithmic": chi["logarithmic"] / (len(p) - 1), "power": chi["power"] / (len(p) - 2)}


def _fitted(law: dict[str, Any], p: Any) -> dict[str, Any]:
    factors = law["factors"]
    return {"logarithmic": factors["logarithmic"] * np.log(p) / p, "power": factors["power"] * p ** -law["exponent"]}


@moduli.figure()
def fractions_moduli_widths(t: Table) -> Any:
    rows = transitions(t)
    adam, widths = rows.where(part="moduli", way="Adam"), rows.where(part="widths")
    last = max(rows["budget"])
    titles = [f"T = {count(last)}", "Adam, and two laws", f"Adam, p = {widths.one('modulus')}"]
    titles.append(f"Adam, T = {count(last)}, over each law")
    sizes = f"n + m mod p; (a), (b), (d) N = {adam.one('width')}; 95 % intervals from {seeds(t)} at each α"
    note = f"{sizes}; laws are fitted to the largest budget"
    figure, (left, middle, right, residuals) = panels(*titles, rows=2, height=5.6, note=note)
    for i, (way, cell) in enumerate(rows.where(part="moduli", budget=last).by("way").items()):
        error_bars(left, cell["modulus"], cell["alpha"], i, way)
    for panel, some, x in ((middle, adam, "modulus"), (right, widths, "width")):
        for i, (budget, cell) in enumerate(some.by("budget").items()):
            error_bars(panel, cell[x], cell["alpha"], i, f"T = {count(budget)}")
    if (law := _laws(t)["Adam", last]) is not None:
        known = adam.where(lambda r: r.alpha.critical is not None, budget=last)
        p = np.linspace(min(adam["modulus"]), max(adam["modulus"]), 200)
        for i, (kind, label) in enumerate(_names(law).items()):
            middle.plot(p, _fitted(law, p)[kind], color="black", lw=0.9, ls=("-", ":")[i], label=label)
            found = zip(known["alpha"], _fitted(law, np.array(known["modulus"]))[kind], strict=True)
            over = [Transition(a.critical / x, a.low / x, a.high / x, a.width) for a, x in found]
            error_bars(residuals, [p * (1 + 0.02 * i) for p in known["modulus"]], over, i, label)
        residuals.axhline(1, color="black", lw=0.7, ls=":")
        residuals.legend(fontsize=6)
    for panel in (middle, residuals):
        panel.set_xscale("log")
        panel.set_xticks(adam["modulus"].distinct(), [number(p) for p in adam["modulus"].distinct()])
        panel.xaxis.set_minor_formatter(lambda *_: "")
    middle.set_yscale("log")
    middle.yaxis.set_major_formatter(lambda value, _: number(value))
    middle.yaxis.set_minor_formatter(lambda value, _: number(value))
    middle.tick_params(axis="y", which="minor", labelsize=6)
    residuals.set(xlabel="modulus p", ylabel=r"$\alpha_c$ / law")
    right.set_xscale("log", base=2)
    right.set_xticks(widths["width"].distinct(), [number(width) for width in widths["width"].distinct()])
    for panel, label in zip((left, middle, right), ("modulus p", "modulus p", "width N"), strict=True):
        panel.set(xlabel=label, ylabel=r"critical fraction $\alpha_c(T)$")
        panel.margins(x=0.08, y=0.12)
        panel.legend(fontsize=6)
    return figure


def _goes_down(found: Sequence[Transition]) -> bool:
    """Whether no α_c is above the one before it, and the last is below the first, beyond the 95 % intervals."""
    return not any(clearly_below(a, b) for a, b in pairwise(found)) and clearly_below(found[-1], found[0])


def _asked(t: Table) -> Iterator[Table]:
    """The budgets at which every α_c is known, and the largest."""
    *smaller, largest = t.by("budget").values()
    yield from (some for some in smaller if all(alpha.critical is not None for alpha in some["alpha"]))
    yield largest


@moduli.claim("5.2")
def modulus(t: Table, ask: Ask) -> None:
    """The critical fraction falls as the modulus grows."""
    asked = [*_asked(transitions(t).where(part="moduli"))]
    holds = [all(_goes_down(cell["alpha"]) for cell in some.by("way").values()) for some in asked]
    ask.that(
        "at the largest budget α_c of every optimizer never rises from one p to the next larger beyond the 95 % "
        "interval, and is smaller at the largest p than at the smallest beyond it",
        holds[-1],
    )
    ask.remark("at every budget at which all α_c are known", all(holds))
    ask.show({f"α_c, {row.way}, p = {row.modulus}": str(row.alpha) for row in asked[-1]})


@moduli.claim(BEYOND)
def law(t: Table, ask: Ask) -> None:
    """The critical fraction falls with the modulus as ln p / p."""
    laws = {key: one for key, one in _laws(t).items() if one is not None}
    adam = [key for key in _laws(t) if key[0] == "Adam"]
    ask.possible("α_c of Adam is known at five or more moduli at the largest budget", adam[-1] in laws)
    gaps = {key: one["aicc"]["logarithmic"] - one["aicc"]["power"] for key, one in laws.items()}
    chi = {key: _misfits(t, *key, one) for key, one in laws.items()}
    better = {key: gap < 0 for key, gap in gaps.items()}
    fits = {key: both["logarithmic"] <= FITS for key, both in chi.items()}
    ask.that(
        "of the laws c·ln p / p, along which α was tried, and c·p^(−k), fitted to the same α_c of Adam at the largest "
        "budget, the first has the smaller corrected Akaike criterion",
        better[adam[-1]],
    )
    ask.that(
        f"the χ² of c·ln p / p per degree of freedom, by the 95 % intervals of α_c, is at most {FITS}",
        fits[adam[-1]],
        f"{number(chi[adam[-1]]['logarithmic'], 2)}; of the power law {number(chi[adam[-1]]['power'], 2)}",
    )
    ask.remark("both hold at every budget", all(key in laws and better[key] and fits[key] for key in adam))
    for key, one in laws.items():
        names = _names(one).items()
        said = [f"{name}: rms {percent(one['rms'][kind])}, χ²/dof {number(chi[key][kind], 2)}" for kind, name in names]
        ask.show({f"{key[0]}, {count(key[1])} steps": "; ".join([*said, f"difference of AICc {gaps[key]:+.1f}"])})


@moduli.claim(BEYOND)
def width_and_data(t: Table, ask: Ask) -> None:
    """The wider the network, the more data it needs where nothing regularizes it."""
    asked = [*_asked(transitions(t).where(part="widths"))]
    holds = [_goes_down(some["alpha"][::-1]) for some in asked]
    ask.that(
        "at the largest budget α_c of Adam never falls from one width to the next larger beyond the 95 % interval, and "
        "is larger at the largest width than at the smallest beyond it",
        holds[-1],
    )
    ask.remark("at every budget at which all α_c are known", all(holds))
    ask.show({f"α_c at N = {row.width}": str(row.alpha) for row in asked[-1]})
    ask.show({"p": str(asked[-1].one("modulus")), "steps": count(asked[-1].one("budget"))})


samplings = study(
    "samplings",
    "A guided choice of the training pairs",
    "The share of runs that grok near the critical fraction under Adam: training pairs drawn at random; equally many "
    "in every row and column (balanced); equally many of every answer (answers); whole lines of a random slope, which "
    "have every row, column and answer once (lines); pairs that close as few rectangles as possible, whose fourth "
    "corner would follow from the other three (expander).",
    runs=lambda s: runs(
        until_grokked(s, s.sampling_steps) | {"optimizer": "adam", "lr": ADAM_RATE},
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
        look = series_look(i)
        points = look | {"ls": "", "fillstyle": "none"}
        panel.plot([*shares], shares.y, label=f"{row.sampling}: {row.alpha}", **points)
        if row.alpha.critical is not None:
            panel.plot(x, row.alpha.probability(x), **look | {"marker": ""})
    within_steps = f"share of runs that grok within {count(t.one('steps'))} steps"
    panel.set(xlabel="fraction of the pairs trained on, α", ylabel=within_steps, ylim=(-0.04, 1.04))
    panel.set_title("Which pairs are trained on")
    panel.legend(loc="upper left", title=r"$\alpha_c$ and its 95 % interval")
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
