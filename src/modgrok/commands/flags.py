"""Flags from the fields of a frozen dataclass: reading them, and one sentence with the remedy where they are wrong."""

import dataclasses
import re
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from modgrok.errors import ModgrokError
from modgrok.setting import Setting, known_as, settings_of

Arguments = TypeVar("Arguments")

LONGEST = 20
"""Letters of all words that a flag may be, where they stand for its value in help."""
_NEGATIVE = re.compile(r"-[nm0-9(.][nm0-9+\-*/^(). e]*")
"""An expression or a number that begins with a minus, and is no flag."""
_OPERATOR = re.compile(r"[-+*/^()]+")


@dataclass(frozen=True)
class Positional:
    """Marks a field, in its annotation, that is given without a flag."""

    metavar: str


@dataclass(frozen=True)
class Repeated:
    """Marks a field whose flag is given once for each value."""

    metavar: str


@dataclass(frozen=True, eq=False)
class Flag:
    """One flag of a command, or what is given without one."""

    setting: Setting
    """Of one value, where several may be given."""
    path: tuple[str, ...]
    """The fields that lead to it: its own, behind that of a nested dataclass."""
    owner: Any
    """The dataclass that has it; None of an experiment's settings."""
    mark: Positional | Repeated | None
    several: bool

    @property
    def name(self) -> str:
        return self.setting.name

    @property
    def written(self) -> str:
        """As it is typed."""
        return self.mark.metavar if self.positional and self.mark else f"--{self.name.replace('_', '-')}"

    @property
    def positional(self) -> bool:
        return isinstance(self.mark, Positional)

    @property
    def required(self) -> bool:
        return self.setting.default is dataclasses.MISSING

    @cached_property
    def metavar(self) -> str:
        """What stands for its value in help."""
        if self.mark is not None:
            return self.mark.metavar
        named = {bool: "true|false", int: "N", float: "X", str: "TEXT", Path: "FILE"}
        kinds = [named[kind] for kind in self.setting.kinds if kind in named]
        words = self.setting.words
        spelled = "|".join(words) if len("|".join(words)) <= LONGEST else "NAME"
        one = "|".join([kind for kind in kinds if kind != "TEXT"] + [spelled]) if words else kinds[0]
        return f"{one} …" if self.several else one

    def read(self, text: str) -> Any:
        try:
            return self.setting.read(text)
        except ModgrokError as error:
            if self.several and "," in text:
                raise ModgrokError(f"{str(error).rstrip('.')}; put spaces between values, not commas.") from None
            raise


def flags_of(arguments: Any, settings: Sequence[Setting] = (), path: tuple[str, ...] = ()) -> list[Flag]:
    """The flags of a dataclass, those of nested ones among them; `settings` stand in its field of that name."""
    hints, found = typing.get_type_hints(arguments, include_extras=True), list[Flag]()
    for name, one in settings_of(arguments).items():
        here = (*path, name)
        if name == "settings":
            marks = {"task": Positional("EXPR")}
            found += [_flag(each, (*here, each.name), None, marks.get(each.name)) for each in settings]
        elif dataclasses.is_dataclass(one.type):
            found += flags_of(one.type, path=here)
        else:
            found.append(_flag(one, here, arguments, *getattr(hints[name], "__metadata__", ())))
    return found


def _flag(one: Setting, path: tuple[str, ...], owner: Any, mark: Positional | Repeated | None = None) -> Flag:
    element = _element(one.type)
    return Flag(dataclasses.replace(one, type=element or one.type), path, owner, mark, element is not None)


def read_flags(
    arguments: type[Arguments], program: str, argv: Sequence[str], settings: Sequence[Setting] = ()
) -> Arguments:
    """The dataclass that a command line describes; raises with a remedy where it describes none."""
    reader = _Reader(flags_of(arguments, settings), program)
    reader.read(list(argv))
    usual = {("settings", one.name): one.default for one in settings}
    return _build(arguments, usual | reader.values())


class _Reader:
    """Goes through a command line from left to right."""

    def __init__(self, flags: list[Flag], program: str) -> None:
        self.program = program
        self.named = {flag.name: flag for flag in flags if not flag.positional}
        self.positional = [flag for flag in flags if flag.positional]
        self.given: dict[Flag, list[Any]] = {}
        self.loose: list[str] = []
        """What is given without flags."""

    def read(self, rest: list[str]) -> None:
        while rest:
            word = rest.pop(0)
            if word == "--":
                self.loose += rest
                break
            if not _is_flag(word):
                self.loose.append(word)
                continue
            name, equals, value = word.lstrip("-").partition("=")
            flag = self._flag(word, name.replace("-", "_"))
            self._take(flag, [value] if equals else None, rest)
        self._assign()

    def _flag(self, word: str, name: str) -> Flag:
        if (flag := self.named.get(name)) is not None and word.startswith("--"):
            return flag
        shown = word.partition("=")[0]
        known = name if name in self.named else known_as(name, self.named)
        if known is None:
            raise ModgrokError(f"{self.program} has no flag {shown}; {self.program} --help lists them.")
        raise ModgrokError(f"{self.program} has no flag {shown}; did you mean {self.named[known].written}?")

    def _take(self, flag: Flag, given: list[str] | None, rest: list[str]) -> None:
        """Reads the values of a flag from what follows it."""
        if flag.setting.switch:
            if given is not None:
                raise ModgrokError(f"{flag.written} takes no value; give it alone, or leave it out.")
            self.given[flag] = [True]
            return
        repeated = isinstance(flag.mark, Repeated)
        words = (
            given if given is not None else self._values(flag, rest, most=None if flag.several and not repeated else 1)
        )
        if not words:
            least = "at least one value" if flag.several else "a value"
            raise ModgrokError(f"{flag.written} needs {least}: {flag.written} {flag.metavar}.")
        values = [flag.read(word) for word in words]
        self.given[flag] = self.given.get(flag, []) + values if repeated else values

    def _values(self, flag: Flag, rest: list[str], most: int | None) -> list[str]:
        words: list[str] = []
        while rest and not _is_flag(rest[0]) and (most is None or len(words) < most):
            if words and not self.loose and self.positional and not _readable(flag, rest[0]):
                break  # After several numbers comes what needs no flag.
            words.append(rest.pop(0))
        return words

    def _assign(self) -> None:
        """Gives what came without flags to the fields that take it."""
        words = list(self.loose)
        for flag in self.positional:
            noun = flag.written.split()[0]
            if noun == "EXPR" and (typed := _before_globbing(words)) != words:
                raise ModgrokError(
                    f'The shell replaced * by the names of the files here; put quotes around EXPR: "{" ".join(typed)}".'
                )
            if flag.required and not words:
                example = {"EXPR": '"n + m"', "RUN": "last"}.get(noun, noun)
                article = "an" if noun[0] in "AEIO" else "a"
                raise ModgrokError(f"{self.program} needs {article} {noun}: {self.program} {example}.")
            if flag.several:
                if noun == "EXPR" and any(_OPERATOR.fullmatch(word) for word in words):
                    raise ModgrokError(f'Put quotes around each EXPR: "{" ".join(words)}".')
                self.given[flag], words = [flag.read(word) for word in words], []
            elif words:
                self.given[flag] = [flag.read(words.pop(0))]
        if words:
            raise ModgrokError(self._left_over(words))

    def _left_over(self, words: list[str]) -> str:
        first = words[0]
        name, equals, value = first.partition("=")
        known = name if name in self.named else known_as(name, self.named)
        if equals and known:
            return f"{self.program} takes settings as flags; write {self.named[known].written} {value}, not {first}."
        if not self.positional:
            return f"{self.program} takes only flags, not {first!r}; {self.program} --help lists them."
        metavar = self.positional[-1].written
        if len(words) == 1 and first.isdecimal() and "modulus" in self.named:
            return f"{self.program} takes one {metavar}; write the modulus as --modulus {first}."
        whole = " ".join(self.loose)
        return f'{self.program} takes one {metavar}, not {len(self.loose)}; put quotes around it: "{whole}".'

    def values(self) -> dict[tuple[str, ...], Any]:
        return {flag.path: tuple(found) if flag.several else found[-1] for flag, found in self.given.items()}


def _build(arguments: Any, values: dict[tuple[str, ...], Any]) -> Any:
    hints, own = typing.get_type_hints(arguments), {}
    for field in dataclasses.fields(arguments):
        inside = {path[1:]: value for path, value in values.items() if path[0] == field.name}
        if field.name == "settings":
            own[field.name] = {name: value for (name,), value in inside.items()}
        elif dataclasses.is_dataclass(hints[field.name]):
            own[field.name] = _build(hints[field.name], inside)
        elif () in inside:
            own[field.name] = inside[()]
    return arguments(**own)


def _element(kind: Any) -> Any:
    """The type of one value where several may be given; None where one is."""
    found = [part for part in (kind, *get_args(kind)) if get_origin(part) is tuple]
    return get_args(found[0])[0] if found else None


def _is_flag(word: str) -> bool:
    return len(word) > 1 and word.startswith("-") and not _NEGATIVE.fullmatch(word)


def _before_globbing(words: list[str]) -> list[str]:
    """The words as they were typed, where the shell replaced each * by every name in this folder."""
    here, typed = sorted(glob("*")), list(words)
    if 0 < len(here) < len(words):
        for i in range(len(words) - len(here), -1, -1):
            if sorted(typed[i : i + len(here)]) == here:
                typed[i : i + len(here)] = "*"
    return typed


def _readable(flag: Flag, word: str) -> bool:
    try:
        flag.read(word)
    except ModgrokError:
        return False
    return True
