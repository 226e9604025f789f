"""The task that an experiment names: an expression, a name of the catalog, a table's file, or a table of a store."""

import dataclasses
import hashlib
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

from modgrok.errors import ModgrokError, Unknown
from modgrok.experiments.user_code import UNKNOWN, family_code
from modgrok.tasks import Task, task
from modgrok.tasks.families.family import family_of
from modgrok.tasks.families.files import SUFFIXES

TABLE = "table:"
"""Prefix of the name of a task whose table came from a file; the hash of the table follows."""
ANSWERS = "-q"
"""Separates the hash of a table that is no function on Z_p from its number of answers."""
TASK_BYTES = 1 << 28
"""Size of the cache of tables."""
_TASKS: OrderedDict[Any, Task] = OrderedDict()
"""The tasks used last, `TASK_BYTES` of tables at most."""
_TASKS_LOCK = Lock()


def load_task(text: str, modulus: int | None, tables: Path | None, settings: tuple[tuple[str, Any], ...] = ()) -> Task:
    """The task of that name, with the settings of its family; tables from files are stored in the folder `tables`
    under their hash."""
    if text.startswith(TABLE):
        if tables is None:
            raise ModgrokError(f"The task {text} is a table that only its store knows.")
        return _stored(text, modulus, tables / f"{text.removeprefix(TABLE)}.npy")
    written = _written(Path(text)) if is_table_file(text) else None
    return _cached(text, modulus, written, settings, code=family_code(family_of(text)))


def _stored(text: str, modulus: int | None, path: Path) -> Task:
    _, _, answers = path.stem.partition(ANSWERS)
    found = _cached(str(path), modulus, _written(path), answers=int(answers) if answers.isdecimal() else None)
    if (name := given_name(path)) is not None:
        found = dataclasses.replace(found, name=name)
    if table_name(found) != text:
        raise ModgrokError(f"{path} does not hold the table that its name says; train from the table's own file.")
    return found


def task_name(text: str, tables: Path) -> str:
    """What a task is called: a table of a store by the name it was given, or `table:` and its hash; all else by its
    text."""
    name = f"{text.removeprefix(TABLE)}.npy" if text.startswith(TABLE) else Path(text).name
    if not text.startswith(TABLE) and Path(text) != tables / name:
        return text
    return given_name(tables / name) or f"{TABLE}{Path(name).stem}"


def given_name(table: Path) -> str | None:
    """The name that a person gave to a table of a store; None without one."""
    try:
        return table.with_suffix(".txt").read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def require_known(text: Any) -> None:
    """Raises where nothing that is registered reads a task of this name."""
    if isinstance(text, str) and not text.startswith(TABLE) and family_of(text) is None:
        raise Unknown(f"Nothing is registered that reads the task {text!r}.", f"task {text!r}")


def group_order(text: str, found: Task) -> int:
    """The order of the group in which a task is a product; 0 where it is none."""
    return found.answers if text.lower().startswith("group:") else 0


def is_table_file(text: str) -> bool:
    """Whether a task's text is the path of a table rather than an expression or a name."""
    return text.strip().lower().endswith(SUFFIXES) and not text.strip().startswith("group:")


def table_name(found: Task) -> str:
    """The name of a table by its content; one that is no function on Z_p says how many answers it has."""
    assert found.table is not None
    if found.is_modular:
        shape, suffix = f"{found.modulus}^{found.arity}:", ""
    else:
        shape, suffix = f"{found.sizes}:", f"{ANSWERS}{found.answers}"
    return TABLE + hashlib.sha256(shape.encode() + found.table.tobytes()).hexdigest()[:16] + suffix


def _cached(
    text: str,
    modulus: int | None,
    written: int | None,
    settings: tuple[tuple[str, Any], ...] = (),
    answers: int | None = None,
    code: str = "",
) -> Task:
    """Runs of one task share its table and its structure; a file that was written anew is another task, and so is one
    of a family whose code was edited."""
    key = (text, modulus, written, settings, answers, code)
    with _TASKS_LOCK:
        if key in _TASKS and not code.endswith(UNKNOWN):
            _TASKS.move_to_end(key)
            return _TASKS[key]
    found = task(text, modulus, **dict(settings))
    if answers is not None:
        found = Task.from_table(found.table, found.name, answers)
    with _TASKS_LOCK:
        _TASKS[key] = found
        while len(_TASKS) > 1 and sum(one.table.nbytes for one in _TASKS.values() if one.enumerable) > TASK_BYTES:
            _TASKS.popitem(last=False)
    return found


def _written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
