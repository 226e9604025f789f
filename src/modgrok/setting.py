"""A setting, declared once: its name, type, default, range or choices, and help.

An experiment's settings are the fields of `Experiment` and those that the network, optimizer, loss or family of tasks
it names brings. Flags, keywords, JSON, the lab's form, checks and the defaults that ids leave out are derived.
"""

import dataclasses
import math
import operator
import re
import typing
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin

from modgrok.errors import ModgrokError, Unknown
from modgrok.text import abridged

FOREIGN = {
    foreign: name
    for name, known in {
        "fraction": "alpha frac train_frac train_fraction frac_train train_pct",
        "modulus": "p prime mod q",
        "lr": "learning_rate rate eta",
        "weight_decay": "wd decay l2 lambda",
        "steps": "epochs iterations iters num_steps max_steps num_epochs n_epochs",
        "width": "n_hidden num_neurons neurons hidden_size hidden_dim d_model",
        "network": "model arch architecture net",
        "optimizer": "opt optim optimiser",
        "task": "operation function expression fn",
        "seed": "random_seed rng",
        "heads": "num_heads n_heads",
        "layers": "num_layers n_layers",
        "loss": "loss_fn criterion",
        "batch_size": "batch bs",
    }.items()
    for foreign in known.split()
}
"""What other programs call settings."""
ALIKE = 0.7
"""From which likeness on a name was probably misspelled: `fraction` is no `activation` (.67)."""
_INTERVAL = re.compile(r"([\[(])(\S+), (\S+)([\])])")
_DEFAULT = re.compile(r"[;,.]? (?:and )?by default (.*?)\.?$", re.IGNORECASE)
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


def setting(
    default: Any,
    help: str,
    range: str = "",
    choices: Callable[[], Iterable[str]] | None = None,
    spell: Callable[[str], str] | None = None,
) -> Any:
    """A dataclass field that declares a setting; see `Setting`."""
    metadata = {"help": help, "range": range, "choices": choices, "spell": spell}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, eq=False)
class Setting:
    """One setting, with the checks and conversions that follow from its declaration."""

    name: str
    type: Any
    """As annotated: int, float, bool, str, tuple[str, ...], a Literal, or a union of these and None."""
    default: Any
    """`dataclasses.MISSING` where a value must be given."""
    help: str
    range: str = ""
    """Of numbers, such as "[0, 1)" or "(0, inf)"."""
    choices: Callable[[], Iterable[str]] | None = None
    """Words it may be, where these are names in a registry; those of a Literal follow from the type."""
    spell: Callable[[str], str] | None = None
    """How a text is written that may be typed in other ways, as ReLU for relu."""

    @cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types that a value may have, and the words it may be."""
        return _flat(self.type)

    @property
    def words(self) -> tuple[str, ...]:
        """The words it is chosen from; empty where it is not."""
        return tuple(self.choices()) if self.choices else tuple(kind for kind in self.kinds if isinstance(kind, str))

    @property
    def switch(self) -> bool:
        """Whether a flag without a value turns it on."""
        return self.type is bool and self.default is False

    def read(self, text: str) -> Any:
        """The value that a text means, on the command line and on a sweep's axis."""
        kinds = self.kinds
        if Path in kinds:
            return Path(text)
        if text in kinds or str in kinds:
            return text
        if NoneType in kinds and text.lower() == "none":
            return None
        if bool in kinds and text.lower() in ("true", "false"):
            return text.lower() == "true"
        if not {int, float} & set(kinds):
            return self.checked(text) if self.words else self._refuse(text)
        try:
            number = float(text)
        except ValueError:
            return text.lower() if text.lower() in kinds else self._refuse(text)
        if int in kinds and number.is_integer():
            return int(text) if text.lstrip("+-").isdecimal() else int(number)
        return number if float in kinds and math.isfinite(number) else self._refuse(text)

    def _refuse(self, text: str) -> NoReturn:
        names = {int: "a whole number", float: "a number", bool: "true or false", str: "a text", NoneType: "none"}
        required = " or ".join(dict.fromkeys(names.get(kind, str(kind)) for kind in self.kinds if kind is not NoneType))
        comma = float in self.kinds and _COMMA.fullmatch(text)
        point = f"; write {text.replace(',', '.')} with a point" if comma else ""
        raise ModgrokError(f"{self.name} must be {required}, not {text!r}{point}.")

    def checked(self, value: Any) -> Any:
        """The value as a plain Python type, so that 1, 1.0 and a NumPy number are one setting, with one hash; raises
        unless it is within the range, or among the words, which may be typed in capitals."""
        value = self._convert(value)
        if isinstance(value, str):
            if (words := self.words) and value not in words:
                self._refuse_word(value, words)
        elif self.range and value is not None and not self._in_range(value):
            others = " or ".join(("", *self.words))
            raise ModgrokError(f"{self.name} must be {self._required(value)}{others}, not {abridged(value)}.")
        return value

    def _convert(self, value: Any) -> Any:
        if value is None and NoneType in self.kinds:
            return None
        if isinstance(value, str) and (words := self.words):
            return value if value in words else value.lower()
        if isinstance(value, str) and self.spell:
            return self.spell(value)
        for kind, name, convert in _CONVERSIONS:
            if kind in self.kinds:
                try:
                    return convert(value)
                except (TypeError, ValueError, OverflowError):
                    raise ModgrokError(f"{self.name} must be {name}, not {abridged(value)}.") from None
        raise ModgrokError(f"{self.name} must be one of {', '.join(self.words)}, not {abridged(value)}.")

    @cached_property
    def _interval(self) -> tuple[bool, float, float, bool]:
        """Whether the lower end is included, both ends, whether the upper one is."""
        match = _INTERVAL.fullmatch(self.range)
        assert match is not None, self.range
        low, high = (float(end) if "." in end or end == "inf" else int(end) for end in (match[2], match[3]))
        return match[1] == "[", low, high, match[4] == "]"

    def _in_range(self, value: float) -> bool:
        from_low, low, high, to_high = self._interval
        return (low <= value if from_low else low < value) and (value <= high if to_high else value < high)

    def _required(self, value: float) -> str:
        from_low, low, high, to_high = self._interval
        if not from_low and not to_high and high < math.inf:
            return f"strictly between {low} and {high}"
        if low == 0 and not from_low and (high == math.inf or not value > 0):
            return "a positive number"
        if not low <= value:
            return f"at least {low}"
        return f"at most {high:,}" if to_high else f"at least {low} and less than {high}"

    def _refuse_word(self, value: str, words: Collection[str]) -> None:
        if {int, float} & set(self.kinds):
            raise ModgrokError(f"{self.name} must be {self._required(0)} or {' or '.join(words)}, not {value!r}.")
        close = get_close_matches(value, words, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        sentence = f"{self.name} must be one of {', '.join(words)}, not {abridged(value)}{hint}"
        raise ModgrokError(sentence) if self.choices is None else Unknown(sentence, f"{self.name} {abridged(value)}")


@cache
def settings_of(kind: Any) -> dict[str, Setting]:
    """The settings that the fields of a dataclass declare; a field without help is one too."""
    hints = typing.get_type_hints(kind)
    found = {}
    for field in dataclasses.fields(kind):
        about: dict[str, Any] = {"help": f"{field.name.capitalize()} of {kind.__name__}"} | dict(field.metadata)
        found[field.name] = Setting(field.name, hints[field.name], field.default, **about)
    return found


def described(help: str, default: Any) -> tuple[str, str]:
    """A meaning without its default, and the default in words, whether the text says it or the declaration, or none."""
    if found := _DEFAULT.search(help):
        return help[: found.start()].rstrip(" .,;"), found[1]
    if default is None or isinstance(default, bool) or default is dataclasses.MISSING or default in ("", ()):
        return help.rstrip("."), ""
    parts = default if isinstance(default, tuple) else (default,)
    return help.rstrip("."), " ".join(f"{part:g}" if isinstance(part, float) else str(part) for part in parts)


def known_as(name: str, known: Collection[str]) -> str | None:
    """The setting that was probably meant: what others call so, or one that is spelled alike."""
    if (meant := FOREIGN.get(name.lower())) in known:
        return meant
    close = get_close_matches(name, known, n=1, cutoff=ALIKE)
    return close[0] if close else None


def require_settings(owner: str, given: Collection[str], known: Collection[str]) -> None:
    """Raises where something is given that is no setting of the owner."""
    if unknown := sorted(set(given) - set(known)):
        close = known_as(unknown[0], known)
        hint = f"did you mean {close!r}?" if close else f"its settings are {', '.join(known)}."
        raise ModgrokError(f"{owner} has no setting {unknown[0]!r}; {hint}")


@cache
def _flat(declared: Any) -> tuple[Any, ...]:
    if get_origin(declared) is Literal:
        return get_args(declared)
    if get_origin(declared) is tuple:
        return (tuple,)
    parts = get_args(declared)
    return tuple(kind for part in parts for kind in _flat(part)) if parts else (declared,)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if value not in (False, True):
        raise ValueError
    return bool(value)


def _whole(value: Any) -> int:
    """Also 1e4, as the command line takes it."""
    if isinstance(value, bool):
        raise TypeError
    return int(value) if isinstance(value, float) and value.is_integer() else int(operator.index(value))


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not all(isinstance(part, str) for part in value):
        raise TypeError
    return tuple(value)


_CONVERSIONS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (tuple, "a list of texts", _texts),
    (str, "a text", _text),
    (bool, "true or false", _flag),
    (int, "a whole number", _whole),
    (float, "a number", float),
)
