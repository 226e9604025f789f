"""`modgrok classify`: how a function decomposes, its witnesses, and the closed forms it admits."""

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from rich.table import Table

from modgrok.closed_form import available, widths
from modgrok.closed_form.few import has_few
from modgrok.commands.arguments import Printed, new_table, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.shapes import Bool, Int
from modgrok.tasks import HOLE, Task, reads_modulus, task, usual_modulus
from modgrok.tasks.basis import Basis
from modgrok.tasks.basis.representation import FIELDS
from modgrok.tasks.polynomial import spell
from modgrok.tasks.structure.verdict import MOST_ELEMENTS, OPERATIONS
from modgrok.tasks.task import variable_names

FIRST_VALUES = 12
"""How many values of a witness are shown where no short polynomial spells it."""


@dataclass(frozen=True)
class Classify(Printed):
    """Find the structure of a function from its table alone: in which group it is a product, and its closed form."""

    expression: Annotated[str, Positional("EXPR")]
    """The function: an expression such as "n^2 + m^2", a name of the catalog, group:S5, random:SEED, a .npy or .csv
    table."""
    modulus: int | None = None
    """The modulus p, prime or not, for tasks that do not fix it; by default 97."""


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
        "group": structure.group or None,
        "reason": structure.reason,
        **{"f1": None, "f2": None, **parts},
        "F": None if structure.outer is None else structure.outer.tolist(),
        "representations": _representations(found),
        "closed_forms": list(available(structure, found.arity)),
        "widths": widths(found),
    }


def _show(found: Task) -> None:
    structure = found.structure
    modulus = f" mod {found.modulus}" if reads_modulus(found.name) else ""
    out.print(f"{found.name}{modulus}: {structure.kind.replace('_', ' ')}", style="bold")
    out.print(structure.reason)
    if found.note:
        out.print(found.note)
    if structure.known:
        out.print()
        out.print(_witnesses(found))
    known = widths(found)
    out.print()
    if not known:
        why = (
            f"it would need more than {MOST_ELEMENTS} functions"
            if structure.known
            else "none is known for such a function"
        )
        out.print(f"No closed form: {why}.")
        return
    if found.structure.basis is not None and not found.structure.basis.is_cyclic:
        out.print(_representation_table(found.structure.basis))
    forms = new_table("closed form", "width")
    for form, width in known.items():
        forms.add_row(form, f"{width}, exact" if form == "exact" else f"any, {width} by default")
    if has_few(found.structure.basis):
        forms.add_row("few", "2 or 3, right answers only")
    out.print(forms)


def _representations(found: Task) -> list[dict[str, Any]] | None:
    """Of a group that is not cyclic, or of products modulo a number; null for waves."""
    basis = found.structure.basis
    if basis is None or basis.is_cyclic:
        return None
    return [
        {"dimension": one.dimension, "type": FIELDS[one.type], "faithful": one.is_faithful, "neurons": one.neurons}
        for one in basis.representations
    ]


def _representation_table(basis: Basis) -> Table:
    """Representations of one dimension and type together, with the numbers that choose them."""
    table = new_table("representation", "dimension", "type", "faithful", "neurons each")
    kinds: dict[tuple[Any, ...], list[int]] = {}
    for k, one in enumerate(basis.representations):
        key = one.dimension, FIELDS[one.type], one.is_faithful, 1 if one.is_trivial else one.neurons
        kinds.setdefault(key, []).append(k)
    for (dimension, field, faithful, neurons), numbers in kinds.items():
        shown = ", ".join(map(str, numbers[:8])) + (" …" if len(numbers) > 8 else "")
        table.add_row(shown, str(dimension), field, "yes" if faithful else "no", str(neurons))
    return table


def _witnesses(found: Task) -> Table:
    """f1, f2, … and F (g1, g2, … for products), as polynomials or one over them where short ones exist."""
    structure, names = found.structure, variable_names(found.arity)
    letter, sign = ("g", "·") if structure.is_product else ("f", " + ")
    if structure.product is not None or structure.kind in OPERATIONS:
        letter, sign = ("f", " ∘ ") if structure.product is not None else ("g", " ^ ")
    heads = [f"{letter}{s + 1}({name})" for s, name in enumerate(names)]
    operands = heads[::-1] if structure.swapped else heads
    inside = sign.join(operands)
    if structure.kind == "root":
        inside = f"{operands[0]} ^ (1/{operands[1]}), the least root"
    elif structure.kind == "logarithm":
        inside = f"log of {operands[1]} to base {operands[0]}, the least exponent"
    table = new_table(box=None, padding=(0, 1, 0, 0))
    outer = structure.outer if structure.kind.startswith("function_of") else None
    table.add_row(f"T({', '.join(names)})", "=", inside if outer is None else f"F({inside})")
    for s, (head, name, part) in enumerate(zip(heads, names, structure.parts, strict=True)):
        table.add_row(head, "=", _reciprocal(part, name, _absent(found, s)) or _spelled(part, name))
    if outer is not None:
        table.add_row("F(x)", "=", _spelled(outer, "x"))
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


def _spelled(values: Int[np.ndarray, "p"], variable: str) -> str:
    polynomial = spell(values, variable) if values.max() < len(values) else None
    if polynomial is not None:
        return polynomial
    more = " …" if len(values) > FIRST_VALUES else ""
    return f"{' '.join(str(value) for value in values[:FIRST_VALUES])}{more}  ({variable} = 0, 1, 2, …)"
