"""A study: runs to train, the table that is kept of them, and the figures and claims that read it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from modgrok.experiments import Experiment, Run
from modgrok.plot import style
from modgrok.reproduce.claim import Claim
from modgrok.reproduce.figures import panels
from modgrok.reproduce.runs import Runs, said_settings
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.table import Numbers, Table

Kept = str | Callable[..., Any]
"""The name of a part of the result, or a function from a run to a row (a dictionary) or to several; its further
parameters are given the run's tags of these names."""


@dataclass(frozen=True)
class Figure:
    """One picture of a study."""

    name: str
    title: str
    caption: str
    """What there is to see, and how it was made."""
    draw: Callable[[Numbers], Any]
    """From numbers to a matplotlib figure, without arithmetic."""
    study: Any
    beyond: bool = False
    """Whether it answers a question that the paper leaves open."""


@dataclass(eq=False)
class Study:
    """Runs, the table that is kept of them, and the figures and claims that its decorators add."""

    name: str
    title: str
    caption: str = ""
    runs: Callable[[Any], Runs] = lambda s: Runs([])
    keep: Kept | Sequence[Kept] | Mapping[str, Kept | Sequence[Kept]] = ()
    """What the table has of each run beside its settings; where this differs between parts of the study, by the tag
    `part`."""
    rows: Callable[[Any], Iterable[Mapping[str, Any]]] = lambda s: ()
    """Computed from the sizes alone; they come after those of the runs."""
    also: Callable[[Any, Table], Mapping[str, Any]] = lambda s, t: {}
    """Values of the whole table, which become columns that all rows share."""
    digits: int = 5
    """Significant digits of what is kept."""
    beyond: bool = False
    """Whether it is about a question of our own."""
    slow: bool = False
    """Whether it takes long to measure: its networks are trained first, and it is measured while the others train."""
    figures: tuple[Figure, ...] = ()

    def needs(self, profile: Sizes) -> list[Experiment]:
        """The experiments, in order."""
        return [experiment for _, experiment in self.runs(profile)]

    def measure(self, profile: Sizes, find: Callable[[Experiment], Run]) -> Numbers:
        """The table of a profile as JSON, from the finished runs that `find` gives."""
        rows: list[Mapping[str, Any]] = []
        trained: list[Run] = []
        asked = list(self.runs(profile))
        for (tags, experiment), settings in zip(asked, said_settings([e for _, e in asked]), strict=True):
            run = find(experiment)
            found = self._kept(run, tags)
            rows += [settings | tags | row for row in found]
            trained += [run] * len(found)
        table = Table([*rows, *self.rows(profile)], runs=trained)
        shared = self.also(profile, table)
        return Table({**vars(row), **shared} for row in table).to_json(self.digits)

    def _kept(self, run: Any, tags: Mapping[str, Any]) -> list[dict[str, Any]]:
        parts = self.keep[tags["part"]] if isinstance(self.keep, Mapping) else self.keep
        rows: list[dict[str, Any]] = [{}]
        for part in (parts,) if isinstance(parts, str) or callable(parts) else parts:
            if isinstance(part, str):
                found: Any = {part: run.result[part]}
            else:
                found = part(run, **{name: tags[name] for name in signature(part).parameters if name in tags})
            rows = [old | new for old in rows for new in ([found] if isinstance(found, dict) else found)]
        return rows

    def figure(
        self,
        *panel_titles: str,
        title: str = "",
        caption: str = "",
        name: str = "",
        beyond: bool | None = None,
        **layout: Any,
    ) -> Callable[[Callable[..., Any]], Figure]:
        """Makes a figure of the function that draws it; name, title and caption are the study's unless given.

        With titles of panels or a layout (see `panels`) the function is given the table and the panels, and returns the
        note below them; else it is given the table alone and returns a figure.
        """

        def make(draw: Callable[..., Any]) -> Figure:
            def drawn(numbers: Numbers) -> Any:
                t = Table.from_json(numbers)
                if not (panel_titles or layout):
                    return draw(t)
                figure, shown = panels(*panel_titles, **layout)
                if note := draw(t, *shown):
                    style.note(figure, note)
                return figure

            texts = name or self.name, title or self.title, caption or self.caption
            made = Figure(*texts, drawn, self, self.beyond if beyond is None else beyond)
            self.figures += (made,)
            return made

        return make

    def claim(self, section: str, *others: "Study") -> Callable[[Callable[..., None]], Claim]:
        """Makes a claim of the function that judges it, from the tables of this study and of others and an `Ask`. The
        function's name is the claim's, its docstring what is claimed."""
        return lambda judge: make_claim(judge, judge.__name__, judge.__doc__ or "", section, (self, *others))


study = Study
"""As papers call it: a study is a value, to which figures and claims are added."""


def make_claim(judge: Callable[..., None], name: str, statement: str, section: str, studies: Sequence[Study]) -> Claim:
    """A claim about the tables of studies; for families of claims, whose names and statements are computed."""
    return Claim(name, section, " ".join(statement.split()), tuple(study.name for study in studies), judge)


def curves(*names: str, most: int | None = None) -> Callable[[Run], dict[str, Any]]:
    """Keeps whole curves of a run under their names; `step` goes with them; thinned to about `most` points."""

    def keep(run: Run) -> dict[str, Any]:
        history = run.history
        thinned = slice(None, None, max(1, len(history["step"]) // most) if most else 1)
        return {name: history[name][thinned] for name in ("step", *names)}

    return keep
