"""The page's form: settings with their help, checked while they are typed, with what they would cost."""

import dataclasses
from types import NoneType
from typing import Any

from modgrok.closed_form import widths
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.cost import COMPILE_SECONDS, check_memory, work
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.known_settings import brought
from modgrok.lab.limits import check_size
from modgrok.networks.activation import ACTIVATIONS
from modgrok.setting import Setting
from modgrok.tasks import Task
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.families.family import family_of

OPEN_WORDS: dict[str, list[str]] = {"activation": [*ACTIVATIONS, "x^3", "x^4"]}
"""Words that the page offers where others are possible too."""


class BadRequest(ModgrokError):
    """What came is no form at all, rather than a form with a mistake in it."""


def experiment_from(settings: Any) -> Experiment:
    """The experiment a page asks for, within the page's bounds."""
    if not isinstance(settings, dict) or not isinstance(settings.get("task"), str):
        raise BadRequest("The settings must be an object of names and values, with a task among them.")
    family = family_of(settings["task"])
    if family is not None and not family.reads_modulus:  # The field keeps what it says for the next function.
        settings = {name: value for name, value in settings.items() if name != "modulus"}
    experiment = Experiment.from_dict(settings)
    check_size(experiment)
    return experiment


def resolved_from(settings: Any) -> Experiment:
    """The same with its defaults written out, if this machine has the memory for it."""
    resolved = experiment_from(settings).resolve()
    check_memory([resolved], [resolved.load_task()])
    return resolved


def check(settings: Any) -> dict[str, Any]:
    """What is known before an experiment starts: structure, closed forms, numbers behind auto, cost; or a mistake."""
    try:
        resolved = resolved_from(settings)
        task = resolved.load_task()
    except BadRequest:
        raise
    except ExpressionError as error:
        return {"valid": False, "error": str(error).split("\n")[0], "column": error.column}
    except ModgrokError as error:
        return {"valid": False, "error": str(error)}
    return {
        "valid": True,
        "run": resolved.id,
        "listed": task.enumerable,
        **{name: getattr(resolved, name) for name in ("modulus", "lr", "steps", "momentum", "batch_size")},
        "auto_lr": natural_rate(resolved),
        "seconds": COMPILE_SECONDS + work(resolved, task).cpu_seconds,
        **describe(task),
    }


def describe(task: Task) -> dict[str, Any]:
    """The structure of a task in words, and the closed forms it admits with their widths."""
    structure = task.structure
    forms = {form: width if form == "exact" else None for form, width in widths(task).items()}
    return {
        "structure": structure.kind,
        "group": structure.group,
        "reason": structure.reason,
        "witnesses": {head: text for head, text in structure.spelled.items() if text is not None},
        "forms": forms,
        "arity": task.arity,
    }


def natural_rate(experiment: Experiment) -> float | None:
    """The learning rate that auto would choose for these settings."""
    try:
        rate = dataclasses.replace(experiment, lr="auto").resolve().lr
    except ModgrokError:
        return None
    return rate if isinstance(rate, float) else None


def fields() -> list[dict[str, Any]]:
    """Every setting with its default, its choices, the help text of its definition, and whether networks bring it."""
    networks = brought().owners["network"].values()
    return [
        {
            "name": one.name,
            "default": None if one.default is dataclasses.MISSING else one.default,
            "help": one.help,
            "choices": _choices(one),
            "switch": bool in one.kinds,
            "network": any(one.name in own for own in networks),
        }
        for one in known_settings().values()
    ]


def _choices(one: Setting) -> list[str] | None:
    """The words among which a setting is chosen, with an empty one first where it may be left open."""
    words = OPEN_WORDS.get(one.name) or list(one.words)
    if not words or float in one.kinds:
        return None
    return ["", *words] if NoneType in one.kinds else words
