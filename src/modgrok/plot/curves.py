"""What was recorded while runs trained, against the step."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from itertools import cycle
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments import Run
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.sweeps.summary import REPETITIONS
from modgrok.palette import GRAY, GREEN, PURPLE, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.plot.style import Axes
from modgrok.setting import require_settings
from modgrok.text import count, number

History = Mapping[str, Any]
"""Curves by name, `step` among them."""
Lines = Sequence[tuple[str, str, str]]
"""Curves, what the legend calls them, and their colors."""
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
    runs: Run | History | Sequence[Run | History] | Mapping[str, Run | Sequence[Run]],
    measure: str = "accuracy",
    *,
    over: str | None = None,
    linear: int | float = 10,
    ax: "Axes | None" = None,
    **line: Any,
) -> "Axes":
    """Draws a measure of one or several runs over the steps. Each run has its own color and is labeled by its key in a
    mapping, its name, or the settings in which it differs. Of histories, which repeat each other, the first is bold and
    the others are faint.

    `over="seed"` (or another setting) pools runs that differ only in that setting: a line at the median, a band from
    the smallest to the largest. A list of runs in a mapping is pooled too. A finished run keeps its last value.

    `measure` is accuracy, loss, norm or gradient (two or more lines each), or the name of any recorded curve. The axis
    of steps is linear up to `linear` and logarithmic beyond.
    """
    named = _pooled(runs, over) if over else _named(runs)
    found = [one for group in named.values() for one in group]
    if not named:
        found = [one if isinstance(one, Mapping) else one.history for one in _listed(runs)]
    if not found:
        raise ModgrokError("There is no run to draw; give at least one.")
    words = WORDS.get(measure, str(measure).replace("_", " "))
    lines = PAIRS.get(measure) or _lines(measure, words, found)
    with style.axes(ax) as panel:
        if named:
            _apart(panel, named, lines, line, over or "run")
        else:
            _repeated(panel, found, lines, line)
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


def _repeated(panel: "Axes", histories: list[History], lines: Lines, line: dict[str, Any]) -> None:
    for name, label, color in lines:
        for i, history in enumerate(histories):
            look = {"color": color, "label": label} | line
            if i > 0:
                look |= {"label": None, "alpha": 0.3, "linewidth": 0.8}
            panel.plot(history["step"], np.array(history[name], float), **look)


def _apart(panel: "Axes", named: dict[str, list[History]], lines: Lines, line: dict[str, Any], over: str) -> None:
    """A color for each run or group of runs, and where it has several lines a dash for each of them: the last one
    solid. The lines of a single group have the colors of a single run."""
    dashes = ("--", ":", "-.")[: len(lines) - 1]
    styles = dict(zip((name for name, _, _ in lines), (*dashes, "-"), strict=False))
    for i, (label, histories) in enumerate(named.items()):
        for name, own, color in lines[: len(styles)]:
            look: dict[str, Any] = {"color": SERIES[i % len(SERIES)], "linestyle": styles[name]}
            look |= {"label": label if name == lines[-1][0] else None}
            look = look if len(named) > 1 else {"color": color, "label": own}
            steps, values = _together(histories, name)
            panel.plot(steps, np.median(values, axis=0), **look | line)
            if len(histories) > 1:
                panel.fill_between(steps, values.min(axis=0), values.max(axis=0), color=look["color"], alpha=0.18, lw=0)
    for name, label, _ in lines if len(lines) > 1 and len(named) > 1 else ():
        panel.plot([], [], color=GRAY, linestyle=styles[name], label=label)
    counts = sorted({len(histories) for histories in named.values()})
    if counts[-1] > 1:
        pooled = "" if len(counts) == 1 else f"{counts[0]} to "
        words = f"range over {pooled}{count(counts[-1], over.replace('_', ' '))}, line: median"
        panel.fill_between([], [], color=GRAY, alpha=0.18, lw=0, label=words)


def _together(histories: list[History], name: str) -> tuple[Any, Any]:
    """All steps of several runs, and at each the latest value of every run."""
    steps = np.unique(np.concatenate([np.asarray(one["step"]) for one in histories]))
    places = [np.searchsorted(one["step"], steps, side="right") - 1 for one in histories]
    values = [np.array(one[name], float)[at.clip(0)] for one, at in zip(histories, places, strict=True)]
    return steps, np.stack(values)


def _named(runs: Any) -> dict[str, list[History]]:
    """Several runs, or groups of them, by what a legend calls them; empty for one run, and for histories."""
    if isinstance(runs, Mapping):
        groups = {} if "step" in runs else {str(name): _listed(some) for name, some in runs.items()}
        return {name: [run.history for run in group] for name, group in groups.items()}
    if isinstance(runs, str):
        raise ModgrokError(f"curves takes runs; modgrok.load({runs!r}) finds one by its name or id.")
    if not isinstance(runs, Sequence) or len(runs) < 2 or any(isinstance(run, Mapping) for run in runs):
        return {}
    called = [run.labels.name for run in runs]
    if not all(called) or len(set(called)) < len(called):
        called = differences([run.experiment.as_dict() for run in runs])
    unique = len(set(called)) == len(called)
    return {name if unique else run.id: [run.history] for name, run in zip(called, runs, strict=True)}


def _pooled(runs: Any, over: str) -> dict[str, list[History]]:
    """Runs that differ in one setting alone, by the settings in which these groups differ."""
    require_settings("An experiment", [over], known_settings())
    if isinstance(runs, Mapping) or not all(hasattr(run, "experiment") for run in _listed(runs)):
        raise ModgrokError(f"over={over!r} pools a list of runs.")
    left_out = REPETITIONS if over in REPETITIONS else (over,)
    groups: dict[str, tuple[dict[str, Any], list[History]]] = {}
    for run in _listed(runs):
        others = {name: value for name, value in run.experiment.as_dict().items() if name not in left_out}
        groups.setdefault(repr(others), (others, []))[1].append(run.history)
    names = differences([others for others, _ in groups.values()]) if groups else []
    return dict(zip(names, (histories for _, histories in groups.values()), strict=True))


def differences(settings: list[dict[str, Any]]) -> list[str]:
    """As few settings of each as tell all of them apart."""
    names = [name for name in settings[0] if len({repr(one.get(name)) for one in settings}) > 1]
    shown = {name: [_text(name, one.get(name)) for one in settings] for name in names if name != "split_seed"}
    for name in reversed(list(shown)):
        fewer = {other: texts for other, texts in shown.items() if other != name}
        if len(set(zip(*fewer.values(), strict=True))) == len(set(zip(*shown.values(), strict=True))):
            shown = fewer
    return [", ".join(texts[i] for texts in shown.values()) for i in range(len(settings))]


def _text(name: str, value: Any) -> str:
    if isinstance(value, str) and value:
        return value
    shown = number(value, 4) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
    return f"{name.replace('_', ' ')} {shown}"


def _lines(measure: str, words: str, histories: list[History]) -> Lines:
    """The curves of a measure, what the legend calls them, and their colors."""
    names = [name for name in histories[0] if all(np.ndim(history.get(name, 0)) for history in histories)]
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


def _listed(runs: Any) -> Sequence[Any]:
    return runs if isinstance(runs, Sequence) else [runs]


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
