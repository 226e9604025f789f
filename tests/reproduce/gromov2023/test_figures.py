import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.closed_form.random_phases import whole_copies
from modgrok.measures import neuron_waves
from modgrok.networks import score_table
from modgrok.plot import style
from modgrok.reproduce.gromov2023.activations import unit_waves
from modgrok.reproduce.gromov2023.preactivations import power_shares
from modgrok.reproduce.gromov2023.sizes import TINY
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Numbers, Study
from modgrok.reproduce.table import Column, Table
from modgrok.tasks import Task, task

PAPER = find_paper()


def measure(study: str, write_runs: Any, profile: Sizes = TINY) -> Numbers:
    found = PAPER.study(study)
    return found.measure(profile, write_runs(found.needs(profile)))


def copies(learned: Task, width: int) -> int:
    assert learned.structure.coordinate is not None
    return whole_copies(learned.structure.coordinate, width)


@pytest.mark.parametrize(
    "study", [s for s in PAPER.studies if s.name not in ("figA1", "closed_forms")], ids=lambda s: s.name
)
def test_numbers_are_json_and_figures_draw_them(study: Study, write_runs: Any) -> None:
    numbers = measure(study.name, write_runs)
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    for claim in PAPER.claims:
        if claim.studies == (study.name,):
            assert claim.verdict({study.name: numbers}).sentence
    for one in study.figures:
        with style.context():
            figure = one.draw(numbers)
        figure.draw_without_rendering()
        assert all(axes.get_ylabel() or axes.images or axes.get_label() == "<colorbar>" for axes in figure.axes)


def test_every_figure_of_the_paper_is_there() -> None:
    names = ["fig0", "fig1", "fig2", "fig3", "fig4", "figA1", "figA2", "figA3", "figA4", "figA5"]
    assert [study.name for study in PAPER.figures if not study.beyond] == names
    assert all(study.caption for study in PAPER.figures)


def test_events_of_a_textbook_run_come_in_order(write_runs: Any) -> None:
    profile = TINY.but(gd=dataclasses.replace(TINY.gd, steps=1000, evaluations=100))
    events = Table.from_json(measure("fig0", write_runs, profile)).first
    assert 0 < events.memorized_at < events.loss_peak_at < events.onset_at < events.grokked_at
    assert events.gradient_peak > events.gradient_start > events.gradient_settled >= events.gradient_later
    assert events.norm_start < events.norm_end == events.norm_largest
    assert 0 < events.test_rise < events.grokked_at - events.memorized_at
    assert events.train_loss_rises == 0


def test_phases_of_the_closed_form_add_up(write_runs: Any) -> None:
    table = Table.from_json(measure("fig2", write_runs))
    pooled = table.one("pooled")
    assert pooled["GD"]["deviation"] < 1e-3 < 0.8 < pooled["random"]["deviation"]
    assert min(table.where(kind="AdamW")["explained_median"]) > 0.999
    assert table.where(kind="GD").first.several == 6


def test_a_seed_that_does_not_grok_takes_forever() -> None:
    assert Column([100, None, 300]).median() == 300
    assert Column([100, 300]).median() == 200
    assert Column([100, None]).median() is None


def test_the_ratio_of_the_closed_form_is_a_quarter(write_runs: Any) -> None:
    table = Table.from_json(measure("fig4", write_runs))
    assert table.one("closed_form_ipr") == pytest.approx(0.25, abs=1e-4)
    assert all(len(row.slopes) == 4 and len(row.bends) == 5 for row in table)


def test_printed_weights_are_cosines_of_amplitude_one() -> None:
    network = unit_waves(task("n + m", 13), 64, "relu", False, 0)
    assert 0.95 < np.abs(network.w_in).max() <= 1 + 1e-6
    scaled = unit_waves(task("n + m", 13), 64, "relu", True, 0)
    np.testing.assert_allclose(scaled.w_in, network.w_in / 26**0.5, rtol=1e-5)


def test_an_activation_stops_at_the_first_width_where_it_is_always_right(write_runs: Any) -> None:
    profile = TINY.but(activation_widths=(8, 64, 256, 512))
    cells = Table.from_json(measure("figA1", write_runs, profile)).by("series")
    square, odd = cells["x²"], cells["tanh"]
    assert [min(accuracy) == 1 for accuracy in square["accuracy"]] == [False] * (len(square) - 1) + [True]
    assert max(square["width"]) < 512
    assert max(odd["mean"]) < 1
    assert odd["width"] == [8, 64, 256, 512]


def test_spectra_are_shares_along_the_task_coordinate() -> None:
    product = task("n*m", 13)
    network = solve(product, "waves", copies(product, 64))
    power = power_shares(network, product)
    assert len(power) == 6
    assert power.sum() == pytest.approx(1)
    # Frequency L/2 has half the coefficient, 2^(-1/3) of the amplitude, and is counted once.
    np.testing.assert_allclose(power[:-1], power[0], rtol=1e-6)
    amplitude = neuron_waves(network, product.structure.coordinate).amplitudes
    assert power[-1] < power[0]
    assert np.nanmax(amplitude) > 0


def test_closed_forms_have_every_frequency_equally_often() -> None:
    assert copies(task("n + m", 97), 500) == 480
    assert copies(task("n*m", 97), 500) == 10 * 48 + 3
    assert copies(task("n + m", 13), 3) == 6


def test_hard_functions_report_their_last_accuracy(write_runs: Any) -> None:
    table = Table.from_json(measure("figA5", write_runs))
    quadratic, cubic = table.by("task").values()
    assert quadratic["fraction"].distinct() == [0.73]
    assert cubic["fraction"].distinct() == [0.9, 0.95]
    assert max(cubic.where(fraction=0.95)["best_test_accuracy"]) < 0.03
    assert table.where(lambda row: row.curves)["fraction"].distinct() == [0.73, 0.9]


def test_rows_of_a_function_are_scored_on_the_whole_table(write_runs: Any) -> None:
    rows = Table.from_json(measure("figA2", write_runs)).first.maps
    assert list(rows) == ["AdamW", "one branch", "all branches"]
    square = task("(n + m)^2", TINY.modulus)
    expected = score_table(solve(square, width=copies(square, TINY.width)), square.table).accuracy
    assert rows["all branches"]["accuracy"] == pytest.approx(expected, abs=1e-3)
    assert rows["one branch"]["accuracy"] < 0.7
    for form in ("one branch", "all branches"):
        assert [np.any(values) for values in rows[form]["outputs"]] == [True, False]
