"""The phrases of a judge's conditions, read off its source: also those that it stops before asking."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from modgrok.text import count

BUDGET = "{} of {} or more to decide"
FORMS = {
    "that": "{}",
    "lower": "{}, beyond what equal runs differ by (rank test, P ≤ 5 %; else undecided)",
    "remark": "remark unless {}",
    "possible": "undecided unless {}",
    "budget": BUDGET,
}
"""Methods of `Ask` that state a condition, all but the last by a phrase, and how each enters a threshold."""


def unasked(judge: Callable[..., Any], asked: Sequence[str]) -> list[str]:
    """Phrases of conditions that a judge did not come to ask."""
    patterns = {phrase: re.escape(phrase).replace("…", ".*") for phrase in phrases_of(judge)}
    return [phrase for phrase, pattern in patterns.items() if not any(re.fullmatch(pattern, one) for one in asked)]


def phrases_of(judge: Callable[..., Any], given: Mapping[str, Any] | None = None) -> list[str]:
    """Of all conditions, in the order of the source, also those of the functions that it calls with its `ask`; … stands
    for what only a table can tell."""
    judge = inspect.unwrap(judge)
    tree = ast.parse(textwrap.dedent(inspect.getsource(judge)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    known = judge.__globals__ | dict(given or {})
    found: list[str] = []
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        helper = known.get(call.func.id) if isinstance(call.func, ast.Name) else None
        form = _form(call.func)
        if form == BUDGET:
            least = {str(one.arg): _text(one.value, known) for one in call.keywords if one.arg != "of"}
            found += [form.format(name, count(int(n)) if n.isdigit() else n) for name, n in least.items()]
        elif form:
            found.append(form.format(_text(call.args[0], known)))
        elif isinstance(helper, FunctionType) and "ask" in (names := inspect.signature(helper).parameters):
            arguments = (_text(a, known) if isinstance(a, ast.JoinedStr) else _value(a, known) for a in call.args)
            found += phrases_of(helper, dict(zip(names, arguments, strict=False)))
    return found


def _form(method: ast.expr) -> str:
    if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Name) or method.value.id != "ask":
        return ""
    return FORMS.get(method.attr, "")


def _text(phrase: ast.expr, known: Mapping[str, Any]) -> str:
    if isinstance(phrase, ast.JoinedStr):
        return "".join(_text(part, known) for part in phrase.values)
    if isinstance(phrase, ast.FormattedValue):
        value = _value(phrase.value, known)
        return value if value == "…" else format(value, _text(phrase.format_spec, known) if phrase.format_spec else "")
    return str(_value(phrase, known))


def _value(of: ast.expr, known: Mapping[str, Any]) -> Any:
    """What a name or a constant stands for, where the source tells."""
    value = known.get(of.id, "…") if isinstance(of, ast.Name) else of.value if isinstance(of, ast.Constant) else "…"
    return "…" if callable(value) else value
