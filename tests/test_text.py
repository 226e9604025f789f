import pytest

from modgrok.text import abridged, count, duration, in_ascii, number, percent, printable, size, spread


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.25, "0.25"),
        (1234.0, "1\u202f234"),
        (5e5, "500\u202f000"),
        (2.5e-6, "2.5e-6"),
        (6e7, "6e7"),
        (None, "–"),
        (float("nan"), "–"),
    ],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert number(value) == text


def test_texts_of_others_do_not_steer_a_terminal() -> None:
    assert printable("\x1b[31mred\x07\r\u202ereversed\udc80") == "\ufffd[31mred\ufffd\ufffd\ufffdreversed\ufffd"
    plain = "n² + m\tα\u202f%\n"
    assert printable(plain) == plain


def test_long_values_are_cut() -> None:
    assert abridged("short") == "'short'"
    assert abridged(10**70) == f"1{'0' * 59}…"
    assert abridged(10**5000) == "a number of thousands of digits"


def test_counts_keep_all_digits_and_name_what_is_counted() -> None:
    assert count(12_345_678) == "12\u202f345\u202f678"
    assert [count(n, "run") for n in (0, 1, 2)] == ["0 runs", "1 run", "2 runs"]
    assert count(3, "batch") == "3 batches"
    assert count(None) == "–"


def test_shares_times_and_sizes() -> None:
    assert percent(0.12345) == "12.3\u202f%"
    assert percent(1, 0) == "100\u202f%"
    assert percent(None) == percent(float("nan")) == "–"
    times = [8.5e-5, 0.0123, 0, 45, 700, 12_000]
    assert [duration(x) for x in times] == ["85 µs", "12.3 ms", "0 s", "45 s", "12 min", "3 h 20 min"]
    assert [size(x) for x in (640, 12_340_000)] == ["640 B", "12.3 MB"]


def test_a_spread_names_median_range_and_what_is_missing() -> None:
    assert spread([3, 1, 2]) == "2 (1 to 3, 3 seeds)"
    assert spread([3, None]) == "3 (1 of 2 seeds)"
    assert spread([None, None]) == "none of 2"
    assert spread([0.5], percent, over="fraction") == "50.0\u202f% (1 fraction)"


def test_what_a_terminal_cannot_show_is_spelled() -> None:
    assert in_ascii("α ≤ 99\u202f%, φ1 − φ2…") == "alpha <= 99 %, phi1 - phi2..."
    assert in_ascii("é ██ ⠒ ┤─ 中") == "e ## . |- ?"
    assert in_ascii("plain") == "plain"
