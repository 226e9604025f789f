"""Values of one setting: single ones, lists, ranges and log ranges, as text or as TOML and Python have them."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import known_settings
from modgrok.setting import Setting, require_settings

LIMIT = 200_000
"""The most runs of one sweep; counted before any of them is written down."""


def values(name: str, given: Any) -> tuple[Any, ...]:
    """All values of a setting.

    A text lists values, ranges and log ranges with commas between them:

    - `0:5` counts whole numbers like Python's range: 0, 1, 2, 3, 4;
    - `0.2:0.8:0.05` goes from the first to the second in steps, both ends included where a step meets them;
    - `log:1e-4:1e-1:7` has that many values at equal ratios, both ends included.

    Anything else that can be iterated over is a list of values; a single value is a list of one.
    """
    setting = _setting(name)
    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        found = [value for part in parts for value in _part(setting, part)]
    elif isinstance(given, Iterable):
        found = [_value(setting, item) for item in given]
    else:
        found = [_value(setting, given)]
    if not found:
        raise ModgrokError(f"{name} has no values; give at least one.")
    if twice := next((one for one, count in Counter(found).items() if count > 1), None):
        raise ModgrokError(f"{name} has the value {twice} twice; drop one.")
    return tuple(found)


def value(name: str, given: Any) -> Any:
    """One value of a setting, of the type that the experiment wants."""
    return _value(_setting(name), given)


def _value(setting: Setting, given: Any) -> Any:
    if hasattr(given, "item"):
        given = given.item()
    if isinstance(given, str):
        return setting.read(given)
    if isinstance(given, float) and not math.isfinite(given):
        raise ModgrokError(f"{setting.name} must be a number, not {given}.")
    return setting.checked(given)


def _setting(name: str) -> Setting:
    known = known_settings()
    require_settings("An experiment", [name], known)
    return known[name]


def _part(setting: Setting, text: str) -> list[Any]:
    name, kinds = setting.name, setting.kinds
    if ":" not in text or not {int, float} & set(kinds):
        return [_value(setting, text)]
    whole = float not in kinds
    log, *rest = text.split(":") if text.startswith("log:") else ("", *text.split(":"))
    numbers = [_number(part) for part in rest]
    if any(number is None for number in numbers) or len(numbers) not in ((3,) if log else (2, 3)):
        raise ModgrokError(
            f"A range of {name} is START:STOP (whole numbers), START:STOP:STEP or log:START:STOP:COUNT, not {text!r}."
        )
    start, stop, *last = (cast(float, number) for number in numbers)
    if log:
        return [_value(setting, x) for x in _log_range(name, text, start, stop, last[0])]
    if not last and not whole:
        raise ModgrokError(f"A range of {name} needs a step: {text}:STEP.")
    if last and not last[0] > 0:
        raise ModgrokError(f"The step of the range {name}={text} must be positive.")
    step = last[0] if last else 1.0
    count = math.ceil(stop - start) if not last else math.floor((stop - start) / step + 1e-9) + 1
    if count < 1:
        raise ModgrokError(f"The range {name}={text} is empty: its start is above its end.")
    _bound(name, text, count)
    return [_value(setting, _rounded(start + i * step)) for i in range(count)]


def _log_range(name: str, text: str, start: float, stop: float, count: float) -> list[float]:
    if start <= 0 or stop <= start:
        raise ModgrokError(f"The log range {name}={text} must go from a positive number to a larger one.")
    if count < 2 or not count.is_integer():
        raise ModgrokError(f"The log range {name}={text} must have at least two values, not {count:g}.")
    _bound(name, text, int(count))
    ratio = (stop / start) ** (1 / (count - 1))
    return [_rounded(start * ratio**i) for i in range(int(count))]


def _bound(name: str, text: str, count: int) -> None:
    if count > LIMIT:
        raise ModgrokError(f"The range {name}={text} has {count:,} values; a sweep has at most {LIMIT:,} runs.")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _rounded(number: float) -> float:
    """0.35 rather than 0.35000000000000003: steps accumulate no noise."""
    return float(f"{number:.12g}")
