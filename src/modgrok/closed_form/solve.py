"""The weights that compute a task, written down instead of trained."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, get_args

import numpy as np

from modgrok.closed_form.exact import MOST_VARIABLES, exact_layers, exact_width
from modgrok.closed_form.frequencies import Branches, chosen_frequencies
from modgrok.closed_form.interference import noise
from modgrok.closed_form.matrices import Layers, as_network
from modgrok.closed_form.minimal import Attempt, least_width, smallest_exact
from modgrok.closed_form.random_phases import other_neurons, wave_layers
from modgrok.errors import ModgrokError
from modgrok.networks import Network
from modgrok.networks.activation import activation as check_activation
from modgrok.shapes import Int
from modgrok.tasks.basis import Basis
from modgrok.tasks.structure.verdict import Structure
from modgrok.tasks.task import Task

Form = Literal["waves", "exact", "complex", "minimal"]

LARGEST_BYTES = 1 << 29
"""Weights beyond this size are refused."""


class NoClosedForm(ModgrokError):
    """The task decomposes in no way for which weights are known."""


def solve(
    task: Task,
    form: Form = "waves",
    width: int | None = None,
    branches: Branches = "all",
    frequencies: Sequence[int] | None = None,
    constant: bool = False,
    activation: str | None = None,
    parametrization: str = "mean-field",
    seed: int = 0,
    dtype: type[np.floating] = np.float64,
    report: Callable[[Attempt], None] = lambda attempt: None,
) -> Network:
    r"""A network whose output approximates the one-hot answer (`waves`, `complex`) or is it (`exact`, `minimal`).

    - `waves`: the paper's random phases; the error falls as the width grows, to 0 with `constant`, the frequency 0.
    - `exact`: chosen phases; its width follows from the task and the frequencies.
    - `complex`: random phases on complex weights (Appendix A).
    - `minimal`: the smallest exact network that a search of a minute finds, for two variables and p ≤ 13; `report`
      hears of its best after every start. The exact form where it finds none that is smaller.

    `activation` is $x^S$ for S variables unless another is put on the same weights (Appendix B), and `seed` fixes the
    random phases. The width of a product whose arguments can be zero includes the S + 1 neurons that count zeros.
    """
    coordinate = _coordinate(task)
    _check_choice("form", form, get_args(Form))
    _check_choice("choice of branches", branches, get_args(Branches))
    natural = natural_activation(task.arity)
    check_activation(natural if activation is None else activation)
    if seed < 0:
        raise ModgrokError(f"A seed is 0 or larger, not {seed}.")
    if constant and form in ("exact", "minimal"):
        raise ModgrokError(f"The frequency 0 is an option of random phases; the form {form} has it anyway.")
    if form == "minimal" and (frequencies is not None or branches == "one" or activation not in (None, natural)):
        raise ModgrokError(
            "The smallest exact network has no frequencies, branches or activation to choose; leave them out, or use "
            "another form."
        )
    chosen = chosen_frequencies(coordinate.length, frequencies)
    if form == "minimal":
        layers = _smallest_layers(task, coordinate, width, seed, report)
    elif form == "exact":
        _check_exact(task, coordinate, width, chosen)
        layers = exact_layers(coordinate, chosen, branches)
    else:
        width = default_width(form, task.arity) if width is None else width
        _check_width(task, coordinate, width, constant, 16 if form == "complex" else 8)
        rng = np.random.default_rng(seed)
        layers = wave_layers(coordinate, chosen, width, branches, rng, form == "complex", constant)
    precision = np.result_type(dtype, np.complex64) if form == "complex" else np.dtype(dtype)
    return as_network(layers, activation or natural, parametrization, precision)


def available(structure: Structure, arity: int) -> tuple[str, ...]:
    """Names of the closed forms that a structure admits; none for a product modulo a composite number.

    `minimal`, a search, is not among them.
    """
    if structure.coordinate is None:
        return ()
    return ("waves", "exact", "complex") if arity <= MOST_VARIABLES else ("waves", "complex")


def usual_form(task: Task, width: int | None) -> Form:
    """What is written down where nobody names a form: the exact one where there is one and no width is given."""
    exact = width is None and "exact" in available(task.structure, task.arity)
    return "exact" if exact else "waves"


def natural_activation(arity: int) -> str:
    r"""$x^S$, the activation for which the closed forms are derived."""
    return "quadratic" if arity == 2 else f"x^{arity}"


def default_width(form: Form, arity: int) -> int:
    """500, the paper's, for two variables; more for several, so that what random phases leave is as small."""
    if form == "complex" or arity <= 2:
        return 500
    return math.ceil(500 * noise(arity) / noise(2))


def _coordinate(task: Task) -> Basis:
    structure = task.structure
    if structure.coordinate is not None:
        return structure.coordinate
    raise NoClosedForm(
        f"No closed form is known for {task.name} mod {task.modulus}, whose structure is "
        f"{structure.kind.replace('_', ' ')} ({structure.reason.rstrip('.')}): weights can be written down for "
        f"F(f1(n) + f2(m)) with any modulus and for F(g1(n)·g2(m)) with a prime one."
    )


def _smallest_layers(
    task: Task, coordinate: Basis, width: int | None, seed: int, report: Callable[[Attempt], None]
) -> Layers:
    known = exact_width(coordinate)
    widths = range(known - 1, least_width(task) - 1, -1) if width is None else [width]
    found = smallest_exact(task, widths, seed, report=report)
    if found is not None:
        return found.layers
    if width is not None:
        raise ModgrokError(
            f"The search found no exact network of width {width} for {task.name} mod {task.modulus}; at least "
            f"{least_width(task)} neurons are needed, and {known} are enough (the form exact)."
        )
    return exact_layers(coordinate, chosen_frequencies(coordinate.length, None), "all")


def _check_exact(task: Task, coordinate: Basis, width: int | None, frequencies: Int[np.ndarray, "k"]) -> None:
    if task.arity > MOST_VARIABLES:
        raise ModgrokError(
            f"The exact form is known for at most {MOST_VARIABLES} variables, and this task has {task.arity}; "
            f"use the form waves."
        )
    needed = exact_width(coordinate, frequencies)
    if width not in (None, needed):
        raise ModgrokError(
            f"The exact form of this task has width {needed}, not {width}; leave the width out, or choose fewer "
            f"frequencies."
        )
    _check_size(task, needed)


def _check_width(task: Task, coordinate: Basis, width: int, constant: bool, item: int) -> None:
    smallest = 1 + other_neurons(coordinate, constant)
    if width < smallest:
        raise ModgrokError(f"The width has to be at least {smallest} for this task, not {width}.")
    _check_size(task, width, item)


def _check_size(task: Task, width: int, item: int = 8) -> None:
    size = item * width * task.modulus * (task.arity + 1)
    if size > LARGEST_BYTES:
        raise ModgrokError(
            f"Weights of width {width} at p = {task.modulus} would take {size >> 20} MiB, more than the "
            f"{LARGEST_BYTES >> 20} MiB allowed; choose a smaller width or fewer frequencies."
        )


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ModgrokError(f"The {what} is one of {', '.join(choices)}, not {value!r}.")
