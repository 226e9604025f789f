"""When a network memorizes and groks, what its curves do meanwhile, and the broken line closest to a curve."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.times import THRESHOLD, first_reached
from modgrok.shapes import Float

ONSET = 0.1
"""Test accuracy at which generalization counts as begun."""
RISEN = 0.9
"""Accuracy at which its rise counts as over."""
COMPLETE = 0.999
"""Test accuracy that counts as all."""
EARLY = 0.2
"""Share of the way to the onset that counts as the beginning."""
AFTERMATH = 1.5
"""Gradients up to this multiple of the grokking step belong to it; later the rate may be too large for the minimum."""
COARSE = 24
"""Places along the curve from which the search for the best breaks starts."""
RIDGE = 1e-13
"""Keeps the fit of neighboring breaks solvable."""


def grokking_events(run: Any) -> dict[str, Any]:
    """When what happened on a run's curves, and how large it was; None where it did not happen."""
    h, memorized, grokked = run.history, run.result["memorized_at"], run.result["grokked_at"]
    step, test = h["step"], h["test_accuracy"]
    gradient = np.hypot(h["gradient_in"], h["gradient_out"])
    norm = np.hypot(h["norm_in"], h["norm_out"])
    onset, risen = (first_reached(step, test, level) for level in (ONSET, RISEN))
    train = [first_reached(step, h["train_accuracy"], level) for level in (ONSET, RISEN)]
    # Up to grokking: at large rates single steps later on may throw the loss up again for a moment.
    learning = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    peak = int(h["test_loss"][:learning].argmax())
    settled = len(step) if grokked is None else int(np.searchsorted(step, AFTERMATH * grokked, "right"))
    strongest = int(gradient[:settled].argmax())
    fastest = int((np.diff(norm) / np.diff(step)).argmax())

    def at(values: np.ndarray, place: int | float | None) -> float | None:
        return None if place is None else float(values[np.searchsorted(step, place)])

    return {
        "memorized_at": memorized,
        "onset_at": onset,
        "grokked_at": grokked,
        "test_rise": None if risen is None or onset is None else risen - onset,
        "train_rise": None if train[0] is None or train[1] is None else train[1] - train[0],
        "loss_peak_at": step[peak],
        "loss_peak": h["test_loss"][peak],
        "loss_start": h["test_loss"][0],
        "test_accuracy_at_peak": test[peak],
        "gradient_peak_at": step[strongest],
        "gradient_start": gradient[0],
        "gradient_peak": gradient[strongest],
        "gradient_settled": gradient[strongest:settled].min(),
        "gradient_later": gradient[settled:].max() if settled < len(step) else None,
        "norm_start": norm[0],
        "norm_onset": at(norm, onset),
        "norm_end": norm[-1],
        "norm_largest": norm.max(),
        "norm_fastest_at": step[fastest + 1],
        "ipr_start": h["ipr"][0],
        "ipr_memorized": at(h["ipr"], memorized),
        "ipr_end": h["ipr"][-1],
        "train_loss_rises": float((np.diff(h["train_loss"]) > 0).mean()),
        "gap_largest": (h["test_loss"] - h["train_loss"]).max(),
        "gap_end": h["test_loss"][-1] - h["train_loss"][-1],
        "train_loss_end": h["train_loss"][-1],
        "test_loss_end": h["test_loss"][-1],
        "test_accuracy_end": test[-1],
    }


def ipr_growth(run: Any) -> dict[str, Any]:
    """The broken line of four pieces that is closest to a run's inverse participation ratio, how the ratio begins, and
    where test accuracy rises meanwhile."""
    step, ratio, test = run.history["step"].astype(np.float64), run.history["ipr"], run.history["test_accuracy"]
    line = fit_broken_line(step, ratio, 4)
    onset, complete = (next((float(s) for s in step[test >= level]), None) for level in (ONSET, COMPLETE))
    early = step <= EARLY * (step[-1] if onset is None else onset)
    return {
        "onset_at": onset,
        "complete_at": complete,
        "early_steps": step[early][-1],
        "early_slope": np.polyfit(step[early], ratio[early], 1)[0] if early.sum() > 2 else None,
        "early_change": ratio[early][-1] / ratio[0] - 1,
        "lowest": ratio.min() / ratio[0] - 1,
        "lowest_at": step[ratio.argmin()],
        "bends": np.concatenate([step[:1], line.breaks, step[-1:]]),
        "bend_values": line.values,
        "slopes": line.slopes,
    }


def second_half(h: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """How far test accuracy moved over the second half of the steps, and the test loss relative to its end."""
    half = int(np.searchsorted(h["step"], h["step"][-1] / 2))
    accuracy, loss = h["test_accuracy"], h["test_loss"]
    return float(accuracy[-1] - accuracy[half]), float(loss[-1] / loss[half] - 1)


class BrokenLine(NamedTuple):
    """Straight pieces, and how far they are from the curve."""

    breaks: Float[np.ndarray, "break"]
    """Where it bends, ascending."""
    slopes: Float[np.ndarray, "piece"]
    values: Float[np.ndarray, "bend"]
    """Heights at the start, at every break and at the end."""
    error: float
    """Root of the mean squared distance to the curve."""


def fit_broken_line(x: Float[np.ndarray, "point"], y: Float[np.ndarray, "point"], pieces: int = 4) -> BrokenLine:
    """The continuous broken line closest to a curve in the mean square over x, with its breaks at measured points.

    Points weigh as much as the stretch of x they stand for, so that densely measured ones count no more than others.
    All choices of breaks among `COARSE` places are tried, the best is improved one break at a time over all points.
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
    return BrokenLine(x[list(chosen)], np.cumsum(coefficients[1:]) / (x[-1] - x[0]), heights, float(np.sqrt(error)))


def loss_peak(run: Any) -> dict[str, Any]:
    """The maximum of the test loss until grokking: when, how far above the least before, and the test accuracy there.

    It is local: where the loss stands highest above the least that it was before. Answers that are not equally
    frequent, as those of (n + m)², are learned first, and the loss begins by falling.
    """
    step, test, loss = (run.history[name] for name in ("step", "test_accuracy", "test_loss"))
    grokked = run.result["grokked_at"]
    before = len(step) if grokked is None else int(np.searchsorted(step, grokked)) + 1
    rise = loss[:before] / np.minimum.accumulate(loss[:before])
    peak = int(rise.argmax())
    return {"peak_at": step[peak], "rise": rise[peak] - 1, "test_accuracy_at_peak": test[peak]}


def acceleration(run: Any) -> dict[str, Any]:
    """The mean rate −d ln(train loss)/dt from memorization to the onset of generalization (10 % test accuracy), and on
    to grokking. Without grokking, from memorization to half of the steps and on to the end."""
    history, result = run.history, run.result
    step, test, loss = history["step"], history["test_accuracy"], np.log(history["train_loss"])
    if result["memorized_at"] is None:
        return {"before": None, "during": None}
    known = int(np.searchsorted(step, result["memorized_at"]))
    if result["grokked_at"] is None:
        middle, last = int(np.searchsorted(step, step[-1] / 2)), len(step) - 1
    else:
        middle, last = (int(np.flatnonzero(test >= share)[0]) for share in (ONSET, THRESHOLD))

    def rate(first: int, last: int) -> float | None:
        return (loss[first] - loss[last]) / (step[last] - step[first]) if last > first else None

    return {"before": rate(known, middle), "during": rate(middle, last)}
