"""The page's form: settings with their help, checked while they are typed, with what they would cost."""

import ast
import dataclasses
import inspect
import math
import time
from functools import cache
from typing import Any

import numpy as np

from modgrok.closed_form import available, exact_width
from modgrok.closed_form.frequencies import independent_frequencies
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.optimizers import OPTIMIZERS
from modgrok.lab.limits import check_size
from modgrok.networks.parametrization import NAMES as PARAMETRIZATIONS
from modgrok.tasks import Task
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.polynomial import spell
from modgrok.tasks.split import SAMPLINGS
from modgrok.tasks.task import variable_names

CHOICES: dict[str, list[str]] = {
    "sampling": list(SAMPLINGS),
    "optimizer": list(OPTIMIZERS),
    "loss": ["mse", "cross_entropy"],
    "activation": ["quadratic", "relu", "gelu", "abs", "tanh", "silu", "x^3", "x^4"],
    "parametrization": list(PARAMETRIZATIONS),
}
COMPILATION_SECONDS = 3.0
STEP_SECONDS = 2e-4
"""What a step costs beside its matrix products."""
EFFICIENCY = 0.75
"""Share of NumPy's matrix-product rate that training reaches."""


def experiment_from(settings: Any) -> Experiment:
    """The experiment a page asks for, within the page's bounds."""
    if not isinstance(settings, dict):
        raise ModgrokError("The settings are an object of names and values.")
    experiment = Experiment.from_dict(settings)
    check_size(experiment)
    return experiment


def check(settings: Any, rate: float | None = None) -> dict[str, Any]:
    """What is known before an experiment starts: structure, closed forms, numbers behind auto, cost; or a mistake."""
    try:
        experiment = experiment_from(settings)
        task = experiment.load_task()
        resolved = experiment.resolve()
    except ExpressionError as error:
        return {"valid": False, "error": str(error).split("\n")[0], "column": error.column}
    except ModgrokError as error:
        return {"valid": False, "error": str(error)}
    return {
        "valid": True,
        "run": resolved.id,
        "lr": resolved.lr,
        "steps": resolved.steps,
        "momentum": resolved.momentum,
        "batch_size": resolved.batch_size,
        "seconds": cost(resolved, task, rate or _matrix_rate()),
        **describe(task),
    }


def describe(task: Task) -> dict[str, Any]:
    """The structure of a task in words, and the closed forms it admits with their widths."""
    structure = task.structure
    forms: dict[str, int | None] = dict.fromkeys(available(structure, task.arity))
    if "exact" in forms and structure.coordinate is not None:
        forms["exact"] = exact_width(structure.coordinate, independent_frequencies(structure.coordinate.length))
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


def cost(experiment: Experiment, task: Task, rate: float) -> float:
    """Seconds that a resolved experiment takes at `rate` floating-point operations a second."""
    assert experiment.steps is not None
    inputs = task.table.size
    rows = experiment.batch_size or round(experiment.fraction * inputs)
    products = experiment.width * experiment.modulus
    evaluations = len(experiment.schedule[0])
    work = experiment.steps * 6 * rows * products + evaluations * (2 * inputs + 6 * rows) * products
    return COMPILATION_SECONDS + experiment.steps * STEP_SECONDS + work / rate


def step_rate(experiment: Experiment, steps_per_second: float) -> float:
    """The operations a second that a measured speed of training amounts to."""
    inputs = experiment.modulus**2
    rows = experiment.batch_size or round(experiment.fraction * inputs)
    return steps_per_second * 6 * rows * experiment.width * experiment.modulus


@cache
def fields() -> list[dict[str, Any]]:
    """Every setting with its default, its choices and the help text of its definition."""
    body = ast.parse(inspect.getsource(Experiment)).body[0]
    assert isinstance(body, ast.ClassDef)
    help_texts = {}
    for node, after in zip(body.body, body.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and isinstance(after, ast.Expr):
            help_texts[node.target.id] = ast.literal_eval(after.value)
    return [
        {
            "name": field.name,
            "default": None if field.default is dataclasses.MISSING else field.default,
            "help": help_texts.get(field.name, ""),
            "choices": CHOICES.get(field.name),
        }
        for field in dataclasses.fields(Experiment)
    ]


@cache
def _matrix_rate() -> float:
    """Operations a second that this machine's matrix products reach, measured once in about a tenth of a second."""
    a, b = np.ones((2048, 500), np.float32), np.ones((500, 97), np.float32)
    best = math.inf
    for _ in range(6):
        began = time.perf_counter()
        a @ b
        best = min(best, time.perf_counter() - began)
    return EFFICIENCY * 2 * a.size * b.shape[1] / best
