"""How much is trained: the sizes of a paper's profiles, side by side."""

import string
from collections.abc import Mapping
from typing import Any

from modgrok.text import count, number


class Sizes:
    """One profile: its name, the studies that are too long for it, and every size as an attribute."""

    def __init__(self, name: str, left_out: tuple[str, ...], values: Mapping[str, Any]) -> None:
        self.name, self.left_out, self.values = name, left_out, dict(values)

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(f"no size is called {name!r}") from None

    def but(self, **values: Any) -> "Sizes":
        """The same with other sizes."""
        return Sizes(self.name, self.left_out, self.values | values)

    def say(self, text: str) -> str:
        """A text with sizes in braces, such as "{steps} steps"; {rates:#} says how many rates there are."""
        return _Said().vformat(text, (), self.values)


class _Said(string.Formatter):
    """Sizes as people read them."""

    def format_field(self, value: Any, spec: str) -> str:
        if spec == "#":
            return str(len(value))
        if isinstance(value, tuple):
            return ", ".join(map(number, value))
        return value if isinstance(value, str) else count(value) if isinstance(value, int) else number(value)


def sizes(*, left_out: Any = ((), ()), **values: Any) -> tuple[Sizes, Sizes, Sizes]:
    """The profiles quick, full and tiny, the last for the tests of the pipeline.

    A tuple is (quick, full) or (quick, full, tiny), so a size that is itself a tuple is written as a tuple of tuples;
    anything else is the same in all. Where tiny has no size of its own it has that of quick.
    """

    def profile(i: int, name: str) -> Sizes:
        def own(value: Any) -> Any:
            return value[i if i < len(value) else 0] if isinstance(value, tuple) else value

        return Sizes(name, own(left_out), {size: own(value) for size, value in values.items()})

    return profile(0, "quick"), profile(1, "full"), profile(2, "tiny")
