"""The result of a sweep: the outcomes of its runs as they arrive, and one row for each run with its settings."""

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

from modgrok.card import grid
from modgrok.errors import Damaged, ModgrokError, import_extra
from modgrok.experiments.columns import Frame
from modgrok.experiments.experiment import Experiment, known_settings
from modgrok.experiments.named_task import task_name
from modgrok.experiments.result import Result, bad_ends
from modgrok.experiments.store import Store
from modgrok.experiments.sweeps.sweep import Sweep

OUTCOMES = {
    "status": "status",
    "steps_taken": "steps",
    **{
        name: name
        for name in (
            "learning_rate train_accuracy test_accuracy train_loss test_loss "
            "memorized_after memorized_at memorized_interpolated grokked_after grokked_at grokked_interpolated "
            "diverged_at seconds"
        ).split()
    },
}
"""Columns of a table and the parts of a run's result they show; its measures follow. `steps` alone is the setting."""


UNFINISHED: dict[str, Any] = {"status": "unfinished"}


class Results:
    """Outcomes by run, for a list of experiments that may name the same run twice. Where nothing will be trained,
    `trusting` reads the results alone, which takes half the time or less."""

    def __init__(
        self, experiments: Sequence[Experiment], store: Store, force: bool = False, trusting: bool = False
    ) -> None:
        self.store, self.trusting = store, trusting
        self.experiments = tuple(store.register(experiment) for experiment in experiments)
        """Resolved."""
        self.ids = [experiment.content_hash for experiment in self.experiments]
        self._runs = {name: store.run(name) for name in self.ids}
        self.outcomes: dict[str, Result] = {}
        self.again = {e.content_hash: e for e in self.experiments if force or e.has_unknown_code}
        """Runs to train again even if the store has them."""
        self.refresh()

    @property
    def runs(self) -> int:
        """Number of distinct runs."""
        return len(self._runs)

    def refresh(self) -> None:
        """Looks in the store for outcomes from other processes; a damaged run counts as missing."""
        for name, run in self._runs.items():
            if name not in self.outcomes and name not in self.again:
                with contextlib.suppress(Damaged):
                    if (result := run.result if self.trusting else run.intact_result()) is not None:
                        self.outcomes[name] = result

    @property
    def pending(self) -> list[Experiment]:
        """Distinct resolved experiments without an outcome."""
        missing = {i: e for i, e in zip(self.ids, self.experiments, strict=True) if i not in self.outcomes}
        return list(missing.values())

    @property
    def bad_ends(self) -> dict[str, int]:
        """How many runs diverged, and how many collapsed."""
        return bad_ends(result.status for result in self.outcomes.values())

    @property
    def in_order(self) -> list[Result | None]:
        """The outcome of every experiment, None where there is none."""
        return [self.outcomes.get(name) for name in self.ids]


class Table(Frame):
    """The runs of a sweep, a row each: `len(table)` runs, `table["grokked_at"]`, `table.rows`.

    The first columns are the settings: task, modulus, those that vary, and those that differ from the default. Then
    come the run and its outcome, None where there is none (yet).
    """

    def __init__(self, columns: dict[str, list[Any]], settings: tuple[str, ...], axes: tuple[str, ...] = ()) -> None:
        super().__init__(columns)
        self.settings, self.axes = settings, axes
        """The names of the columns that are settings, and of those that the sweep varies, if only over one value."""

    def __repr__(self) -> str:
        ended = sum(status != "unfinished" for status in self["status"])
        varying = f"{', '.join(self.varying) or 'nothing'} {'vary' if len(self.varying) > 1 else 'varies'}"
        return f"Table({len(self)} runs, {ended} of them ended; {varying}; columns {', '.join(self)})"

    def _repr_html_(self) -> str:
        """For notebooks: what varies, and what came out."""
        shown = [*self.varying, "status", "test_accuracy", "memorized_at", "grokked_at"]
        columns = [self[name] for name in shown]
        return grid(shown, list(zip(*columns, strict=True)), len(self))

    @property
    def varying(self) -> list[str]:
        """The settings that are not the same in all runs."""
        return [name for name in self.settings if len({repr(value) for value in self[name]}) > 1]

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(zip(self, row, strict=True)) for row in zip(*self.values(), strict=True)]

    @property
    def complete(self) -> bool:
        """Whether every run has ended."""
        return "unfinished" not in self["status"]

    def to_xarray(self) -> Any:
        """The outcomes as arrays over the settings that vary, one axis each; NaN where there is no run."""
        xarray = import_extra("xarray", "Arrays with axes need xarray", "frames")
        axes = self.varying
        if not axes:
            raise ModgrokError("Arrays need a setting that varies; none does in this table.")
        outcomes = [name for name in self if name not in self.settings]
        frame = self.to_pandas().set_index(axes)[outcomes]
        return xarray.Dataset.from_dataframe(frame)

    def _empty(self) -> list[str]:
        """Outcomes that no run has, such as `grokked_at` where none grokked: numbers all the same."""
        return [name for name in self if name not in self.settings and all(value is None for value in self[name])]


def sweep_table(sweep: Sweep, results: Results) -> Table:
    """The table of a sweep from what is known of its runs."""
    known, base = known_settings(), sweep.experiment.as_dict()
    other = [name for name in base if base[name] != known[name].default]
    names = dict.fromkeys(("task", "modulus", *sweep.names, *other))
    settings = {name: [getattr(e, name) for e in sweep.experiments] for name in names}
    called = {text: task_name(text, results.store.tables) for text in dict.fromkeys(settings["task"])}
    settings["task"] = [called[text] for text in settings["task"]]
    outcomes: list[Mapping[str, Any]] = [results.outcomes.get(i, UNFINISHED) for i in results.ids]
    measures = dict.fromkeys(name for result in results.outcomes.values() for name in result.measures)
    shown = OUTCOMES | {name: name for name in measures}
    columns = {name: [outcome.get(key) for outcome in outcomes] for name, key in shown.items()}
    return Table(settings | {"run": results.ids} | columns, tuple(settings), sweep.names)
