"""The page's form: settings with their help, checked while they are typed, with what they would cost."""

import dataclasses
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from modgrok.closed_form import widths
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.cost import COMPILE_SECONDS, check_memory, work
from modgrok.lab.limits import check_size
from modgrok.networks import ARCHITECTURES
from modgrok.networks.activation import ACTIVATIONS
from modgrok.networks.two_layer import PARAMETRIZATIONS
from modgrok.tasks import Task
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.polynomial import spell
from modgrok.tasks.split import SAMPLINGS
from modgrok.tasks.task import variable_names
from modgrok.training.optimizers import OPTIMIZERS

CHOICES: dict[str, list[str]] = {
    "sampling": list(SAMPLINGS),
    "optimizer": list(OPTIMIZERS),
    "network": list(ARCHITECTURES),
    "activation": ["", *ACTIVATIONS, "x^3", "x^4"],
    "parametrization": ["", *PARAMETRIZATIONS],
}
"""Settings that are chosen from a list though their type is text; an empty word leaves them open."""


class BadRequest(ModgrokError):
    """What came is no form at all, rather than a form with a mistake in it."""


def experiment_from(settings: Any) -> Experiment:
    """The experiment a page asks for, within the page's bounds."""
    if not isinstance(settings, dict) or not isinstance(settings.get("task"), str):
        raise BadRequest("The settings are an object of names and values, and one of them is the task.")
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
        "lr": resolved.lr,
        "auto_lr": natural_rate(resolved),
        "steps": resolved.steps,
        "momentum": resolved.momentum,
        "batch_size": resolved.batch_size,
        "seconds": COMPILE_SECONDS + work(resolved, task).cpu_seconds,
        **describe(task),
    }


def describe(task: Task) -> dict[str, Any]:
    """The structure of a task in words, and the closed forms it admits with their widths."""
    structure = task.structure
    forms = {form: width if form == "exact" else None for form, width in widths(task).items()}
    names = variable_names(task.arity)
    letter = "g" if structure.is_product else "f"
    witnesses = {
        f"{letter}{s + 1}({name})": spell(part, name)
        for s, (name, part) in enumerate(zip(names, structure.parts, strict=False))
    }
    if structure.outer is not None and structure.kind.startswith("function_of"):
        witnesses["F(x)"] = spell(structure.outer, "x")
    return {
        "structure": structure.kind,
        "reason": structure.reason,
        "witnesses": {head: text for head, text in witnesses.items() if text is not None},
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


@cache
def fields() -> list[dict[str, Any]]:
    """Every setting with its default, its choices and the help text of its definition."""
    types = get_type_hints(Experiment)
    return [
        {
            "name": field.name,
            "default": None if field.default is dataclasses.MISSING else field.default,
            "help": field.metadata.get("help", ""),
            "choices": CHOICES.get(field.name) or _literals(types[field.name]),
            "switch": bool in (types[field.name], *get_args(types[field.name])),
        }
        for field in dataclasses.fields(Experiment)
    ]


def _literals(kind: Any) -> list[str] | None:
    """The words among which a type chooses, with an empty one first where it may be left open."""
    parts = get_args(kind) if get_origin(kind) is not Literal else (kind,)
    found = [word for part in parts if get_origin(part) is Literal for word in get_args(part)]
    return (["", *found] if type(None) in parts else found) if found and "auto" not in found else None
