"""What was recorded while runs trained, against the step."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.palette import GRAY, GREEN, PURPLE, TEST, TRAIN
from modgrok.plot import style
from modgrok.text import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from modgrok.experiments import Run

History = Mapping[str, Any]
"""Curves by name, `step` among them."""
PAIRS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "accuracy": (("train_accuracy", "train", TRAIN), ("test_accuracy", "test", TEST)),
    "loss": (("train_loss", "train", TRAIN), ("test_loss", "test", TEST)),
}
"""Measures of which two are recorded: their names, what the legend calls them, their colors."""
GROUPED = ("norm", "gradient")
"""Measures that each group of parameters has."""
GROUPS = {"in": "$W^{(1)}$", "out": "$W^{(2)}$", "rest": "all weights"}
WORDS = {
    "norm": "Frobenius norm",
    "gradient": "norm of the gradient",
    "ipr": "average IPR",
    "task_ipr": "average IPR in the task's coordinate",
}
LOGARITHMIC = ("loss", "gradient")


def curves(
    runs: "Run | History | Sequence[Run | History]",
    measure: str = "accuracy",
    *,
    linear: int | float = 10,
    ax: "Axes | None" = None,
    **line: Any,
) -> "Axes":
    """A measure of one run, or of several with the first bold and the others faint.

    `measure` is accuracy, loss, norm or gradient (two lines or more each), or the name of any recorded curve. Steps are
    drawn linearly up to `linear` and logarithmically from there on.
    """
    found = _histories(runs)
    words = WORDS.get(measure, str(measure).replace("_", " "))
    lines = PAIRS.get(measure) or _lines(measure, words, found)
    with style.axes(ax) as panel:
        for name, label, color in lines:
            for i, history in enumerate(found):
                look = {"color": color, "label": label} | line
                if i > 0:
                    look |= {"label": None, "alpha": 0.3, "linewidth": 0.8}
                panel.plot(history["step"], np.array(history[name], float), **look)
        if np.isfinite(linear):
            panel.set_xscale("symlog", linthresh=linear)
        panel.xaxis.set_major_formatter(lambda step, _: count(round(step)))
        panel.set_xlim(left=0)
        panel.set_xlabel("step")
        panel.set_ylabel(words)
        if measure in LOGARITHMIC:
            panel.set_yscale("log")
        if measure == "accuracy":
            panel.set_ylim(-0.03, 1.03)
        panel.legend(loc="center left" if measure == "accuracy" else "best")
    return panel


def _lines(measure: str, words: str, histories: list[History]) -> Sequence[tuple[str, str, str]]:
    """The curves of a measure, what the legend calls them, and their colors."""
    names = list(dict.fromkeys(name for history in histories for name in history))
    if measure in GROUPED:
        groups = [name for name in names if name.startswith(f"{measure}_")]
        labels = [GROUPS.get(word := name.removeprefix(f"{measure}_"), word) for name in groups]
        return list(zip(groups, labels, cycle((GREEN, PURPLE, TEST, TRAIN)), strict=False))
    if any(measure not in history for history in histories):
        known = [*PAIRS, *GROUPED, *(name for name in names if name != "step")]
        close = get_close_matches(str(measure), known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}."
        raise ModgrokError(f"No curve {measure!r} was recorded; {hint}")
    return [(measure, words, PURPLE)]


def _histories(runs: Any) -> list[History]:
    several = runs if isinstance(runs, Sequence) else [runs]
    return [one if isinstance(one, Mapping) else one.history for one in several]


def learning(history: History | None, ax: Any) -> None:
    """Accuracies and, dashed, losses in one panel; a sentence where there is no history."""
    if history is None or len(history["step"]) == 0:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no curves: a network from a file", ha="center", va="center", color=GRAY)
        return
    curves(history, ax=ax).set_title("learning")
    losses = ax.twinx()
    curves(history, "loss", ax=losses, linestyle="--", linewidth=0.9).set_ylabel("loss (dashed)")
    losses.get_legend().remove()
    losses.spines["right"].set_visible(True)
