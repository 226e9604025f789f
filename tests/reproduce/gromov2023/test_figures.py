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
from modgrok.reproduce.gromov2023 import PAPER, times, transitions, tuning
from modgrok.reproduce.gromov2023.activations import unit_waves
from modgrok.reproduce.gromov2023.functions import power_shares
from modgrok.reproduce.gromov2023.moduli import fit_laws
from modgrok.reproduce.gromov2023.profile import FULL, QUICK, TINY, Profile, natural_unit
from modgrok.reproduce.nested import Numbers, Study, median_time
from modgrok.reproduce.table import Table
from modgrok.tasks import Task, task


def measure(study: str, write_runs: Any, profile: Profile = TINY) -> Numbers:
    found = PAPER.study(study)
    return found.measure(profile, write_runs(found.needs(profile)))


def copies(learnt: Task, width: int) -> int:
    assert learnt.structure.coordinate is not None
    return whole_copies(learnt.structure.coordinate, width)


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
    assert median_time([100, None, 300]) == 300
    assert median_time([100, 300]) == 200
    assert median_time([100, None]) is None


def test_a_seed_is_timed_with_the_trial_that_the_others_choose() -> None:
    # The first trial is faster for two seeds; the last seed is the only one that prefers the second.
    cells = [[100, 100, 400], [200, 200, 50]]
    assert times.best_trial(cells) == 0
    assert times.tuned_times(cells) == [200, 200, 400]
    assert times.tuned_times([[None, None], [7, None]]) == [None, None]
    assert times.best_trial([[None], [None]]) is None
    assert times.tuned_times([[9], [7]]) == [7]
    assert times.first_times([[9, None, 5], [7, None, None]]) == [7, None, 5]


def test_every_contestant_has_as_many_trials_and_a_stated_grid() -> None:
    found = {name: one.trials(QUICK.search) for name, one in tuning.contestants(QUICK).items()}
    assert {len(trials) for trials in found.values()} == {9}
    assert len(found) == 8
    rates = [trial["lr"] for trial in found["GD"]]
    assert np.allclose(np.diff(np.log10(rates)), 1 / 3, atol=1e-3)
    start = QUICK.search.descent * natural_unit(QUICK.sweep_modulus, QUICK.sweep_width)
    assert rates[4] == pytest.approx(start, rel=1e-3)
    assert len({(trial["lr"], trial["weight_decay"]) for trial in found["AdamW"]}) == 9
    full = {name: one.trials(FULL.search) for name, one in tuning.contestants(FULL).items()}
    assert {len(trials) for trials in full.values()} == {15}
    assert len({trial["lr"] for trial in full["AdamW"]}) == 5
    assert all(experiment.until is not None for experiment in PAPER.study("fig3").needs(TINY))


def test_momentum_is_compared_at_equal_effective_rates() -> None:
    tried = {"GD": [{"lr": 1.0}, {"lr": 10.0}], "momentum": [{"lr": 0.1}, {"lr": 3.0}]}
    found = tuning.effective_rates(tried, {"GD": [[[100]], [[10]]], "momentum": [[[90]], [[5]]]})
    assert found == [{"rate": 1.0, "GD": [100.0], "momentum": [90.0]}]


def test_a_run_groks_within_a_budget_that_is_long_enough() -> None:
    fractions, cells = (0.1, 0.2, 0.3, 0.4), [[None, None], [5000, 9000], [400, 600], [50, 60]]
    short, middle, long = (transitions.transition(fractions, cells, budget) for budget in (100, 1000, 10_000))
    assert 0.3 < short.critical < 0.4
    assert 0.2 < middle.critical < 0.3
    assert 0.1 < long.critical < 0.2
    assert transitions.less(vars(long), vars(middle))
    assert not transitions.less(vars(middle), vars(long))
    assert str(transitions.transition(fractions, cells, 10)) == "above 0.4"
    below = {"critical": None, "low": None, "high": 0.1, "width": None}
    assert transitions.less(below, vars(middle))
    assert not transitions.less(below, below)


def test_laws_are_told_apart_by_the_same_points() -> None:
    moduli = (23, 31, 47, 71, 97, 113)

    def found(alpha: Any) -> list[dict[str, Any]]:
        return [{"critical": alpha(p), "low": 0, "high": 1, "width": 0.1} for p in moduli]

    logarithmic = fit_laws(moduli, found(lambda p: 5.9 * np.log(p) / p))
    power = fit_laws(moduli, found(lambda p: 8 * p**-0.6))
    assert logarithmic is not None
    assert power is not None
    assert logarithmic["factors"]["logarithmic"] == pytest.approx(5.9)
    assert logarithmic["aicc"]["logarithmic"] < logarithmic["aicc"]["power"]
    assert power["exponent"] == pytest.approx(0.6)
    assert power["aicc"]["power"] < power["aicc"]["logarithmic"]
    assert fit_laws(moduli[:4], found(lambda p: 1 / p)[:4]) is None


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
