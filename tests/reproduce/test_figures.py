import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import solve
from modgrok.networks import score_table
from modgrok.reproduce.catalogue import FIGURES, STUDIES
from modgrok.reproduce.figures import fig0, fig1, fig2, fig3, fig4, figA1, figA5
from modgrok.reproduce.figures.preactivations import clearest_neuron, folded_power
from modgrok.reproduce.profile import TINY
from modgrok.tasks import task


@pytest.mark.parametrize("name", [name for name in STUDIES if name not in ("figA1", "closed_forms")])
def test_numbers_are_json_and_figures_draw_them(name: str, write_runs: Any) -> None:
    study = STUDIES[name]
    numbers = study.numbers(TINY, write_runs(study.experiments(TINY)))
    assert json.loads(json.dumps(numbers, allow_nan=False)) == numbers
    if study.draw is not None:
        figure = study.draw(numbers)
        figure.canvas.draw()
        assert all(axes.get_xlabel() or axes.images or axes.lines or axes.patches for axes in figure.axes)


def test_every_figure_of_the_paper_is_there() -> None:
    names = ["fig0", "fig1", "fig2", "fig3", "fig4", "figA1", "figA2", "figA3", "figA4", "figA5"]
    assert [study.name for study in FIGURES] == names
    assert all(study.draw is not None and study.caption for study in FIGURES)


def test_events_of_a_textbook_run_come_in_order(write_runs: Any) -> None:
    profile = dataclasses.replace(TINY, gd=dataclasses.replace(TINY.gd, steps=1000, evaluations=100))
    (first, _) = fig0.numbers(profile, write_runs(fig0.experiments(profile)))["runs"]
    events = first["events"]
    assert 0 < events["memorized_at"] < events["loss_peak_at"] < events["onset_at"] < events["grokked_at"]
    assert events["gradient_peak"] > events["gradient_start"] > events["gradient_settled"] >= events["gradient_later"]
    assert events["norm_start"] < events["norm_end"] == events["norm_largest"]
    assert events["train_loss_rises"] == 0


def test_gradients_that_grow_long_after_grokking_are_told_apart() -> None:
    step = np.arange(0, 101, 10)
    flat = np.ones(len(step))
    gradient = np.array([1, 2, 4, 6, 3, 1, 1, 1, 1, 9, 8.0])
    curves = dict.fromkeys(fig0.CURVES, flat) | {"step": step, "gradient_in": gradient, "gradient_out": gradient}
    events = fig0.events(curves, {"memorized_at": 20, "grokked_at": 40})
    assert events["gradient_peak_at"] == 30
    assert events["gradient_peak"] == pytest.approx(6 * 2**0.5)
    assert events["gradient_settled"] == pytest.approx(2**0.5)
    assert events["gradient_later"] == pytest.approx(9 * 2**0.5)


def test_the_exact_form_is_one_series_of_peaks_and_random_phases_are_not() -> None:
    addition = task("n + m", 17)
    exact = fig1.wave_shares(solve(addition, "exact"))
    assert exact["n + m"] == pytest.approx(1)
    waves = fig1.wave_shares(solve(addition, "waves", 200))
    assert 0.5 < waves["n + m"] < 1
    assert sum(waves[name] for name in ("n − m", "2n", "2m")) > 1e-3
    assert waves["elsewhere"] == pytest.approx(0, abs=1e-9)


def test_a_fourier_image_has_its_peaks_where_the_wave_is() -> None:
    n = np.arange(11)
    image = fig1.fourier_image(np.cos(2 * np.pi * 3 * (n[:, None] + n) / 11) + 5)
    assert {tuple(place - 5) for place in np.argwhere(image > 0.5)} == {(3, 3), (-3, -3)}


def test_phases_of_the_closed_form_add_up(write_runs: Any) -> None:
    kinds = fig2.numbers(TINY, write_runs(fig2.experiments(TINY)))["kinds"]
    assert kinds["GD"]["deviation"] < 1e-3 < 0.8 < kinds["random"]["deviation"]
    assert all(seed["explained"] > 0.999 for seed in kinds["AdamW"]["seeds"])
    assert kinds["GD"]["seeds"][0]["frequencies"] == 6


def test_times_are_medians_of_the_seeds_that_grokked() -> None:
    assert fig3.median_time([100, None, 300]) == 200
    assert fig3.median_time([100, None, None]) is None


def test_the_critical_fraction_has_no_gap_above_it() -> None:
    fractions = (0.2, 0.4, 0.6, 0.8)
    assert fig3.critical_fraction(fractions, [[None], [9], [7], [5]]) == 0.4
    assert fig3.critical_fraction(fractions, [[3], [9], [None], [5]]) == 0.8
    assert fig3.critical_fraction(fractions, [[3], [9], [7], [None]]) is None


def test_eight_optimizers_stop_when_they_have_grokked() -> None:
    assert len(fig3.optimizers(TINY)) == 8
    assert all(experiment.until is not None for experiment in fig3.experiments(TINY))


def test_the_ratio_of_the_closed_form_is_a_quarter(write_runs: Any) -> None:
    numbers = fig4.numbers(TINY, write_runs(fig4.experiments(TINY)))
    assert numbers["closed_form_ipr"] == pytest.approx(0.25, abs=1e-4)
    assert all(len(run["slopes"]) == 4 and len(run["bends"]) == 5 for run in numbers["runs"])


def test_printed_weights_are_cosines_of_amplitude_one() -> None:
    network = figA1.unit_waves(task("n + m", 13), 64, "relu", False, 0)
    assert 0.95 < np.abs(network.w_in).max() <= 1 + 1e-6
    scaled = figA1.unit_waves(task("n + m", 13), 64, "relu", True, 0)
    np.testing.assert_allclose(scaled.w_in, network.w_in / 26**0.5, rtol=1e-5)


def test_an_activation_stops_at_the_first_width_where_it_is_always_right(write_runs: Any) -> None:
    profile = dataclasses.replace(TINY, activation_widths=(8, 64, 256, 512))
    numbers = figA1.numbers(profile, write_runs([]))
    square, odd = numbers["activations"]["x²"], numbers["activations"]["tanh"]
    assert square["perfect_at"] == square["widths"][-1] < 512
    assert odd["perfect_at"] is None
    assert odd["widths"] == [8, 64, 256, 512]


def test_spectra_are_shares_along_the_task_coordinate() -> None:
    product = task("n*m", 13)
    network = solve(product, "waves", 60)
    power = folded_power(network, product)
    assert len(power) == 6
    assert power.sum() == pytest.approx(1)
    assert 0 <= clearest_neuron(network, product) < 60


def test_hard_functions_report_their_last_accuracy(write_runs: Any) -> None:
    functions = figA5.numbers(TINY, write_runs(figA5.experiments(TINY)))["functions"]
    assert functions["cubic"]["fraction"] == 0.9
    assert functions["quadratic"]["fraction"] == 0.73
    assert max(functions["cubic"]["best_test_accuracy"]) < 0.03


def test_rows_of_a_function_are_scored_on_the_whole_table(write_runs: Any) -> None:
    study = STUDIES["figA2"]
    rows = study.numbers(TINY, write_runs(study.experiments(TINY)))["rows"]
    assert list(rows) == ["AdamW", "one branch", "all branches"]
    square = task("(n + m)^2", TINY.modulus)
    expected = score_table(solve(square, width=TINY.width), square.table).accuracy
    assert rows["all branches"]["accuracy"] == pytest.approx(expected, abs=1e-3)
    assert rows["one branch"]["accuracy"] < 0.7
