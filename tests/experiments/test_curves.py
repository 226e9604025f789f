"""Curves: a line that is changed, missing, moved or foreign shows."""

import json
import zlib

import pytest

from modgrok.errors import Damaged
from modgrok.experiments.curves import Curves

ROWS = [{"step": step, "loss": 1 / (step + 1), "ipr": None} for step in (0, 1, 5, 9)]


@pytest.fixture
def curves(tmp_path):
    found = Curves(tmp_path / "curves.jsonl", "0123456789ab")
    found.append(ROWS[:1])
    found.append(ROWS[1:])
    return found


def again(curves, run="0123456789ab"):
    return Curves(curves.path, run).lines()


def test_lines_come_back_and_are_plain_json(curves):
    assert curves.lines() == again(curves)
    assert again(curves).rows == ROWS
    for line, row in zip(curves.path.read_text().splitlines(), ROWS, strict=True):
        assert {name: value for name, value in json.loads(line).items() if name != "crc"} == row


def test_a_file_is_parsed_when_it_has_changed(curves, monkeypatch):
    lines = curves.lines()
    monkeypatch.setattr(Curves, "_parse", None)
    assert curves.lines() is lines


def test_the_end_is_found_without_parsing(curves, monkeypatch):
    end = curves.lines().end
    monkeypatch.setattr(Curves, "_parse", None)
    assert Curves(curves.path, "0123456789ab").end() == end
    with pytest.raises(Damaged):
        Curves(curves.path, "another").end()


def without(lines, number):
    return lines[:number] + lines[number + 1 :]


def swapped(lines):
    return [lines[1], lines[0], *lines[2:]]


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: without(lines, 0),
        lambda lines: without(lines, 2),
        swapped,
        lambda lines: [*lines, lines[-1]],
        lambda lines: [lines[0].replace(b"1.0", b"2.0"), *lines[1:]],
        lambda lines: [*lines[:-1], lines[-1].replace(b'"crc"', b'"crd"')],
        lambda lines: [*lines, b"{}\n"],
        lambda lines: [*lines, b"\n"],
        lambda lines: [b"\xff\n", *lines],
    ],
)
def test_other_lines_are_refused_by_number(curves, change):
    curves.path.write_bytes(b"".join(change(curves.path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(Damaged, match=r"curves.jsonl .*line \d"):
        again(curves)


def test_lines_of_another_run_are_refused(curves):
    with pytest.raises(Damaged, match="line 1"):
        again(curves, "ffffffffffff")


def test_a_line_cut_short_is_dropped_and_written_over(curves):
    content = curves.path.read_bytes()
    curves.path.write_bytes(content[:-9])
    assert again(curves).rows == ROWS[:-1]
    assert not again(curves).whole
    curves.append(ROWS[-1:])
    assert curves.path.read_bytes() == content


def test_points_after_a_step_are_dropped(curves):
    curves.cut_after(5)
    assert again(curves).rows == ROWS[:3]
    curves.append(ROWS[3:])
    assert again(curves).rows == ROWS


@pytest.mark.parametrize(
    "line",
    [
        '{"step": "1"',
        '{"step": 1, "loss": []',
        '{"step": true',
        '{"step": 1.5',
        '{"loss": 1',
        '{"step": 1, "loss"',
        '{"step": ' + "[" * 10000,
    ],
    ids=lambda line: line[:20],
)
def test_a_line_that_is_no_point_is_named_though_its_checksum_fits(curves, line):
    crc = zlib.crc32(line.encode(), int(curves.lines().end.crc, 16))
    with curves.path.open("a") as file:
        file.write(f'{line}, "crc": "{crc:08x}"}}\n')
    with pytest.raises(Damaged, match="line 5"):
        again(curves)
