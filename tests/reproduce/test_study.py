from pathlib import Path

import numpy as np

from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.records import read_records, record_path, write_record
from modgrok.reproduce.table import rounded

PAPER = find_paper()


def test_numbers_become_json() -> None:
    value = {"a": np.array([1.23456789, np.nan]), "b": (np.int64(3), True, np.bool_(False)), 4: None, "c": "text"}
    assert rounded(value) == {"a": [1.2346, None], "b": [3, True, False], "4": None, "c": "text"}


def test_a_record_is_read_back_and_has_the_same_bytes_for_the_same_numbers(tmp_path: Path) -> None:
    numbers = {"a": [1, 2.5, None], "b": {"c": [[1, 2], [3, 4]], "d": "x [ y ],\n z"}, "e": [{"f": ["q, [ r ]", True]}]}
    study, profile = PAPER.study("fig1"), PAPER.profile("tiny")
    write_record(tmp_path, study, profile, numbers)
    assert read_records(tmp_path, PAPER, profile) == {"fig1": numbers}
    first = record_path(tmp_path, study).read_bytes()
    write_record(tmp_path, study, profile, numbers)
    assert record_path(tmp_path, study).read_bytes() == first
