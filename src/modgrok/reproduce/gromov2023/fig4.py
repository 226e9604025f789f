"""Fig. 4: inverse participation ratio beside accuracy under AdamW, in four fitted regimes."""

import math
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.measures import average_ipr
from modgrok.palette import GRAY, GREEN
from modgrok.plot import curves, style
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study
from modgrok.tasks import task

KNOTS = 28
"""Places along the curve where the line may break."""


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
    """The continuous broken line closest to a curve in the mean square over equal steps of x.

    The curve is sampled at equal distances first, so that densely measured stretches weigh no more than others; all
    choices of breaks on a grid of `KNOTS` places are tried.
    """
    even = np.linspace(x[0], x[-1], 4 * KNOTS + 1)
    target = np.interp(even, x, y)
    knots = even[4:-4:4]
    hats = np.maximum(even[:, None] - knots, 0)  # a bend at every knot
    base = np.stack([np.ones_like(even), even - even[0]], axis=1)
    best: tuple[float, tuple[int, ...], np.ndarray] | None = None
    for chosen in combinations(range(len(knots)), pieces - 1):
        design = np.concatenate([base, hats[:, chosen]], axis=1)
        gram = design.T @ design
        coefficients = np.linalg.solve(gram, design.T @ target)
        error = float(np.square(design @ coefficients - target).mean())
        if best is None or error < best[0]:
            best = error, chosen, coefficients
    assert best is not None
    error, chosen, coefficients = best
    breaks = knots[list(chosen)]
    bends = np.concatenate([[even[0]], breaks, [even[-1]]])
    heights = coefficients[0] + coefficients[1] * (bends - even[0])
    heights = heights + np.maximum(bends[:, None] - breaks, 0) @ coefficients[2:]
    return Regimes(breaks, np.cumsum(coefficients[1:]), heights, float(np.sqrt(error)))


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """Curves, the broken line fitted to the ratio, and where accuracy rises, for every seed."""
    closed = solve(task("n + m", profile.modulus), "waves", profile.width)
    e = runs[0].experiment
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "fraction": e.fraction,
        "learning_rate": e.lr,
        "weight_decay": e.weight_decay,
        "closed_form_ipr": float(average_ipr(closed.w_in).mean),
        "runs": [_run(run.history, run.result) for run in runs],
    }


def _run(history: dict[str, np.ndarray], result: Any) -> dict[str, Any]:
    step = history["step"].astype(np.float64)
    regimes = fit_regimes(step, history["ipr"])
    return {
        "curves": {name: history[name] for name in ("step", "ipr", "train_accuracy", "test_accuracy")},
        "memorized_at": result["memorized_at"],
        "grokked_at": result["grokked_at"],
        "bends": np.concatenate([step[:1], regimes.breaks, step[-1:]]),
        "bend_values": regimes.values,
        "slopes": regimes.slopes,
        "fit_error": regimes.error,
        "start": history["ipr"][0],
        "end": history["ipr"][-1],
        "test_accuracy_end": history["test_accuracy"][-1],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 1, height=4.3, sharex=True, height_ratios=(1.6, 1))
    above, below = panels[:, 0]
    first, histories = n["runs"][0], [run["curves"] for run in n["runs"]]
    curves(histories, "ipr", linear=math.inf, ax=above, label="network")
    curves(histories, linear=math.inf, ax=below)
    above.plot(first["bends"], first["bend_values"], color="black", linewidth=0.9, marker=".", label="fitted regimes")
    above.axhline(n["closed_form_ipr"], color=GREEN, linestyle="--", label="closed form")
    for name, left, right in zip(("i", "ii", "iii", "iv"), first["bends"][:-1], first["bends"][1:], strict=True):
        for panel in (above, below):
            style.mark(panel, left or None)
        where: Any = {"xycoords": ("data", "axes fraction"), "ha": "center", "color": GRAY}
        above.annotate(f"({name})", ((left + right) / 2, 0.8), **where)
    above.set_xlabel("")
    for panel in (above, below):
        panel.legend(loc="center right")
    style.letter((above, below), ("inverse participation ratio of $W^{(1)}$", "accuracy"))
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, AdamW with rate {n['learning_rate']}, "
        f"weight decay {n['weight_decay']}; bold: seed 0, faint: {len(n['runs']) - 1} more",
    )
    return figure


STUDY = Study(
    "fig4",
    "How periodic the weights are",
    "The average inverse participation ratio of the first layer's Fourier transform, about 1/p for random weights and "
    "1/4 for a pure real wave in both halves of a row. The dashed line is the closed form. The four regimes "
    "(slow, transition, fast, "
    "saturated) are the pieces of the best continuous broken line, not drawn by hand.",
    numbers,
    Profile.addition_by_adamw,
    draw,
)
