"""Claims about optimizers and regularizers, each searched with the same number of trials (sections 1, 2; Fig. 3a)."""

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.gromov2023.transitions import less, say
from modgrok.reproduce.gromov2023.tuning import REGULARIZED
from modgrok.reproduce.nested import Numbers
from modgrok.text import count, number, spread

MAJOR = 1.5
"""How many times faster is a major role."""
ALIKE = 1.25
"""Times within this factor are alike at equal effective rates."""


def _ratios(n: Numbers, name: str, base: str) -> dict[float, float]:
    """Median steps relative to another contestant's at every fraction where both grok, each at its best."""
    rows = zip(n["fractions"], *(n["tuned_summary"][who]["median"] for who in (name, base)), strict=True)
    return {fraction: a / b for fraction, a, b in rows if a is not None and b is not None}


def _faster(n: Numbers, name: str, base: str) -> tuple[list[float], list[float]]:
    """Fractions at which the first contestant groks in fewer steps or alone, and those at which any of both groks."""
    won, all_known = [], []
    for fraction, a, b in zip(
        n["fractions"], *(n["tuned_summary"][who]["median"] for who in (name, base)), strict=True
    ):
        if a is not None or b is not None:
            all_known.append(fraction)
            if b is None or (a is not None and a < b):
                won.append(fraction)
    return won, all_known


def _measured(n: Numbers, name: str, base: str) -> dict[str, str]:
    ratios = _ratios(n, name, base)
    return {f"steps of {name} / {base}": _range(list(ratios.values()))}


def _range(values: list[float]) -> str:
    return spread(values, over="fraction") if values else "–"


def _critical(n: Numbers, names: tuple[str, ...]) -> dict[str, str]:
    return {
        f"α_c within {count(budget)} steps, {name}": say(n["critical"][name][i])
        for name in names
        for i, budget in enumerate(n["budgets"])
    }


def _searched(n: Numbers, names: tuple[str, ...]) -> dict[str, str]:
    """What the search was, and where its best rates lie."""
    total = len(n["fractions"])
    edges = [f"{name} at {n['at_the_edge'][name]} of {total} α" for name in names if n["at_the_edge"][name]]
    trials = count(len(n["settings"]["GD"]), "trial")
    return {
        "search": f"{trials} for each at every α, {count(n['steps'])} steps, {n['seeds']} seeds, p = {n['modulus']}",
        "best rate is the largest or smallest tried": ", ".join(edges) or "nowhere",
    }


def _best_rates(n: Numbers, name: str) -> str:
    chosen = zip(n["fractions"], n["chosen"][name], strict=True)
    return ", ".join(f"{number(n['settings'][name][i]['lr'])} at α = {a}" for a, i in chosen if i is not None)


@claim(
    "4.1 (Fig. 3a)",
    f"each at its best, momentum takes at most 1/{MAJOR} of GD's median steps at every α where both grok; a remark "
    "where that is so at more than half of them, and where at equal effective rate lr/(1 − β) the steps are alike "
    f"(median ratio within {ALIKE})",
    "tuning",
)
def momentum(n: Numbers) -> Verdict:
    """Momentum plays a major role in shortening the time to grokking."""
    ratios = _ratios(n, "momentum", "GD")
    slow = [number(fraction) for fraction, ratio in ratios.items() if ratio > 1 / MAJOR]
    equal = [
        heavy / plain
        for cell in n["effective"]
        for plain, heavy in zip(cell["GD"], cell["momentum"], strict=True)
        if plain is not None and heavy is not None
    ]
    middle = sorted(equal)[len(equal) // 2] if equal else None
    alike = middle is not None and 1 / ALIKE <= middle <= ALIKE
    return decide(
        2 * len(slow) < len(ratios),
        f"Each at its best rate, momentum groks {MAJOR} times faster or more at {len(ratios) - len(slow)} of "
        f"{count(len(ratios), 'value')} of α.",
        f"Each at its best rate, momentum is not {MAJOR} times as fast as plain GD at most α.",
        {f"steps of momentum / GD at α = {fraction}": number(ratio) for fraction, ratio in ratios.items()}
        | {"the same at equal effective rate": _range(equal)}
        | _searched(n, ("GD", "momentum")),
        f"Not at α = {', '.join(slow)}." if slow else "",
        alike and "At equal effective rate it changes nothing: what it gives is a larger stable rate.",
    )


@claim(
    "4.1 (Fig. 3a)",
    "α_c of momentum, of the seeds that grok in any of equally many trials, is below that of GD at the largest budget, "
    "beyond the 95 % interval of the difference; a remark where it is not at every budget",
    "tuning",
)
def momentum_fraction(n: Numbers) -> Verdict:
    """Momentum plays a major role in lowering the fraction of data that is needed."""
    lower = [less(one, other) for one, other in zip(n["critical"]["momentum"], n["critical"]["GD"], strict=True)]
    return decide(
        lower[-1],
        "Each at its best, momentum needs less data than plain GD.",
        "Each at its best, momentum does not clearly need less data than plain GD.",
        _critical(n, ("GD", "momentum")) | _searched(n, ("GD", "momentum")),
        not all(lower) and "Not within the smaller budgets.",
    )


@claim(
    "2, 4.2 (Fig. 3a)",
    "each at its best, Adam and AdamW both take fewer median steps than GD, or grok alone, at every α where one groks; "
    "a remark where that is so at more than half of them",
    "tuning",
)
def adaptive_time(n: Numbers) -> Verdict:
    """Adaptive optimizers grok in fewer steps."""
    found = {name: _faster(n, name, "GD") for name in ("Adam", "AdamW")}
    holds = all(2 * len(won) > len(known) for won, known in found.values())
    slower = {name: [number(a) for a in known if a not in won] for name, (won, known) in found.items()}
    said = [f"Not {name} at α = {', '.join(at)}." for name, at in slower.items() if at]
    return decide(
        holds,
        "Each at its best rate, Adam and AdamW grok in fewer steps than plain GD.",
        "Each at its best rate, Adam and AdamW do not both grok in fewer steps than plain GD at most α.",
        _measured(n, "Adam", "GD") | _measured(n, "AdamW", "GD") | _searched(n, ("GD", "Adam", "AdamW")),
        *said,
    )


@claim(
    "2 (Fig. 3a)",
    "α_c of Adam without weight decay, of the seeds that grok in any of equally many trials, is below that of GD at "
    "the largest budget, beyond the 95 % interval of the difference; a remark where it is not at every budget",
    "tuning",
)
def adaptive_fraction(n: Numbers) -> Verdict:
    """Adaptive optimizers let grokking happen with less data."""
    lower = [less(one, other) for one, other in zip(n["critical"]["Adam"], n["critical"]["GD"], strict=True)]
    return decide(
        lower[-1],
        "Each at its best, Adam needs less data than plain GD, without any weight decay.",
        "Each at its best, Adam without weight decay does not clearly need less data than plain GD.",
        _critical(n, ("GD", "Adam", "AdamW"))
        | {"best rates of Adam, from little data to much": _best_rates(n, "Adam")}
        | _searched(n, ("GD", "Adam", "AdamW")),
        not all(lower) and "Not within the smaller budgets.",
    )


REGULARIZERS = ", ".join(REGULARIZED)


@claim(
    "1, 2 (Fig. 3a)",
    f"of {REGULARIZERS}, each at its best against the same optimizer without it at its best: every one takes fewer "
    "median steps, or groks alone, at more than half of all α where one groks; a remark where at least half of them do",
    "tuning",
)
def regularization_time(n: Numbers) -> Verdict:
    """Regularization makes grokking happen after fewer steps."""
    found = {name: _faster(n, name, base) for name, base in REGULARIZED.items()}
    helps = [name for name, (won, known) in found.items() if 2 * len(won) > len(known)]
    rest = [name for name in found if name not in helps]
    measured = {
        f"{name} against {base}": f"faster at {len(found[name][0])} of {len(found[name][1])} α; ratio of steps "
        + _range(list(_ratios(n, name, base).values()))
        for name, base in REGULARIZED.items()
    }
    return decide(
        2 * len(helps) >= len(found),
        f"Fewer steps over most of the range of α: {', '.join(helps)}.",
        f"Most regularizers do not shorten the time over most of the range of α: {', '.join(rest)}.",
        measured | _searched(n, tuple(found)),
        bool(rest) and f"Not {', '.join(rest)}.",
    )


@claim(
    "2, 4.2 (Fig. 3a)",
    f"of {REGULARIZERS}, against the same optimizer without it, each with equally many trials: every one has a smaller "
    "α_c at the largest budget, beyond the 95 % interval of the difference; a remark where at least half of them do",
    "tuning",
)
def lower_fraction(n: Numbers) -> Verdict:
    """Regularization lets grokking happen with less data."""
    critical = n["critical"]
    lower = [name for name, base in REGULARIZED.items() if less(critical[name][-1], critical[base][-1])]
    rest = [name for name in REGULARIZED if name not in lower]
    return decide(
        2 * len(lower) >= len(REGULARIZED),
        f"Less data is enough with {', '.join(lower)}.",
        f"Most regularizers do not clearly lower the critical fraction: {', '.join(rest)}.",
        _critical(n, tuple(critical)) | _searched(n, tuple(REGULARIZED)),
        bool(rest) and f"Not clearly with {', '.join(rest)}.",
    )


@claim(
    "1 (Fig. 3)",
    "of all eight at their best, AdamW takes the fewest median steps at more than half of the α where any groks, and "
    "none has a smaller α_c at the largest budget beyond the 95 % interval; a remark where only one of both is so",
    "tuning",
)
def decay_in_adamw(n: Numbers) -> Verdict:
    """Weight decay in AdamW is particularly effective in making grokking quick."""
    medians = {name: found["median"] for name, found in n["tuned_summary"].items()}
    any_groks = [i for i in range(len(n["fractions"])) if any(found[i] is not None for found in medians.values())]

    def fastest(i: int) -> str:
        return min((name for name in medians if medians[name][i] is not None), key=lambda name: medians[name][i])

    winners = [fastest(i) for i in any_groks]
    quickest = 2 * winners.count("AdamW") > len(winners)
    before = [name for name, found in n["critical"].items() if less(found[-1], n["critical"]["AdamW"][-1])]
    return decide(
        quickest or not before,
        "AdamW is the fastest over most of the range of α."
        if quickest
        else "No other optimizer groks with clearly less data than AdamW.",
        "AdamW is neither the fastest over most of the range of α nor the one that needs the least data.",
        {f"fastest at α = {n['fractions'][i]}": name for i, name in zip(any_groks, winners, strict=True)}
        | _critical(n, ("AdamW", *before))
        | _searched(n, ("AdamW",)),
        not quickest and f"It is the fastest at {winners.count('AdamW')} of {len(winners)} α only.",
        bool(before) and f"Less data is enough for {', '.join(before)}.",
    )
