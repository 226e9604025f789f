"""Every picture draws on axes of its own or on those it is given, and shows the numbers it was given."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from modgrok import plot
from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment
from modgrok.experiments.analysis import Analysis, analyze
from modgrok.experiments.label import Label
from modgrok.experiments.sweeps.summary import Cell, Summary
from modgrok.experiments.sweeps.table import Table
from modgrok.palette import SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.plot.answers import answer_states
from modgrok.plot.phase_diagram import phase
from modgrok.plot.phases import angle_histogram
from modgrok.tasks import task

HISTORY = {"step": np.array([0, 1, 100])} | {
    f"{side}_{kind}": np.array([0.1, 0.5, 0.9]) for side in ("train", "test") for kind in ("accuracy", "loss")
}


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    addition = task("n + m", 7)
    return analyze(solve(addition, "waves", 60), addition)


def test_importing_the_pictures_imports_nothing_heavy() -> None:
    script = "import sys, modgrok.plot; assert not {'matplotlib', 'jax', 'scipy'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", script], check=True, env={"PYTHONPATH": "src"})


def test_names_are_functions_whatever_was_imported_before() -> None:
    import modgrok.plot.curves

    assert modgrok.plot.curves is plot.curves
    assert all(callable(getattr(plot, name)) for name in plot.__all__)


@pytest.mark.parametrize("draw", [plot.weights, plot.phases, plot.spectrum])
def test_given_axes_are_drawn_on_and_come_back(draw: object, analysis: Analysis) -> None:
    assert callable(draw)
    own = draw(analysis)
    assert own.figure.axes
    axes = Figure().subplots()
    assert draw(analysis, ax=axes) is axes
    assert axes.get_xlabel()
    assert axes.get_ylabel()


@pytest.mark.parametrize("measure", ["accuracy", "loss"])
def test_train_and_test_have_their_colors(measure: str) -> None:
    axes = plot.curves([HISTORY, HISTORY], measure)
    assert [to_hex(line.get_color()) for line in axes.lines] == [TRAIN, TRAIN, TEST, TEST]
    assert axes.get_legend_handles_labels()[1] == ["train", "test"]


def test_any_recorded_curve_can_be_drawn() -> None:
    axes = plot.curves(HISTORY | {"my_measure": [1, None, 3]}, "my_measure")
    assert axes.get_ylabel() == "my measure"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [1, np.nan, 3])


def test_angles_are_counted_on_the_circle() -> None:
    counts, edges = angle_histogram(np.array([0.01, 0.02, -3, np.nan]))
    assert counts.sum() == 3
    assert counts.max() == 2
    density, _ = angle_histogram(np.array([0.01, 2]), density=True)
    assert (density * np.diff(edges)).sum() == pytest.approx(1)


def test_the_portrait_has_no_curves_without_a_history(analysis: Analysis) -> None:
    assert len(plot.portrait(analysis, HISTORY).axes) == 6  # four panels, the losses' axis and a color bar
    assert len(plot.portrait(analysis).axes) == 5


def test_answers_are_told_apart(analysis: Analysis) -> None:
    states = answer_states(analysis.network, analysis.task, np.arange(10))
    assert set(np.unique(states)) == {0, 2}
    assert (states == 0).sum() == 10
    labels = [text.get_text() for text in plot.answers(analysis.network, analysis.task).get_legend().get_texts()]
    assert labels == ["test, right"]
    with pytest.raises(ModgrokError, match="two variables"):
        answer_states(analysis.network, task("n1 + n2 + n3", 3))


def test_categories_are_not_joined() -> None:
    row = (Cell(2, (1.0, 3.0)), Cell(2, (5.0, 6.0)))
    of = ("sweep", "grokked_at", "optimizer", "loss", ("gd", "adam"), ("mse", "cross_entropy"), (row, row))
    axes = plot.sweep(Summary(*of))
    assert {line.get_linestyle() for line in axes.lines} == {"None"}
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["gd", "adam"]
    first, second = axes.lines
    assert first.get_xdata()[0] < 0 < second.get_xdata()[0]
    assert [to_hex(line.get_color()) for line in axes.lines] == list(SERIES[:2])


def test_maps_and_curves_show_the_same_middle() -> None:
    row = (Cell(3, (1.0, 2.0, 9.0)), Cell(3, (4.0,)))
    summary = Summary("sweep", "steps_taken", "fraction", "width", (0.4, 0.6), (8, 16), (row, row))
    np.testing.assert_array_equal(plot.sweep(summary, "map").collections[0].get_array()[0], [2, 4])
    np.testing.assert_array_equal(plot.sweep(summary, "curves").lines[0].get_ydata(), [2, 4])


def test_phases_are_those_of_the_literature() -> None:
    assert [phase(*times) for times in ((100, 200), (100, 1100), (100, None), (None, None))] == [
        "comprehension",
        "grokking",
        "memorization",
        "confusion",
    ]


def test_a_phase_diagram_shows_the_commonest_phase() -> None:
    table = {
        "lr": [0.1, 0.1, 0.1, 0.2, 0.2],
        "width": [8, 8, 8, 8, 16],
        "status": ["finished"] * 4 + ["unfinished"],
        "memorized_at": [10, 10, None, None, None],
        "grokked_at": [2000, 3000, None, None, None],
    }
    diagram = plot.classify(table, "lr", "width")
    assert diagram.phases == (("grokking", "confusion"), (None, None))
    axes = plot.phase_diagram(diagram)
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["grokking", "confusion", "no run has ended"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["8", "16"]


@pytest.mark.parametrize("suffix", style.FORMATS)
def test_figures_are_written_in_the_format_of_their_name(suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / "a" / f"{name}{suffix}" for name in ("one", "two")]
    for path in paths:
        plot.save(plot.curves(HISTORY), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with pytest.raises(ModgrokError, match=r"\.png, \.svg or \.pdf"):
        plot.save(plot.curves(HISTORY), tmp_path / "figure.gif")


def test_style_leaves_other_figures_alone() -> None:
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    plot.curves(HISTORY)
    assert mpl.rcParams["font.size"] == before


class Recorded:
    """A run as pictures of curves see it."""

    def __init__(self, name: str = "", **settings: Any) -> None:
        self.id, self.history = f"id{settings}", HISTORY
        self.experiment, self.labels = Experiment("n + m", 5, **settings), Label(name)


@pytest.mark.parametrize(
    ("runs", "names"),
    [
        ([Recorded(seed=3), Recorded(seed=4)], ["seed 3", "seed 4"]),
        ([Recorded(optimizer="gd"), Recorded(optimizer="adam", lr=0.1)], ["gd", "adam"]),
        ([Recorded("slow", seed=3), Recorded("fast", seed=4)], ["slow", "fast"]),
        ([Recorded(fraction=f, seed=s) for f in (0.3, 0.5) for s in (0, 1)], None),
        ({"mine": Recorded(), "yours": Recorded()}, ["mine", "yours"]),
    ],
    ids=["seeds", "optimizers", "names", "two settings", "keys"],
)
def test_several_runs_are_told_apart(runs: Any, names: list[str] | None) -> None:
    axes = plot.curves(runs)
    labels = axes.get_legend_handles_labels()[1]
    assert labels == [*(names or [f"fraction {f}, seed {s}" for f in (0.3, 0.5) for s in (0, 1)]), "train", "test"]
    colors = {line.get_label(): line.get_color() for line in axes.lines if line.get_linestyle() == "-"}
    assert len({colors[name] for name in labels[:-2]}) == len(labels) - 2


def test_curves_are_pooled_over_seeds() -> None:
    runs: list[Any] = [Recorded(optimizer=o, seed=s) for o in ("gd", "adam") for s in (0, 1, 2)]
    for i, run in enumerate(runs[:3]):
        steps = np.array([0, 1, 100, 200])[: 3 + i // 2]  # The last seed of gd trains for longest.
        run.history = {"step": steps, "test_accuracy": np.array([0.1, 0.5, 0.8 + i / 10, 0.95])[: len(steps)]}
        run.history["train_accuracy"] = run.history["test_accuracy"]
    axes = plot.curves(runs, over="seed")
    assert axes.get_legend_handles_labels()[1] == ["gd", "adam", "train", "test", "range over 3 seeds, line: median"]
    (solid,) = (line for line in axes.lines if line.get_label() == "gd")
    np.testing.assert_allclose(solid.get_xydata(), [[0, 0.1], [1, 0.5], [100, 0.9], [200, 0.9]])
    band = axes.collections[1].get_paths()[0].vertices
    np.testing.assert_allclose(band[band[:, 0] == 200][:, 1], [0.8, 0.95, 0.95])
    alone = plot.curves(runs[3:], over="seed")
    assert alone.get_legend_handles_labels()[1] == ["train", "test", "range over 3 seeds, line: median"]
    keyed = plot.curves({"mine": runs[:3], "yours": runs[3:5]}, "test_accuracy")
    assert keyed.get_legend_handles_labels()[1] == ["mine", "yours", "range over 2 to 3 runs, line: median"]
    for slip, says in ((HISTORY, "a list of runs"), ([], "no run to draw")):
        with pytest.raises(ModgrokError, match=says):
            plot.curves(slip, over="seed")
    with pytest.raises(ModgrokError, match="did you mean 'seed'"):
        plot.curves(runs, over="seeds")


def test_bands_say_what_they_pool_and_gray_has_a_legend() -> None:
    rows = [{"fraction": f, "lr": r, "seed": s} for f in (0.3, 0.5) for r in (0.1, 0.2, 0.3) for s in (0, 1)]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    table = Table(
        {"task": ["n+m"] * 12, "modulus": [7] * 12}
        | columns
        | {"run": [""] * 12, "status": ["finished"] * 12}
        | {"grokked_at": [None, None, *range(1, 11)]},
        ("task", "modulus", "fraction", "lr", "seed"),
    )
    curves = plot.sweep(table, "curves")
    assert "range over seeds, line: median" in [text.get_text() for text in curves.get_legend().get_texts()]
    drawn = plot.sweep(table, "map")
    assert [text.get_text() for text in drawn.get_legend().get_texts()] == ["no run groks"]
    assert drawn.figure.axes[1].get_ylabel() == "step of grokking (median over seeds)"
