"""Families of tasks: how their texts look, and the task that any source describes."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError, Unknown
from modgrok.setting import Setting, require_settings
from modgrok.tasks.task import Task, whole_modulus

UNORDERED = ":unordered"
MODULUS = 97
"""p where none is given."""


@dataclass(frozen=True)
class Family:
    """Tasks that one kind of text describes."""

    name: str
    """The word before the colon, where its texts have one."""
    pattern: str
    """A regular expression that its texts match as a whole."""
    read: Callable[..., Task]
    """The task that a text describes; the second argument is the modulus, None where it was not given."""
    help: str
    """One line: how a text looks and what it means."""
    reads_modulus: bool = False
    """Whether the text leaves the modulus open."""
    settings: tuple[Setting, ...] = ()
    """Settings that its texts leave open, which `read` gets as keywords."""


FAMILIES: dict[str, Family] = {}
"""By name; of those whose pattern fits, the one that was registered last reads a text."""


def register(family: Family) -> Family:
    """Make a family known under its name, in place of one that had it before."""
    FAMILIES[family.name] = family
    return family


def task(source: Any, modulus: int | None = None, **settings: Any) -> Task:
    """Makes a task from a text, a callable, a table or a `Task`.

    A text belongs to a family: an expression or a name of the catalog (`n + m`, `addition`), `random:SEED`,
    `discrete:n^m`, `group:S5`, `parity:20,3`, `add:10`, a path that ends in .npy or .csv, or a family of your own. The
    suffix `:unordered` keeps one order of each input. Expressions, discrete functions, random tables and callables need
    a modulus; all others have their own, and a given modulus must match it. `settings` are those of the family.
    """
    p = None if modulus is None else whole_modulus(modulus)
    found = _find(source, p, settings)
    if p is not None and found.answers != p:
        if found.is_modular:
            raise ModgrokError(f"The table {found.name!r} is modulo {found.modulus}, not modulo {p}.")
        raise ModgrokError(
            f"modulus has no effect on {found.name!r}, which has {found.answers} answers; leave out {p}."
        )
    return found


def _find(source: Any, modulus: int | None, settings: dict[str, Any]) -> Task:
    if isinstance(source, Task):
        return source
    if isinstance(source, Path):
        return Task.from_file(source)
    if isinstance(source, str):
        return _from_text(source.strip(), modulus, settings)
    if callable(source):
        return Task.from_function(source, _required(modulus, str(getattr(source, "__name__", "A function"))))
    return Task.from_table(source)


def _from_text(text: str, modulus: int | None, settings: dict[str, Any]) -> Task:
    if text.endswith(UNORDERED):
        return _from_text(text.removesuffix(UNORDERED).rstrip(), modulus, settings).unordered()
    family = family_of(text)
    if family is not None:
        require_settings(f"The family {family.name}", settings, ["modulus", *(one.name for one in family.settings)])
        own = {one.name: one.default for one in family.settings} | settings
        return family.read(text, _required(modulus, text) if family.reads_modulus else modulus, **own)
    word = text.partition(":")[0]
    words = [family.name for family in FAMILIES.values() if family.pattern.startswith(f"{family.name}:")]
    close = get_close_matches(word.lower(), words, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(words)}."
    raise Unknown(f"There is no family of tasks called {word!r}; {hint}", f"task {text!r}")


FLAGS = re.DOTALL | re.IGNORECASE
"""Of the patterns of families."""


def family_of(text: str) -> Family | None:
    """The family that a text belongs to; None where there is none."""
    text = text.strip().removesuffix(UNORDERED).rstrip()
    fitting = (one for one in reversed(FAMILIES.values()) if re.fullmatch(one.pattern, text, FLAGS))
    return next(fitting, None)


def reads_modulus(text: str) -> bool:
    """Whether a task's text leaves the modulus open."""
    family = family_of(text)
    return family is not None and family.reads_modulus


def usual_modulus(source: Any, modulus: int | None = None) -> int | None:
    """The modulus given, or the usual one where a text leaves it open."""
    return MODULUS if modulus is None and isinstance(source, str) and reads_modulus(source) else modulus


def _required(modulus: int | None, what: str) -> int:
    if modulus is None:
        raise ModgrokError(f"{what!r} needs a modulus, such as --modulus 97 or task(…, 97).")
    return modulus
