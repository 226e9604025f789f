"""The settings of many experiments in a few words: what they share, and what varies."""

from collections.abc import Sequence
from typing import Any

from modgrok.experiments import Experiment
from modgrok.reproduce.values import short

ALWAYS = ("task", "modulus", "width", "fraction", "optimizer", "lr", "steps")
LABELS = {"modulus": "p", "width": "N", "fraction": "α", "lr": "rate", "weight_decay": "weight decay"}
SILENT = ("evaluations", "snapshots", "until", "split_seed", "decoupled", "momentum", "threshold")
MOST_VALUES = 8


def describe(experiments: Sequence[Experiment]) -> list[str]:
    """One phrase for each setting that is not the default; values that vary are listed."""
    if not experiments:
        return []
    rows = [experiment.resolve().as_dict() | {"task": experiment.task} for experiment in experiments]
    defaults = Experiment(task="n").resolve().as_dict()
    phrases = []
    for name in rows[0]:
        values = list(dict.fromkeys(row[name] for row in rows))
        if name in SILENT or (name not in ALWAYS and values == [defaults[name]]):
            continue
        phrases.append(_phrase(name, values))
    return phrases


def _phrase(name: str, values: list[Any]) -> str:
    if name == "seed":
        return f"{len(values)} seed{'s' if len(values) > 1 else ''}"
    shown = [
        short(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)
        for value in values
    ]
    if isinstance(values[0], bool):
        return name.replace("_", " ") + ("" if values == [True] else " on and off")
    if len(shown) > MOST_VALUES:
        shown = [shown[0], "…", shown[-1]]
    label = LABELS.get(name, name.replace("_", " "))
    return ", ".join(shown) if name in ("task", "optimizer") else f"{label} = {', '.join(shown)}"
