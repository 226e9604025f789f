"""The phrases of a judge's conditions, read off its source: also those that it stops before asking."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from modgrok.text import count

FORMS = {
    "that": "{}",
    "lower": "{}, beyond what equal runs differ by (rank test, P ≤ 5 %; else undecided)",
    "remark": "remark unless {}",
    "possible": "undecided unless {}",
}
"""Methods of `Ask` that state a condition by a phrase, and how each enters a threshold."""
BUDGETS = {
    "event": "{} of {} or more to fail",
    "never": "{} of {} or more to hold",
    "effect": "{} of {} or more to decide",
}
"""Likewise `Ask.budget`: what fewer steps, seeds, … leave undecided."""


def unasked(judge: Callable[..., Any], asked: Sequence[str]) -> list[str]:
    """Phrases of conditions that a judge did not come to ask."""
    patterns = {phrase: re.escape(phrase).replace("…", ".*") for phrase in phrases_of(judge)}
    return [phrase for phrase, pattern in patterns.items() if not any(re.fullmatch(pattern, one) for one in asked)]


def phrases_of(judge: Callable[..., Any], given: Mapping[str, Any] | None = None) -> list[str]:
    """Of all conditions, in the order of the source, also those of the functions that it calls with its `ask`; … stands
    for what only a table can tell."""
    judge = inspect.unwrap(judge)  # which tests wrap to check the shapes of its arguments
    tree = ast.parse(textwrap.dedent(inspect.getsource(judge)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    known = judge.__globals__ | dict(given or {})
    found: list[str] = []
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        match call.func:
            case ast.Attribute(ast.Name("ask"), "budget"):
                least = {one.arg: _value(one.value, known) for one in call.keywords}
                form = BUDGETS[least.pop("of", "event")]
                texts = {name: n if n == "…" else count(int(n)) for name, n in least.items()}
                found += [form.format(name, text) for name, text in texts.items()]
            case ast.Attribute(ast.Name("ask"), method) if method in FORMS:
                found.append(FORMS[method].format(_value(call.args[0], known)))
            case ast.Name(name) if isinstance(helper := known.get(name), FunctionType):
                names = inspect.signature(helper).parameters
                arguments = (_value(argument, known) for argument in call.args)
                found += phrases_of(helper, dict(zip(names, arguments, strict=False))) if "ask" in names else []
    return found


def _value(of: ast.expr, known: Mapping[str, Any]) -> Any:
    """What an expression stands for, where the source tells."""
    match of:
        case ast.Constant(value):
            return value
        case ast.Name(name) if not callable(known.get(name)):
            return known.get(name, "…")
        case ast.JoinedStr(parts):
            return "".join(_value(part, known) for part in parts)
        case ast.FormattedValue(value=part, format_spec=form):
            value = _value(part, known)
            return value if value == "…" else format(value, _value(form, known) if form else "")
    return "…"
