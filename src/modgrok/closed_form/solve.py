"""The weights that compute a task, written down instead of trained."""

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from modgrok.closed_form.exact import MOST_VARIABLES, exact_layers, exact_width
from modgrok.closed_form.few import WIDTHS, few_layers, has_few
from modgrok.closed_form.frequencies import Branches, chosen_frequencies
from modgrok.closed_form.interference import noise
from modgrok.closed_form.matrices import Layers, as_network
from modgrok.closed_form.matrix_coefficients import coefficient_layers, vector_layers
from modgrok.closed_form.minimal import Attempt, least_width, smallest_exact
from modgrok.closed_form.random_phases import other_neurons, wave_layers
from modgrok.errors import ModgrokError
from modgrok.networks import Network
from modgrok.networks.activation import activation as check_activation
from modgrok.networks.activation import activation_name
from modgrok.tasks.basis import Basis
from modgrok.tasks.structure.verdict import Structure
from modgrok.tasks.task import Task

Form = Literal["waves", "exact", "complex", "few", "minimal"]

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
    r"""A network whose output approximates the one-hot answer (`waves`, `complex`), is it, or is largest at it (`few`).

    - `waves`: the paper's random phases; the error falls as the width grows, to 0 with `constant`, the frequency 0.
      For groups that are not cyclic random vectors, `constant` being the trivial representation.
    - `exact`: chosen phases, or matrix coefficients; its width follows from the task and the frequencies.
    - `complex`: random phases on complex weights (Appendix A).
    - `few`: two or three neurons for sums.
    - `minimal`: the smallest exact network that a search of a minute finds, for two variables and p ≤ 13; `report`
      hears of its best after every start. The exact form where it finds none that is smaller.

    `frequencies` are the numbers of representations where the group is not cyclic. `activation` is $x^S$ for S
    variables unless another is put on the same weights (Appendix B), and `seed` fixes what is random. The width of a
    product whose arguments can be zero includes the S + 1 neurons that count zeros.
    """
    basis = _basis(task, form)
    _check_choice("form", form, get_args(Form))
    _check_choice("choice of branches", branches, get_args(Branches))
    natural = natural_activation(task.arity)
    activation = None if activation is None else activation_name(activation)
    check_activation(activation or natural)
    width, seed = None if width is None else _whole("width", width), _whole("seed", seed)
    if seed < 0:
        raise ModgrokError(f"seed must be 0 or larger, not {seed}.")
    if constant and form not in ("waves", "complex"):
        why = "has no room for it" if form == "few" else "has it anyway"
        raise ModgrokError(f"The frequency 0 is an option of random phases; the form {form} {why}.")
    if form in ("minimal", "few") and (
        frequencies is not None or branches == "one" or activation not in (None, natural)
    ):
        raise ModgrokError(
            f"The form {form} has no frequencies, branches or activation to choose; leave them out, or use another."
        )
    if form == "few":
        layers = few_layers(basis, WIDTHS[0] if width is None else width)
    elif form == "minimal":
        layers = _smallest_layers(task, basis, width, seed, report)
    elif form == "exact":
        layers = _exact_layers(task, basis, width, frequencies, branches)
    else:
        width = default_width(form, task) if width is None else width
        _check_size(task, width, 16 if form == "complex" else 8)
        rng = np.random.default_rng(seed)
        if basis.is_cyclic:
            smallest = 1 + other_neurons(basis, constant)
            if width < smallest:
                raise ModgrokError(f"width must be at least {smallest} for this task, not {width}.")
            chosen = chosen_frequencies(basis.length, frequencies)
            layers = wave_layers(basis, chosen, width, branches, rng, form == "complex", constant)
        else:
            layers = vector_layers(basis, frequencies, width, branches, rng, constant)
    precision = np.result_type(dtype, np.complex64) if form == "complex" else np.dtype(dtype)
    return as_network(layers, activation or natural, parametrization, precision)


def _whole(name: str, given: Any) -> int:
    try:
        return operator.index(given)
    except TypeError:
        raise ModgrokError(f"{name} must be a whole number, not {given!r}.") from None


def available(structure: Structure, arity: int) -> tuple[str, ...]:
    """Names of the closed forms that a structure admits; `minimal`, a search, and `few` are not among them."""
    if structure.basis is None:
        return ()
    if structure.basis.is_cyclic:
        return ("waves", "exact", "complex") if arity <= MOST_VARIABLES else ("waves", "complex")
    return ("waves", "exact") if structure.product is not None else ("exact",)


def usual_form(task: Task, width: int | None) -> Form:
    """What is written down where nobody names a form: the exact one where there is one and no width is given, a few
    neurons where these are the width."""
    if width in WIDTHS and has_few(task.structure.basis):
        return "few"
    exact = width is None and "exact" in available(task.structure, task.arity)
    return "exact" if exact else "waves"


def natural_activation(arity: int) -> str:
    r"""$x^S$, the activation for which the closed forms are derived."""
    return "quadratic" if arity == 2 else f"x^{arity}"


def default_width(form: str, task: Task) -> int:
    """Of random phases 500, the paper's, for two variables; more for several, so that what they leave is as small. Of
    random vectors four times the width of the exact form, which is that of all forms that need a certain one."""
    basis = task.structure.basis
    if basis is not None and (form == "exact" or not basis.is_cyclic):
        return exact_width(basis) * (4 if form == "waves" else 1)
    if form == "complex" or task.arity <= 2:
        return 500
    return math.ceil(500 * noise(task.arity) / noise(2))


def widths(task: Task) -> dict[str, int]:
    """For each closed form the width it has unless another is asked for."""
    forms = available(task.structure, task.arity)
    return {form: default_width(form, task) for form in forms}


def _basis(task: Task, form: str) -> Basis:
    structure = task.structure
    if structure.basis is None:
        raise NoClosedForm(
            f"No closed form is known for {task.name} mod {task.modulus}, whose structure is "
            f"{structure.kind.replace('_', ' ')} ({structure.reason.rstrip('.')}): weights can be written down for "
            f"F(f1(n) ∘ f2(m)) with ∘ the sum or the product modulo any number or a group's, for powers, roots and "
            f"logarithms."
        )
    if not structure.basis.is_cyclic and form in ("waves", "complex") and form not in available(structure, task.arity):
        raise NoClosedForm(f"{task.name} has no closed form {form}; it has the forms exact and minimal.")
    return structure.basis


def _smallest_layers(
    task: Task, basis: Basis, width: int | None, seed: int, report: Callable[[Attempt], None]
) -> Layers:
    known = exact_width(basis)
    searched = range(known - 1, least_width(task) - 1, -1) if width is None else [width]
    found = smallest_exact(task, searched, seed, report=report)
    if found is not None:
        return found.layers
    if width is not None:
        raise ModgrokError(
            f"The search found no exact network of width {width} for {task.name} mod {task.modulus}; at least "
            f"{least_width(task)} neurons are needed, and {known} are enough (the form exact)."
        )
    return _exact_layers(task, basis, None, None, "all")


def _exact_layers(
    task: Task, basis: Basis, width: int | None, frequencies: Sequence[int] | None, branches: Branches
) -> Layers:
    if task.arity > MOST_VARIABLES:
        raise ModgrokError(
            f"The exact form is known for at most {MOST_VARIABLES} variables, and this task has {task.arity}; "
            f"use the form waves."
        )
    waves = chosen_frequencies(basis.length, frequencies) if basis.is_cyclic else None
    needed = exact_width(basis, frequencies if waves is None else waves)
    if width not in (None, needed):
        raise ModgrokError(
            f"The exact form of this task has width {needed}, not {width}; leave the width out, or choose fewer "
            f"frequencies."
        )
    _check_size(task, needed)
    if waves is None:
        return coefficient_layers(basis, frequencies, branches)
    return exact_layers(basis, waves, branches)


def _check_size(task: Task, width: int, item: int = 8) -> None:
    size = item * width * task.modulus * (task.arity + 1)
    if size > LARGEST_BYTES:
        raise ModgrokError(
            f"Weights of width {width} at p = {task.modulus} would take {size >> 20} MiB, more than the "
            f"{LARGEST_BYTES >> 20} MiB allowed; choose a smaller width or fewer frequencies."
        )


def _check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ModgrokError(f"{what} must be one of {', '.join(choices)}, not {value!r}.")
