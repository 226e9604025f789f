"""The curves of a run, `curves.jsonl`: one JSON object for each evaluation, appended as the run goes.

Every line ends with a checksum, `"crc"`: the CRC-32 of the line before that key, continued from the line above and, in
the first line, from the run's id. So a changed, missing or foreign line shows.
"""

import json
import os
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.disk import append_bytes, cut
from modgrok.errors import Damaged, ModgrokError
from modgrok.experiments.stored_json import fits
from modgrok.sealed import parse_json, read_file

_encoded = json.JSONEncoder(allow_nan=False).encode
_LINE = re.compile(rb'(\{.*), "crc": "([0-9a-f]{8})"\}')


@dataclass(frozen=True)
class Mark:
    """Length and checksum of curves, as checkpoints and results record them."""

    rows: int
    crc: str
    """Of the last row."""


@dataclass(frozen=True)
class Lines:
    """Contents of a curves file, without a last line that a crash truncated."""

    rows: list[dict[str, Any]]
    crcs: list[int]
    """Checksums after no row, one row, …"""
    ends: list[int]
    """Bytes of no row, one row, …"""
    whole: bool
    """Whether the last line is complete."""

    def mark(self, rows: int) -> Mark:
        return Mark(rows, f"{self.crcs[rows]:08x}")

    @property
    def end(self) -> Mark:
        return self.mark(len(self.rows))


class Curves:
    """One run's curves."""

    def __init__(self, path: Path, run: str) -> None:
        self.path = path
        self._start = zlib.crc32(run.encode())
        self._read: tuple[Any, Lines] | None = None

    def lines(self) -> Lines:
        """The current contents, parsed again only if the file has changed. `Damaged` names the first line that was
        altered."""
        state = self._state()
        if state is None:
            return Lines([], [self._start], [0], True)
        if self._read is None or self._read[0] != state:
            self._read = state, self._parse(read_file(self.path))
        return self._read[1]

    def end(self) -> Mark:
        """Length and checksum of all that is there, compared line by line and not parsed."""
        complete, crc = read_file(self.path).split(b"\n")[:-1] if self._state() else [], self._start
        for number, line in enumerate(complete, start=1):
            crc, _ = self._body(line, number, crc)
        return Mark(len(complete), f"{crc:08x}")

    def append(self, rows: list[dict[str, Any]]) -> None:
        lines = self.lines()
        crcs, ends, text = list(lines.crcs), list(lines.ends), bytearray()
        crc = crcs[-1]
        # All rows in one call, three times as fast; they hold numbers alone, so that braces are between them only.
        for body in _encoded(rows)[2:-2].encode().split(b"}, {") if rows else ():
            crc = zlib.crc32(body, zlib.crc32(b"{", crc))
            crcs.append(crc)
            text += b'{%b, "crc": "%08x"}\n' % (body, crc)
            ends.append(lines.ends[-1] + len(text))
        append_bytes(self.path, lines.ends[-1], bytes(text))
        self._read = self._state(), Lines(lines.rows + rows, crcs, ends, True)

    def cut_after(self, step: int) -> None:
        """Removes all points after a step."""
        lines = self.lines()
        kept = lines.ends[sum(row["step"] <= step for row in lines.rows)]
        if kept < lines.ends[-1] or not lines.whole:
            cut(self.path, kept)

    def _parse(self, content: bytes) -> Lines:
        *complete, rest = content.split(b"\n")
        rows: list[dict[str, Any]] = []
        crc, end = self._start, 0
        crcs, ends = [crc], [0]
        for number, line in enumerate(complete, start=1):
            crc, row = self._line(line, number, crc)
            if rows and (row["step"] <= rows[-1]["step"] or row.keys() != rows[-1].keys()):
                raise Damaged(f"{self.path} has a line {number} that does not belong after the one above.")
            end += len(line) + 1
            rows.append(row)
            crcs.append(crc)
            ends.append(end)
        return Lines(rows, crcs, ends, not rest)

    def _body(self, line: bytes, number: int, crc: int) -> tuple[int, bytes]:
        """The checksum after a line, and the line without it."""
        match = _LINE.fullmatch(line)
        crc = zlib.crc32(match[1], crc) if match else crc
        if match is None or f"{crc:08x}".encode() != match[2]:
            raise Damaged(f"{self.path} is not what was written there: the checksum of line {number} does not fit.")
        return crc, match[1]

    def _line(self, line: bytes, number: int, crc: int) -> tuple[int, dict[str, Any]]:
        crc, body = self._body(line, number, crc)
        try:
            row = parse_json(body + b"}")
        except ValueError as error:
            raise Damaged(f"{self.path} cannot be read in line {number}: {error}.") from error
        if not isinstance(row, dict) or not fits(row.get("step"), int) or not fits(row, dict[str, float | None]):
            raise Damaged(f"{self.path} has a line {number} that is not a point of the curves.")
        return crc, row

    def _state(self) -> tuple[int, int, int] | None:
        """A fingerprint that changes with the file; None if there is no file."""
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ModgrokError(f"{self.path} cannot be read: {error.strerror}.") from error
        return found.st_ino, found.st_size, found.st_mtime_ns
