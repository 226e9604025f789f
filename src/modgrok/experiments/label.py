"""What people call a run or a sweep: a name, tags and a note in `label.json` of its folder, no part of what it is."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments.stored_json import build, read_sealed_json, write_sealed_json
from modgrok.sealed import exists
from modgrok.text import abridged

FILE = "label.json"
LONGEST_NAME, LONGEST_NOTE = 100, 10_000


@dataclass(frozen=True)
class Label:
    """A name, by which a run is found as by its id; tags that several may share; a note."""

    name: str = ""
    tags: list[str] = field(default_factory=list)
    note: str = ""

    def __post_init__(self) -> None:
        for text in (self.name, *self.tags):
            if len(text) > LONGEST_NAME or not text.isprintable() or text != text.strip() or text == "last":
                most = f"one line of up to {LONGEST_NAME} letters"
                raise ModgrokError(f"A name or a tag is {most}, and not last; {abridged(text)} is not.")
        if Path(self.name).suffix:
            raise ModgrokError(f"A name with a suffix is taken for a file's; leave out the period of {self.name!r}.")
        if len(self.note) > LONGEST_NOTE:
            raise ModgrokError(f"A note has up to {LONGEST_NOTE:,} letters, not {len(self.note):,}.")

    @property
    def short(self) -> str:
        """Name and tags on one line."""
        return " ".join(filter(None, (self.name, *(f"#{tag}" for tag in self.tags))))

    def has(self, text: str) -> bool:
        """Whether it contains a text, in capitals or not."""
        return any(text.lower() in part.lower() for part in (self.name, self.note, *(f"#{tag}" for tag in self.tags)))


def read_label(folder: Path) -> Label:
    """The label of what a folder holds; empty if it was given none."""
    path = folder / FILE
    return build(Label, read_sealed_json(path), path) if exists(path) else Label()


def write_label(
    folder: Path, name: str | None = None, tags: str | Iterable[str] | None = None, note: str | None = None
) -> Label:
    """Changes what is given of a label; the rest stays."""
    several = None if tags is None else [tags] if isinstance(tags, str) else list(tags)
    given: dict[str, Any] = {"name": name, "tags": several, "note": note}
    label = replace(read_label(folder), **{part: value for part, value in given.items() if value is not None})
    write_sealed_json(folder / FILE, asdict(label))
    return label
