"""The outcome of a run."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from modgrok.experiments.stored_json import build


@dataclass(frozen=True)
class Result(Mapping[str, Any]):
    """The outcome of a run; also a mapping, `result["grokked_at"]`, which includes the measures."""

    run: str
    status: Literal["finished", "diverged", "collapsed"]
    steps: int
    """Taken."""
    learning_rate: float
    train_accuracy: float | None
    test_accuracy: float | None
    train_loss: float | None
    test_loss: float | None
    memorized_at: int | None
    grokked_at: int | None
    diverged_at: int | None
    seconds: float
    """Duration since training last began; for a resumed run, since it was resumed."""
    measures: dict[str, float | None] = field(default_factory=dict)
    """Final values of other measures, by name."""
    memorized_after: int | None = None
    """The evaluation before `memorized_at`: memorization happened between the two."""
    memorized_interpolated: float | None = None
    """Where the straight line between these two evaluations crosses the threshold."""
    grokked_after: int | None = None
    """The same for `grokked_at`."""
    grokked_interpolated: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON values, including the measures."""
        return {name: getattr(self, name) for name in _NAMES} | self.measures

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], path: Path) -> "Result":
        """What `as_dict` wrote into a file; `Damaged` where it is not."""
        measures = {name: value for name, value in content.items() if name not in _NAMES}
        known = {name: value for name, value in content.items() if name in _NAMES}
        return build(cls, known | {"measures": measures}, path)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name) if name in _NAMES else self.measures[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.as_dict())

    def __len__(self) -> int:
        return len(self.as_dict())


_NAMES = tuple(entry.name for entry in dataclasses.fields(Result) if entry.name != "measures")
