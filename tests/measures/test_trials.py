"""Which trial of a search is chosen."""

from modgrok.measures.samples import best_trial, edge, fastest_trial, first_times, tuned_times


def test_the_fastest_is_chosen_or_else_the_best() -> None:
    assert best_trial([(None, 1.0), (30, 0.99), (20, 0.99)]) == 2
    assert best_trial([(None, 0.3), (None, 0.8)]) == 1


def test_outermost_values_are_said() -> None:
    assert edge(3, (1, 3), "rate") == ", the largest rate tried"
    assert edge(1, (1, 3), "rate") == ", the smallest rate tried"
    assert edge(0, (0, 1), "decay") == edge(2, (1, 2, 3), "rate") == edge(1, (1,), "rate") == ""


def test_a_seed_is_timed_with_the_trial_that_the_others_choose() -> None:
    # The first trial is faster for two seeds; the last seed is the only one that prefers the second.
    cells = [[100, 100, 400], [200, 200, 50]]
    assert fastest_trial(cells) == 0
    assert tuned_times(cells) == [200, 200, 400]
    assert tuned_times([[None, None], [7, None]]) == [None, None]
    assert fastest_trial([[None], [None]]) is None
    assert tuned_times([[9], [7]]) == [7]
    assert first_times([[9, None, 5], [7, None, None]]) == [7, None, 5]
