"""`modgrok solve`: the weights that compute a modular function, written down, scored on the whole table, and saved."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from modgrok.closed_form import Attempt, least_width, solve, usual_form
from modgrok.commands.arguments import Printed, check_output, err, facts, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.experiments.stored_json import finite
from modgrok.measures import average_ipr, frequency_power
from modgrok.networks import Network, score_table
from modgrok.shapes import Float
from modgrok.tasks import Task, reads_modulus, usual_modulus
from modgrok.tasks import task as find_task
from modgrok.text import number, percent

COLUMNS = 64
"""Width of the picture of the spectrum."""
BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Solve(Printed):
    """Write down the weights that compute a modular function or a product in a group, and score them on all inputs."""

    expression: Annotated[str, Positional("EXPR")]
    """The function: an expression such as "n^2 + m^2", a name of the catalog, group:S5, or a .npy or .csv
    table."""
    modulus: int | None = None
    """The modulus p, prime or not; by default 97."""
    form: Literal["waves", "exact", "complex", "few", "minimal"] | None = None
    """waves: random phases (random vectors on noncyclic groups); exact: zero loss; complex: complex weights; few: two
    or three neurons that answer every sum; minimal: the smallest exact network that a search finds in a minute
    (p ≤ 13). Without it: few for width 2 or 3, exact where that exists and no width is given, otherwise waves."""
    width: int | None = None
    """Number of hidden neurons; 500 for two variables by default. The exact form fixes it."""
    branches: Literal["all", "one"] = "all"
    """Where several sums have the same answer, read out all of them, or only one, as in the paper."""
    frequencies: tuple[int, ...] | None = None
    """The frequencies to use, for example 1 5 12; on a group, the numbers of the representations that classify lists.
    All of them by default."""
    constant: bool = False
    """Add frequency 0 to random phases, so that the loss tends to 0 as the width grows."""
    activation: str | None = None
    """quadratic, relu, gelu, abs, tanh, silu or x^d on the same weights; x^S for S variables by default."""
    parametrization: Literal["mean-field", "standard"] = "mean-field"
    """Prefactors of the layers: the paper's (mean-field) or none (standard)."""
    seed: int = 0
    """Seed of the random phases."""
    save: Path | None = None
    """Write the network to this .safetensors file."""


def main(argv: list[str]) -> None:
    """Solve, score, save, print."""
    arguments = parse(Solve, "solve", argv)
    check_output(arguments.save, ".safetensors")
    task = find_task(arguments.expression, usual_modulus(arguments.expression, arguments.modulus))
    form = arguments.form or usual_form(task, arguments.width)
    names = ("width", "branches", "frequencies", "constant", "activation", "parametrization", "seed")
    options: dict[str, Any] = {name: getattr(arguments, name) for name in names}
    network = solve(task, form=form, **options, report=_report)
    result = _describe(task, network, arguments, form)
    if arguments.save is not None:
        network.save(arguments.save, result)
    if arguments.json:
        print_json(result)
    else:
        _show(task, network, result, arguments.save)


def _report(attempt: Attempt) -> None:
    """One line on stderr after every start of a search, written over the one before in a terminal."""
    text = f"width {attempt.width}: start {attempt.starts}, least sum of squared errors {number(attempt.loss)}"
    if attempt.exact:
        err.print(f"{text}, exact")
    elif err.is_terminal:
        err.print(text, end="\r")


def _describe(task: Task, network: Network, arguments: Solve, form: str) -> dict[str, Any]:
    """The settings that reproduce the network, and how well it does."""
    score = score_table(network, task.table)
    found = {
        "expression": task.name,
        "modulus": task.modulus,
        "structure": task.structure.kind,
        "group": task.structure.group or None,
        "form": form,
        "width": network.width,
        "branches": arguments.branches,
        "frequencies": None if arguments.frequencies is None else list(arguments.frequencies),
        "constant": arguments.constant,
        "activation": network.activation,
        "parametrization": network.parametrization,
        "seed": arguments.seed,
        "accuracy": score.accuracy,
        "loss": finite(score.loss),
    }
    if task.structure.coordinate is not None:
        found["ipr"] = finite(average_ipr(network.w_in).mean)
        found["ipr_in_coordinate"] = finite(average_ipr(network.w_in, task.structure.coordinate).mean)
    return found


def _show(task: Task, network: Network, result: dict[str, Any], saved: Path | None) -> None:
    modulus = f" mod {task.modulus}" if reads_modulus(task.name) else ""
    least = f", at least {least_width(task)} for an exact network" if result["form"] == "minimal" else ""
    rows = {
        "structure": f"{task.structure.kind.replace('_', ' ')}: {task.structure.reason}",
        "form": f"{result['form']}, activation {network.activation}, {network.parametrization}",
        "width": f"{network.width}{least}",
        "accuracy": percent(result["accuracy"], 2),
        "loss (MSE)": number(result["loss"]),
    }
    if (coordinate := task.structure.coordinate) is not None:
        rows["IPR"] = f"{number(result['ipr'])} ({number(result['ipr_in_coordinate'])} in the task's coordinate)"
    out.print(facts(rows, f"{task.name}{modulus}"))
    if coordinate is not None:
        power = frequency_power(network.w_in, coordinate)
        out.print(f"power of the input weights at frequencies 0 to {len(power) - 1} of the task's coordinate")
        out.print(f"│{sparkline(power)}│")
    if saved is not None:
        out.print(f"Network: {saved}")


def sparkline(values: Float[np.ndarray, "k"]) -> str:
    """One bar for each value, or for the largest of neighboring values where there are more than fit a line."""
    groups = np.array_split(values, min(len(values), COLUMNS))
    heights = np.array([group.max() for group in groups])
    top = heights.max()
    levels = np.zeros(len(heights), dtype=int) if top <= 0 else np.ceil(heights / top * 8 - 1e-6).astype(int)
    return "".join(BARS[level] for level in levels)
