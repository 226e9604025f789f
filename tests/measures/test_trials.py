"""Which trial of a search is chosen."""

from modgrok.measures.trials import best_trial, edge


def test_the_fastest_is_chosen_or_else_the_best() -> None:
    assert best_trial([(None, 1.0), (30, 0.99), (20, 0.99)]) == 2
    assert best_trial([(None, 0.3), (None, 0.8)]) == 1


def test_outermost_values_are_said() -> None:
    assert edge(3, (1, 3), "rate") == ", the largest rate tried"
    assert edge(1, (1, 3), "rate") == ", the smallest rate tried"
    assert edge(0, (0, 1), "decay") == edge(2, (1, 2, 3), "rate") == edge(1, (1,), "rate") == ""
