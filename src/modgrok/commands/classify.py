"""`modgrok classify`: how a modular function decomposes, its witnesses, and the closed forms it admits."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import tyro
from rich.table import Table
from rich.text import Text

from modgrok.closed_form import available, default_width, exact_width
from modgrok.closed_form.frequencies import independent_frequencies
from modgrok.commands.arguments import out, parse, print_json
from modgrok.shapes import Bool, Int
from modgrok.tasks import HOLE, Task, reads_modulus, task, usual_modulus
from modgrok.tasks.polynomial import spell
from modgrok.tasks.task import variable_names

FIRST_VALUES = 12
"""How many values of a witness are shown where no short polynomial spells it."""


@dataclass(frozen=True)
class Classify:
    """Say which closed form a modular function admits, found from its table and not from how it is spelt."""

    expression: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="EXPR")]
    """The function: an expression such as "n^2 + m^2", a name of the catalogue, group:S5, random:SEED, a .npy or .csv
    table."""
    modulus: int | None = None
    """p, prime or not, for tasks that leave it open; by default 97."""
    json: bool = False
    """Print one JSON object instead of tables."""


def main(argv: list[str]) -> None:
    """Find the structure, print it."""
    arguments = parse(Classify, "classify", argv)
    found = task(arguments.expression, usual_modulus(arguments.expression, arguments.modulus))
    if arguments.json:
        print_json(_describe(found))
    else:
        _show(found)


def _describe(found: Task) -> dict[str, Any]:
    """The verdict with its witnesses as lists over Z_p; null for those it does not have."""
    structure = found.structure
    parts = {f"f{s + 1}": part.tolist() for s, part in enumerate(structure.parts)}
    return {
        "expression": found.name,
        "modulus": found.modulus if found.is_modular else None,
        "arity": found.arity,
        "holes": found.holes,
        "structure": structure.kind,
        "reason": structure.reason,
        **{"f1": None, "f2": None, **parts},
        "F": None if structure.outer is None else structure.outer.tolist(),
        "closed_forms": list(available(structure, found.arity)),
        "widths": _widths(found),
    }


def _widths(found: Task) -> dict[str, int]:
    """For each closed form the width it has unless another is asked for."""
    coordinate, forms = found.structure.coordinate, available(found.structure, found.arity)
    widths: dict[str, int] = {}
    if "waves" in forms:
        widths["waves"] = default_width("waves", found.arity)
    if "exact" in forms and coordinate is not None:
        widths["exact"] = exact_width(coordinate, independent_frequencies(coordinate.length))
    if "complex" in forms:
        widths["complex"] = default_width("complex", found.arity)
    return widths


def _show(found: Task) -> None:
    structure = found.structure
    modulus = f" mod {found.modulus}" if reads_modulus(found.name) else ""
    out.print(Text(f"{found.name}{modulus}: {structure.kind.replace('_', ' ')}", style="bold"))
    out.print(Text(structure.reason))
    if found.note:
        out.print(Text(found.note))
    if structure.known:
        out.print()
        out.print(_witnesses(found))
    widths = _widths(found)
    out.print()
    if not widths:
        why = "a product has one modulo a prime only" if structure.is_product else "none is known for such a function"
        out.print(Text(f"No closed form: {why}."))
        return
    forms = Table("closed form", "width", title_justify="left")
    for form, width in widths.items():
        forms.add_row(form, f"{width}, exact" if form == "exact" else f"any, {width} by default")
    out.print(forms)


def _witnesses(found: Task) -> Table:
    """f1, f2, … and F (g1, g2, … for products), as polynomials or one over them where short ones exist."""
    structure, names = found.structure, variable_names(found.arity)
    letter, sign = ("g", "·") if structure.is_product else ("f", " + ")
    heads = [f"{letter}{s + 1}({name})" for s, name in enumerate(names)]
    inside = sign.join(heads)
    table = Table(show_header=False, box=None, padding=(0, 1, 0, 0))
    outer = structure.outer if structure.kind.startswith("function_of") else None
    table.add_row(f"T({', '.join(names)})", "=", inside if outer is None else f"F({inside})")
    for s, (head, name, part) in enumerate(zip(heads, names, structure.parts, strict=True)):
        table.add_row(head, "=", _reciprocal(part, name, _absent(found, s)) or _spelt(part, name))
    if outer is not None:
        table.add_row("F(x)", "=", _spelt(outer, "x"))
    return table


def _absent(found: Task, s: int) -> Bool[np.ndarray, "p"]:
    """Values of variable number s that occur in no input."""
    return (found.table == HOLE).all(axis=tuple(axis for axis in range(found.arity) if axis != s))


def _reciprocal(values: Int[np.ndarray, "p"], variable: str, absent: Bool[np.ndarray, "p"]) -> str | None:
    """Such as 1/m, of a function that is one over a polynomial wherever it has a value; None of any other."""
    if not absent.any():
        return None
    p = len(values)
    try:
        inverses = [0 if a else pow(int(v), -1, p) for v, a in zip(values, absent, strict=True)]
    except ValueError:
        return None
    found = spell(np.array(inverses), variable)
    return found and f"1/{found if '*' not in found and ' ' not in found else f'({found})'}"


def _spelt(values: Int[np.ndarray, "p"], variable: str) -> str:
    polynomial = spell(values, variable)
    if polynomial is not None:
        return polynomial
    more = " …" if len(values) > FIRST_VALUES else ""
    return f"{' '.join(str(value) for value in values[:FIRST_VALUES])}{more}  ({variable} = 0, 1, 2, …)"
