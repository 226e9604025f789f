"""How much is trained: the sizes of a paper's profiles, quick and full side by side."""

from collections.abc import Mapping
from typing import Any


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


def sizes(*, tiny: Mapping[str, Any], left_out: Any = ((), ()), **values: Any) -> tuple[Sizes, Sizes, Sizes]:
    """The profiles quick, full and tiny.

    A tuple is a pair (quick, full), so a size that is itself a tuple is written as a pair of tuples; anything else is
    the same in both. `tiny`, for the tests of the pipeline, says what it has otherwise than quick; its `left_out` is a
    single tuple.
    """
    quick, full = ({name: v[i] if isinstance(v, tuple) else v for name, v in values.items()} for i in (0, 1))
    least = {"left_out": left_out[0], **quick, **tiny}
    return (
        Sizes("quick", left_out[0], quick),
        Sizes("full", left_out[1], full),
        Sizes("tiny", least.pop("left_out"), least),
    )
