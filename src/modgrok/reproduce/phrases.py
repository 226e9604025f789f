"""The phrases of a judge's conditions, read off its source: also those that it stops before asking."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

FORMS = {
    "that": "{}",
    "lower": "{}, beyond what equal runs differ by (rank test, P ≤ 5 %; else undecided)",
    "remark": "remark unless {}",
    "possible": "undecided unless {}",
}
"""Methods of `Ask` whose first argument is a phrase, and how each enters a threshold."""


def unasked(judge: Callable[..., Any], asked: Sequence[str]) -> list[str]:
    """Phrases of conditions that a judge did not come to ask."""
    patterns = {phrase: re.escape(phrase).replace("…", ".*") for phrase in phrases_of(judge)}
    return [phrase for phrase, pattern in patterns.items() if not any(re.fullmatch(pattern, one) for one in asked)]


def phrases_of(judge: Callable[..., Any]) -> list[str]:
    """Of all conditions, in the order of the source; … stands for what only a table can tell."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(judge)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _form(node.func)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    return [_form(call.func).format(_text(call.args[0], judge.__globals__)) for call in calls]


def _form(method: ast.expr) -> str:
    if not isinstance(method, ast.Attribute) or not isinstance(method.value, ast.Name) or method.value.id != "ask":
        return ""
    return FORMS.get(method.attr, "")


def _text(phrase: ast.expr, constants: dict[str, Any]) -> str:
    if isinstance(phrase, ast.JoinedStr):
        return "".join(_text(part, constants) for part in phrase.values)
    if isinstance(phrase, ast.FormattedValue) and isinstance(phrase.value, ast.Name):
        form = _text(phrase.format_spec, constants) if phrase.format_spec else ""
        return format(constants[phrase.value.id], form) if phrase.value.id in constants else "…"
    return str(phrase.value) if isinstance(phrase, ast.Constant) else "…"
