"""The text of `--help`: what a command does, and its flags in groups, each with its default."""

import ast
import inspect
import shutil
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from modgrok.commands.flags import Flag, flags_of
from modgrok.setting import Setting, described

WIDEST = 100
NARROW = 70
"""Columns below which a flag's meaning begins on a line of its own."""
NAMES = 26
"""Columns of the names beside their meanings."""


GROUPS = {
    "task": "task modulus",
    "data": "fraction sampling examples test_examples train_on split_seed wrong_labels",
    "network": "network init_scale dropout parent",
    "optimizer": "optimizer lr weight_decay decoupled warmup lr_end decay_to hold_norm orthogonal update_noise "
    "weight_noise grokfast",
    "training": "steps until batch_size loss seed precision loss_precision",
    "measuring": "threshold evaluations refine snapshots record",
}
"""The settings of every experiment by what they are about; brought ones stand with what brings them."""
KINDS = {"grokfast": "optimizer", "loss": "training"}


def headings() -> dict[str, str]:
    """The heading of every setting, in the order of the groups."""
    from modgrok.experiments.experiment import known_settings  # Commands without settings do not wait for them.
    from modgrok.experiments.known_settings import brought

    own = {name: heading for heading, names in GROUPS.items() for name in names.split()}
    others = brought()
    found = {name: KINDS.get(kind := others.kind_of(name), kind) for name in others.settings}
    return own | {name: found.get(name, "training") for name in known_settings() if name not in own}


def help_text(arguments: Any, program: str, settings: Sequence[Setting]) -> str:
    """Usage, description and flags, those of an experiment's settings under headings of their own."""
    flags = flags_of(arguments, settings)
    about = textwrap.fill(" ".join((arguments.__doc__ or "").split()), _width())
    lines = [f"usage: {program} {_usage(flags)}", "", about]
    for heading, members in _grouped(flags, headings() if settings else {}).items():
        lines += ["", f"{heading}:"]
        for flag in members:
            name = flag.written if flag.positional or flag.setting.switch else f"{flag.written} {flag.metavar}"
            lines += _beside(name, meaning(flag))
    return "\n".join(lines)


def choices_text(commands: Mapping[str, type], command: str, about: str) -> str:
    """Usage and description of a command that has subcommands, with what each is for."""
    lines = [f"usage: modgrok {command} COMMAND [options]", "", about, ""]
    for name, kind in commands.items():
        lines += _beside(name, " ".join((kind.__doc__ or "").split()).partition(". ")[0].rstrip("."))
    return "\n".join(lines)


def meaning(flag: Flag) -> str:
    """What a flag is for, and its default."""
    help = flag.setting.help if flag.owner is None else _documented(flag.owner).get(flag.name, flag.setting.help)
    text, default = described(" ".join(help.split()), flag.setting.default)
    return f"{text} (default: {default})" if default else text


def _usage(flags: list[Flag]) -> str:
    shown = [f"[{flag.written}]" if not flag.required else flag.written for flag in flags if flag.positional]
    return " ".join([*(text.replace("[[", "[").replace("]]", "]") for text in shown), "[options]"])


def _grouped(flags: list[Flag], groups: Mapping[str, str]) -> dict[str, list[Flag]]:
    """Flags by heading: that of a setting, what a nested dataclass says of itself, or options."""
    found: dict[str, list[Flag]] = {heading: [] for heading in dict.fromkeys(groups.values())}
    for flag in flags:
        heading = groups.get(flag.name) or ("options" if len(flag.path) == 1 else _heading(flag.owner))
        found.setdefault(heading, []).append(flag)
    ordered = {heading: sorted(members, key=lambda flag: not flag.positional) for heading, members in found.items()}
    return {heading: members for heading, members in ordered.items() if members}


def _heading(kind: Any) -> str:
    first = (kind.__doc__ or kind.__name__).split(".")[0]
    return " ".join((first[0].lower() + first[1:]).split())


def _beside(name: str, text: str) -> list[str]:
    """A name, and its meaning to the right or below."""
    width = _width()
    if width < NARROW:
        return [f"  {name}", *(" " * 6 + line for line in _wrap(text, width - 6))]
    body = _wrap(text, width - NAMES - 4) or [""]
    if len(name) > NAMES:
        return [f"  {name}", *(" " * (NAMES + 4) + line for line in body)]
    return [f"  {name:<{NAMES}}  {body[0]}", *(" " * (NAMES + 4) + line for line in body[1:])]


def _width() -> int:
    return min(shutil.get_terminal_size().columns, WIDEST)


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_on_hyphens=False)


@cache
def _documented(kind: Any) -> dict[str, str]:
    """The docstrings below the fields of a dataclass and of those it extends."""
    found: dict[str, str] = {}
    for one in reversed(kind.__mro__[:-1]):
        try:
            (body,) = ast.parse(textwrap.dedent(inspect.getsource(one))).body
        except (OSError, TypeError, ValueError):
            continue
        assert isinstance(body, ast.ClassDef)
        for field, text in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
                found[field.target.id] = str(ast.literal_eval(text.value))
    return found
