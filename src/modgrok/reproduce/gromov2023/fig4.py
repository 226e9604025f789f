"""Fig. 4: inverse participation ratio beside accuracy under AdamW, in four fitted regimes."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures import average_ipr
from modgrok.measures.grokking_events import ONSET
from modgrok.palette import GRAY, GREEN
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study
from modgrok.shapes import Float
from modgrok.tasks import task

COMPLETE = 0.999
"""Test accuracy that the paper calls 100 %."""
COARSE = 24
"""Places along the curve from which the search for the best breaks starts."""
RIDGE = 1e-13
"""Keeps the fit of neighboring breaks solvable."""
EARLY = 0.2
"""Share of the way to the onset of grokking that counts as the beginning."""


class Regimes(NamedTuple):
    """A broken line."""

    breaks: Float[np.ndarray, "break"]
    """Where it bends, ascending."""
    slopes: Float[np.ndarray, "piece"]
    values: Float[np.ndarray, "bend"]
    """Heights at the start, at every break and at the end."""
    error: float
    """Root of the mean squared distance to the curve."""


def fit_regimes(x: Float[np.ndarray, "point"], y: Float[np.ndarray, "point"], pieces: int = 4) -> Regimes:
    """The continuous broken line closest to a curve in the mean square over x, with its breaks at measured points.

    Points weigh as much as the stretch of x they stand for, so that densely measured ones count no more than others.
    All choices of breaks among `COARSE` places are tried, the best is then improved one break at a time over all points
    until nothing changes.
    """
    t = (x - x[0]) / (x[-1] - x[0])
    root = np.sqrt(np.gradient(t))[:, None]
    bends = root * np.maximum(t[:, None] - t, 0)  # a bend at every point
    columns, target = np.concatenate([root, root * t[:, None], bends], axis=1), root[:, 0] * y
    gram = columns.T @ columns + RIDGE * np.eye(len(t) + 2)
    along = columns.T @ target

    def best(choices: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
        """The breaks, of several choices, with the least error."""
        listed = list(choices)
        used = np.concatenate([np.tile([0, 1], (len(listed), 1)), 2 + np.array(listed)], axis=1)
        solved = np.linalg.solve(gram[used[:, :, None], used[:, None, :]], along[used][..., None])[..., 0]
        return tuple(sorted(listed[int((solved * along[used]).sum(axis=1).argmax())]))

    coarse = np.unique(np.searchsorted(t, np.linspace(0, 1, COARSE + 2)[1:-1]).clip(1, len(t) - 2)).tolist()
    chosen, before = best(combinations(coarse, pieces - 1)), None
    while chosen != before:
        before = chosen
        for place in range(pieces - 1):
            others = chosen[:place] + chosen[place + 1 :]
            chosen = best([chosen, *((*others, i) for i in range(1, len(t) - 1) if i not in others)])
    used = [0, 1, *(2 + i for i in chosen)]
    coefficients = np.linalg.lstsq(columns[:, used], target, rcond=None)[0]
    error = np.square(columns[:, used] @ coefficients - target).sum()
    breaks, places = t[list(chosen)], np.concatenate([[0.0], t[list(chosen)], [1.0]])
    heights = coefficients[0] + coefficients[1] * places + np.maximum(places[:, None] - breaks, 0) @ coefficients[2:]
    return Regimes(x[list(chosen)], np.cumsum(coefficients[1:]) / (x[-1] - x[0]), heights, float(np.sqrt(error)))


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % interval of the mean over seeds, by Student's t; None for a single one."""
    if len(values) < 2:
        return None
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / len(values) ** 0.5)
    return float(np.mean(values)) - half, float(np.mean(values)) + half


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """Curves, the broken line fitted to the ratio, and where accuracy rises, for every seed."""
    closed = solve(task("n + m", profile.modulus), "waves", profile.width)
    e = runs[0].experiment
    found = [_run(run.history, run.result) for run in runs]
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "fraction": e.fraction,
        "learning_rate": e.lr,
        "weight_decay": e.weight_decay,
        "closed_form_ipr": float(average_ipr(closed.w_in).mean),
        "bend_intervals": [interval([run["bends"][i] for run in found]) for i in (1, 2, 3)],
        "runs": found,
    }


def _run(history: dict[str, np.ndarray], result: Any) -> dict[str, Any]:
    step, ratio, test = history["step"].astype(np.float64), history["ipr"], history["test_accuracy"]
    regimes = fit_regimes(step, ratio)
    onset, complete = (next((float(s) for s in step[test >= level]), None) for level in (ONSET, COMPLETE))
    early = step <= EARLY * (step[-1] if onset is None else onset)
    enough = early.sum() > 2
    return {
        "curves": {name: history[name] for name in ("step", "ipr", "train_accuracy", "test_accuracy")},
        "memorized_at": result["memorized_at"],
        "onset_at": onset,
        "grokked_at": result["grokked_at"],
        "complete_at": complete,
        "early_steps": step[early][-1],
        "early_slope": np.polyfit(step[early], ratio[early], 1)[0] if enough else None,
        "early_change": ratio[early][-1] / ratio[0] - 1,
        "lowest": ratio.min() / ratio[0] - 1,
        "lowest_at": step[ratio.argmin()],
        "bends": np.concatenate([step[:1], regimes.breaks, step[-1:]]),
        "bend_values": regimes.values,
        "slopes": regimes.slopes,
        "fit_error": regimes.error,
        "start": ratio[0],
        "end": ratio[-1],
        "test_accuracy_end": test[-1],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 1, height=4.5, sharex=True, height_ratios=(1.6, 1))
    above, below = panels[:, 0]
    first, histories = n["runs"][0], [run["curves"] for run in n["runs"]]
    curves(histories, "ipr", linear=math.inf, ax=above, label="network")
    curves(histories, linear=math.inf, ax=below)
    above.plot(first["bends"], first["bend_values"], color="black", linewidth=0.9, marker=".", label="four pieces")
    above.axhline(n["closed_form_ipr"], color=GREEN, linestyle="--", label="closed form")
    for name, left, right in zip(("i", "ii", "iii", "iv"), first["bends"][:-1], first["bends"][1:], strict=True):
        where: Any = {"xycoords": ("data", "axes fraction"), "ha": "center", "color": GRAY}
        above.annotate(f"({name})", ((left + right) / 2, 0.86), **where)
    for bend, spread in zip(first["bends"][1:-1], n["bend_intervals"], strict=True):
        for panel in (above, below):
            style.mark(panel, bend)
            if spread is not None:
                panel.axvspan(*spread, color=GRAY, alpha=0.15, linewidth=0)
    style.mark(below, first["grokked_at"], "grokked")
    above.set_xlabel("")
    for panel in (above, below):
        panel.set_xlim(0, first["bends"][-1])
        panel.legend(loc="center right")
    style.letter(
        (above, below),
        ("inverse participation ratio of $W^{(1)}$, and the closest line of four pieces", "accuracy"),
    )
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, AdamW with rate {n['learning_rate']}, "
        f"weight decay {n['weight_decay']}; bold: seed 0, faint: {len(n['runs']) - 1} more; "
        "shaded: 95 % intervals of the bends over seeds",
    )
    return figure


STUDY = Study(
    "fig4",
    "How periodic the weights are",
    "The average inverse participation ratio of the first layer's Fourier transform, about 1/p for random weights and "
    "1/4 for a pure real wave in both halves of a row. The dashed line is the closed form. The pieces of the closest "
    "continuous broken line, with breaks at any measured step, are: (i) almost nothing happens, while the training "
    "pairs are learnt; (ii) fast growth, which begins before the test accuracy rises and during which the network "
    "groks; (iii) slower growth; (iv) near saturation. The paper's regimes differ: its fast growth starts after "
    "grokking.",
    numbers,
    Profile.addition_by_adamw,
    draw,
)
