"""Numbers as people read them: one format for terminal, figures and reports."""

import math
import re
import statistics
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

NARROW = "\u202f"
"""A narrow space at which lines do not break: between thousands, and before a unit."""
NONE = "–"
"""Where there is no number."""
Value = int | float | None
"""A number, or none where there is nothing to measure."""


def number(value: Value, digits: int = 3) -> str:
    """With `digits` significant digits, thousands apart; powers of ten for what is very large or small."""
    if value is None or not math.isfinite(value):
        return NONE
    if 1e3 <= abs(value) < 1e6:
        return f"{value:,.0f}".replace(",", NARROW)
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.{digits}g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def count(value: int | None, noun: str = "") -> str:
    """A whole number with all its digits, thousands apart, and what is counted: 1 run, 2 batches."""
    text = NONE if value is None else f"{value:,}".replace(",", NARROW)
    plural = "" if value == 1 else "es" if noun.endswith("ch") else "s"
    return f"{text} {noun}{plural}" if noun else text


_ASCII = {
    "–": "-",
    "−": "-",
    "·": "*",
    "…": "...",
    "→": "->",
    "≤": "<=",
    "≥": ">=",
    "×": "x",
    "∘": "o",
    "µ": "u",
    "⊥": "_|_",
    "²": "^2",
    "³": "^3",
    "“": '"',
    "”": '"',
    "’": "'",
    NARROW: " ",
}


def in_ascii(text: str) -> str:
    """A text for terminals that show no other letters, in which what has a spelling is spelled."""
    return "".join(letter if letter.isascii() else _ASCII.get(letter) or _bare(letter) for letter in text)


def _bare(letter: str) -> str:
    """A letter without its accents; of Greek ones the name, of lines, bars and dots something alike."""
    for last, alike in (("\u257f", "-" if letter in "─┬" else "|"), ("\u259f", "#"), ("\u28ff", ".")):
        if "\u2500" <= letter <= last:
            return alike
    plain = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    greek = unicodedata.name(letter, "").removeprefix("GREEK SMALL LETTER ").lower()
    return plain or (greek if greek.isalpha() and len(greek) < 8 else "?")


_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text that says what it shows: without what moves a terminal's cursor, changes its colors or turns a line
    around, and without half characters, which nothing can write."""
    return _UNPRINTABLE.sub("\ufffd", text)


def abridged(value: object, most: int = 60) -> str:
    """A value that somebody gave, as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python writes down no number of more than 4 300 digits.
        return "a number of thousands of digits"
    return text if len(text) <= most else f"{text[:most]}…"


def steps_between(after: int | None, reached: int | None) -> str:
    """The steps between which something happened: not yet `after` one evaluation, and when the next was `reached`."""
    if reached is None or after is None or reached - after < 2:
        return count(reached)
    return f"{count(after + 1)}–{count(reached)}"


def percent(share: Value, digits: int = 1) -> str:
    """A share in percent, with `digits` decimals."""
    return NONE if share is None or not math.isfinite(share) else f"{100 * share:.{digits}f}{NARROW}%"


def duration(seconds: int | float) -> str:
    """Such as 85 µs, 12 ms, 45 s, 12 min, 3 h 20 min."""
    if 0 < seconds < 0.9995:
        return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def size(count_of_bytes: int) -> str:
    """Such as 640 B, 12.3 MB."""
    exponent = min(4, (len(str(count_of_bytes)) - 1) // 3)
    return f"{count_of_bytes / 1000**exponent:.3g} {('B', 'kB', 'MB', 'GB', 'TB')[exponent]}"


def spread(values: Sequence[Value], text: Callable[[Value], str] = number, over: str = "seed") -> str:
    """Median and range over seeds, or over what is said: of those that have a number, and how many these are."""
    known = sorted(value for value in values if value is not None)
    if not known:
        return f"none of {len(values)}"
    among = f"{f'{len(known)} of ' if len(known) < len(values) else ''}{count(len(values), over)}"
    middle, least, most = text(float(statistics.median(known))), text(known[0]), text(known[-1])
    return f"{middle} ({among})" if least == most else f"{middle} ({least} to {most}, {among})"


def listed(values: Mapping[Any, Value], text: Callable[[Value], str] = number) -> str:
    """Every value behind its name, such as S3 0.9, D5 1."""
    return ", ".join(f"{name} {text(value)}" for name, value in values.items())
