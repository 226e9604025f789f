"""Stored JSON: only what the dataclass declares, and only what was written."""

import json
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from modgrok.errors import Damaged
from modgrok.experiments.stored_json import build, read_sealed_json, write_sealed_json
from modgrok.sealed import UNSEALED, seal


@dataclass(frozen=True)
class Example:
    name: str
    kind: Literal["a", "b"]
    steps: int
    rate: float
    loss: float | None
    flags: list[bool]
    measures: dict[str, float]
    anything: Any = None


GOOD = {"name": "n", "kind": "a", "steps": 3, "rate": 1, "loss": None, "flags": [True], "measures": {"x": 1.5}}

NESTED = b'{%s, "a": ' + b"[" * 100_000
DIGEST = f'"digest": "{UNSEALED}"'.encode()


def read(path, content):
    write_sealed_json(path, content)
    return build(Example, read_sealed_json(path), path)


def test_what_is_declared_is_read(tmp_path):
    assert read(tmp_path / "file", GOOD) == Example(**GOOD)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"name": None}, "'name'"),
        ({"kind": "c"}, "'kind'"),
        ({"kind": ["a"]}, "'kind'"),
        ({"steps": 3.0}, "'steps'"),
        ({"steps": True}, "'steps'"),
        ({"steps": 10**4000}, "'steps'"),
        ({"steps": "3"}, "'steps'"),
        ({"rate": 10**400}, "'rate'"),
        ({"rate": None}, "'rate'"),
        ({"loss": "0"}, "'loss'"),
        ({"flags": {}}, "'flags'"),
        ({"flags": [1]}, "'flags'"),
        ({"measures": []}, "'measures'"),
        ({"measures": {"x": None}}, "'measures'"),
        ({"other": 1}, "'other'"),
    ],
    ids=str,
)
def test_what_is_not_declared_is_named(tmp_path, change, word):
    with pytest.raises(Damaged, match=f"file has .*{word}"):
        read(tmp_path / "file", GOOD | change)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(Damaged, match="has no 'rate'"):
        read(tmp_path / "file", {name: value for name, value in GOOD.items() if name != "rate"})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{%s",
        b"[{%s}]",
        b"[%s]",
        b"\xff{%s}",
        b'{"rate": NaN, %s}',
        b'{"rate": -Infinity, %s}',
        b"{}",
        b"3",
        NESTED,
    ],
    ids=lambda content: repr(content[:20]),
)
def test_what_is_no_sealed_object_is_refused(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(seal(content % DIGEST) if b"%s" in content else content)
    with pytest.raises(Damaged, match="file "):
        read_sealed_json(path)


def test_no_byte_of_a_sealed_file_changes_unnoticed(tmp_path):
    path = tmp_path / "file"
    write_sealed_json(path, GOOD)
    assert read_sealed_json(path) == GOOD
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(Damaged):
            read_sealed_json(path)


@pytest.mark.parametrize("value", [{}, [], 3, {"a": {}, "b": [], "c": {"d": "x, ü", "e": None}, "f": 0.5, "g": True}])
def test_objects_are_written_as_python_indents_them(tmp_path, value):
    path = tmp_path / "one.json"
    write_sealed_json(path, {"value": value, "list": [1, [2, value]]})
    text = path.read_text()
    assert text == json.dumps(json.loads(text), indent=1) + "\n"
