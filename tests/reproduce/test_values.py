import numpy as np

from modgrok.reproduce.values import mean, percent, plain, short, spread


def test_numbers_become_json() -> None:
    value = {"a": np.array([1.23456789, np.nan]), "b": (np.int64(3), True, np.bool_(False)), 4: None, "c": "text"}
    assert plain(value) == {"a": [1.2346, None], "b": [3, True, False], "4": None, "c": "text"}


def test_texts_are_short() -> None:
    assert [short(x) for x in (0, 0.25, 1234.0, 5e5, 2.5e-6, None)] == [
        "0",
        "0.25",
        "1\u202f234",
        "500\u202f000",
        "2.5e-6",
        "–",
    ]
    assert percent(0.12345) == "12.3\u202f%"


def test_a_spread_names_median_range_and_what_is_missing() -> None:
    assert spread([3, 1, 2]) == "2 (1 to 3, 3 seeds)"
    assert spread([3, None]) == "3 (2 seeds, none in 1)"
    assert spread([None, None]) == "none of 2"
    assert mean([1, None, 3]) == 2
    assert np.isnan(mean([None]))
