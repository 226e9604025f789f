"""The weights that compute a task, written down instead of trained."""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from jaxtyping import Int

from modgrok.closed_form.branches import Branches
from modgrok.closed_form.complex_network import complex_layers
from modgrok.closed_form.exact import MOST_VARIABLES, exact_layers, exact_width
from modgrok.closed_form.frequencies import chosen_frequencies
from modgrok.closed_form.layers import Layers, as_network, join
from modgrok.closed_form.waves import wave_layers
from modgrok.closed_form.zeros import answer_at_zero, by_zeros, has_zeros, neurons_for_zeros
from modgrok.errors import ModgrokError
from modgrok.networks import Network
from modgrok.networks.activation import activation as check_activation
from modgrok.tasks.structure.verdict import Coordinate, Structure
from modgrok.tasks.task import Task

Form = Literal["waves", "exact", "complex"]

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
    activation: str | None = None,
    parametrization: str = "mean-field",
    seed: int = 0,
    dtype: type[np.floating] = np.float64,
) -> Network:
    r"""A network whose output approximates the one-hot answer (`waves`, `complex`) or is it (`exact`).

    - `waves`: the paper's random phases; the error falls as the width grows.
    - `exact`: chosen phases; its width follows from the task and the frequencies.
    - `complex`: random phases on complex weights (Appendix A).

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
    chosen = chosen_frequencies(coordinate.length, frequencies)
    width = _checked_width(task, coordinate, form, width, chosen)
    layers = _layers(coordinate, form, width, branches, chosen, np.random.default_rng(seed))
    precision = np.result_type(dtype, np.complex64) if form == "complex" else np.dtype(dtype)
    return as_network(layers, activation or natural, parametrization, precision)


def available(structure: Structure, arity: int) -> tuple[str, ...]:
    """Names of the closed forms that a structure admits; none for a product modulo a composite number."""
    if structure.coordinate is None:
        return ()
    return tuple(form for form in get_args(Form) if form != "exact" or arity <= MOST_VARIABLES)


def natural_activation(arity: int) -> str:
    r"""$x^S$, the activation for which the closed forms are derived."""
    return "quadratic" if arity == 2 else f"x^{arity}"


def default_width(form: Form, arity: int) -> int:
    r"""500, the paper's, for two variables; more for several, since random phases average out more slowly.

    The waves that do not cancel have variance $\tfrac12(2S-1)!!\,(S/2)^S 4^S/(S!^2 N)$ beside a right answer of 1 (the
    hidden layer taken as Gaussian); the width keeps it at what it is for S = 2.
    """
    if form == "complex" or arity <= 2:
        return 500
    double_factorial = math.prod(range(1, 2 * arity, 2))
    variance = double_factorial * (arity / 2) ** arity * 4**arity / (2 * math.factorial(arity) ** 2)
    return math.ceil(500 * variance / 6)


def _coordinate(task: Task) -> Coordinate:
    structure = task.structure
    if structure.coordinate is not None:
        return structure.coordinate
    raise NoClosedForm(
        f"No closed form is known for {task.name} mod {task.modulus}, whose structure is "
        f"{structure.kind.replace('_', ' ')} ({structure.reason.rstrip('.')}): weights can be written down for "
        f"F(f1(n) + f2(m)) with any modulus and for F(g1(n)·g2(m)) with a prime one."
    )


def _layers(
    coordinate: Coordinate,
    form: Form,
    width: int,
    branches: Branches,
    frequencies: Int[np.ndarray, "k"],
    rng: np.random.Generator,
) -> Layers:
    if form == "exact":
        return exact_layers(coordinate, frequencies, branches)
    random_phases = wave_layers if form == "waves" else complex_layers
    if not has_zeros(coordinate):
        return random_phases(coordinate, frequencies, width, branches, rng)
    waves = random_phases(coordinate, frequencies, width - neurons_for_zeros(coordinate), branches, rng)
    return join(waves, by_zeros(coordinate, answer_at_zero(coordinate, len(coordinate.index[0]))))


def _checked_width(
    task: Task, coordinate: Coordinate, form: Form, width: int | None, frequencies: Int[np.ndarray, "k"]
) -> int:
    if form == "exact":
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
        width = needed
    elif width is None:
        width = default_width(form, task.arity)
    smallest = 1 + (neurons_for_zeros(coordinate) if has_zeros(coordinate) else 0)
    if form != "exact" and width < smallest:
        raise ModgrokError(f"The width has to be at least {smallest} for this task, not {width}.")
    size = 8 * (2 if form == "complex" else 1) * width * task.modulus * (task.arity + 1)
    if size > LARGEST_BYTES:
        raise ModgrokError(
            f"Weights of width {width} at p = {task.modulus} would take {size >> 20} MiB, more than the "
            f"{LARGEST_BYTES >> 20} MiB allowed; choose a smaller width or fewer frequencies."
        )
    return width


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ModgrokError(f"The {what} is one of {', '.join(choices)}, not {value!r}.")
