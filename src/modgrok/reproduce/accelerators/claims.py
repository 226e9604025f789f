"""What the authors of the accelerators say, beside a baseline that is tuned as they are."""

from typing import Any

from modgrok.reproduce.accelerators.profile import BASELINE, WINDOW
from modgrok.reproduce.accelerators.studies import TITLES
from modgrok.reproduce.claim import BEYOND, Verdict, claim, decide, undecided
from modgrok.reproduce.nested import Numbers, edges, median_time
from modgrok.text import NONE, count, number, spread

ALL = tuple(TITLES)
MOVING_AVERAGE = "Grokfast, MA"
FASTER = 0.8
"""A contestant counts as faster where its median is below so much of the baseline's."""


def _ratio(n: Numbers, name: str) -> float | None:
    """Median steps in units of the baseline's: none where the contestant never gets there, 0 where only the baseline
    does not."""
    own, base = (median_time(n["contestants"][one]["times"]) for one in (name, BASELINE))
    if name == MOVING_AVERAGE and own is not None and own < WINDOW:
        return None  # Until then it has not begun to act.
    return None if own is None else 0.0 if base is None else own / base


def _measured(studies: tuple[Numbers, ...], *names: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for title, n in zip(TITLES.values(), studies, strict=True):
        for name in (BASELINE, *names):
            one = n["contestants"][name]
            chosen = f"rate {number(one['lr'])}, decay {number(one['decay'])}"
            found[f"{title}: {name} ({chosen}{edges(one, one['trials'])})"] = spread(one["times"])
    return found


def _faster(studies: tuple[Numbers, ...], *names: str, departure: str = "") -> Verdict:
    """Holds where the best of the names is faster on every task, with a remark where only on most, or where what was
    trained is not quite what its authors train: every verdict says so."""
    ratios: list[Any] = [
        min((ratio for name in names if (ratio := _ratio(n, name)) is not None), default=None) for n in studies
    ]
    if all(ratio is None for ratio in ratios):
        return undecided(
            "On no task do most seeds get there at the rate and decay that the search chose: a longer search says "
            f"more. {departure}".strip(),
            _measured(studies, *names),
        )
    won = [ratio is not None and ratio < FASTER for ratio in ratios]
    shown = ", ".join(NONE if ratio is None else number(ratio) for ratio in ratios)
    found = [[n["contestants"][name] for name in names] for n in studies]
    at_edge = sum(any(edges(one, one["trials"]) for one in some) for some in found)
    wider = f" On {at_edge} of {len(studies)} its best lies at the edge of the search." if at_edge else ""
    slower = f"Not where {BASELINE} is tuned by the same search: the ratios of median steps are {shown}.{wider}"
    return decide(
        2 * sum(won) > len(won),
        f"Median steps over those of tuned {BASELINE}: {shown}.",
        f"{slower} {departure}".strip(),
        _measured(studies, *names),
        not all(won) and f"On {won.count(False)} of {len(won)} tasks it is not faster, or never gets there.",
        wider.strip(),
        departure,
    )


JORDAN = (
    "Muon here orthogonalizes every matrix, embedding and readout included, without the factor √max(1, rows/columns), "
    "and takes signs for vectors; Jordan's leaves embeddings, readouts and vectors to AdamW."
)
THRESHOLD = (
    "median steps to 95 % test accuracy below 0.8 of AdamW's, both tuned by the same search, on most tasks; remark "
    "where not on all, or where a best rate or decay is an outermost one; a task on which it never gets there counts "
    "as lost, and there is no verdict where it gets there on none"
)


@claim(
    "2405.20233",
    THRESHOLD + f"; the better of EMA and MA counts, MA where its window of {WINDOW} steps was full before the end",
    *ALL,
)
def grokfast(*studies: Numbers) -> Verdict:
    """Grokfast generalizes in fewer steps (its authors find 50 times fewer than Adam without weight decay)."""
    return _faster(studies, "Grokfast, EMA", MOVING_AVERAGE)


@claim("2504.16041", THRESHOLD, *ALL)
def muon(*studies: Numbers) -> Verdict:
    """Muon generalizes in fewer steps than AdamW (its authors find 0.67 times as many)."""
    return _faster(studies, "Muon", departure=JORDAN)


@claim("2501.04697", THRESHOLD, *ALL)
def orthogonal_gradient(*studies: Numbers) -> Verdict:
    """⊥Grad generalizes in fewer steps."""
    return _faster(studies, "⊥Grad")


@claim("2501.04697", THRESHOLD, *ALL)
def stablemax(*studies: Numbers) -> Verdict:
    """StableMax in the place of the softmax generalizes in fewer steps."""
    return _faster(studies, "StableMax")


@claim(f"{BEYOND} (Lion: 2302.06675)", THRESHOLD, *ALL)
def lion(*studies: Numbers) -> Verdict:
    """Lion generalizes in fewer steps."""
    return _faster(studies, "Lion")


@claim(
    "2501.04697",
    "with seed 0 ⊥Grad reaches 95 % test accuracy at some rate without decay, on every task; remark where AdamW does "
    "too",
    *ALL,
)
def without_decay(*studies: Numbers) -> Verdict:
    """⊥Grad generalizes without weight decay, where AdamW does not."""

    def reached(n: Numbers, name: str) -> list[int]:
        trials = n["contestants"][name]["trials"]
        return [trial["time"] for trial in trials if trial["decay"] == 0 and trial["time"] is not None]

    best = {name: [min(reached(n, name), default=None) for n in studies] for name in ("⊥Grad", "StableMax", BASELINE)}
    return decide(
        None not in best["⊥Grad"],
        "It does on every task.",
        f"Not on every task within {count(studies[0]['steps'])} steps.",
        {
            f"{title}: {name} without decay": number(best[name][i])
            for i, title in enumerate(TITLES.values())
            for name in best
        },
        any(time is not None for time in best[BASELINE]) and f"{BASELINE} does so too on some.",
    )
