"""The steps of a run at which it is evaluated and its weights are kept."""

import numpy as np

from modgrok.shapes import Int


def evaluation_steps(steps: int, evaluations: int) -> Int[np.ndarray, "evaluation"]:
    """Step 0, the last step, and up to `evaluations` steps at equal ratios between them, rounded to whole steps."""
    spaced = np.geomspace(1, steps, evaluations) if steps > 1 and evaluations > 1 else np.array([])
    return np.unique(np.concatenate([[0], np.round(spaced), [steps]]).astype(np.int64))


def snapshot_steps(evaluated: Int[np.ndarray, "evaluation"], snapshots: int) -> Int[np.ndarray, "snapshot"]:
    """Up to `snapshots` of the evaluated steps, the first and the last among them, again at about equal ratios."""
    if snapshots == 0:
        return evaluated[:0]
    chosen = np.round(np.linspace(0, len(evaluated) - 1, max(2, min(snapshots, len(evaluated))))).astype(np.int64)
    return evaluated[np.unique(chosen)]
