"""Safetensors files: canonical bytes, readable by the library, and nothing believed that a header says."""

import contextlib
import json
import random

import numpy as np
import pytest
from safetensors.numpy import load, save

from modgrok.errors import Damaged
from modgrok.networks.tensors import read_tensors, tensor_bytes

TENSORS = {
    "scalar": np.asarray(np.float32(2)),
    "flag": np.asarray(True),
    ".optimizer[0].mu": np.arange(6, dtype=np.int32).reshape(2, 3).T,
    "none": np.zeros((0, 3)),
    "key": np.arange(3, dtype=np.uint32),
}


def header_of(content):
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def with_header(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_tensors_come_back_in_shape_and_type(tmp_path):
    (tmp_path / "file").write_bytes(tensor_bytes(TENSORS, {"step": "3"}))
    found = read_tensors(tmp_path / "file")
    assert found.metadata["step"] == "3"
    assert found.sealed
    by_library = load((tmp_path / "file").read_bytes())
    for name, tensor in TENSORS.items():
        for one in (found.tensors[name], by_library[name]):
            assert (one.shape, one.dtype) == (tensor.shape, tensor.dtype)
            np.testing.assert_array_equal(one, tensor)


def test_bytes_depend_on_the_content_alone():
    backwards = dict(reversed(TENSORS.items()))
    assert tensor_bytes(TENSORS, {"a": "1", "b": "2"}) == tensor_bytes(backwards, {"b": "2", "a": "1"})


def test_the_librarys_files_are_read_too(tmp_path):
    (tmp_path / "file").write_bytes(save(TENSORS | {".optimizer[0].mu": np.ones((2, 3))}, metadata={"a": "1"}))
    found = read_tensors(tmp_path / "file")
    assert (found.metadata, found.sealed) == ({"a": "1"}, False)
    np.testing.assert_array_equal(found.tensors["key"], TENSORS["key"])


def test_brain_floats_become_single(tmp_path):
    numbers = np.array([[1.0, -2.5], [3e38, 0.0]], dtype=np.float32)
    half = (numbers.view(np.uint32) >> 16).astype("<u2").tobytes()
    (tmp_path / "file").write_bytes(with_header({"w": ABOUT | {"dtype": "BF16", "shape": [2, 2]}}, half))
    found = read_tensors(tmp_path / "file").tensors["w"]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, numbers, rtol=2**-7)


def test_no_byte_changes_unnoticed(tmp_path):
    """A file that loses its seal in the change says so; any other change is refused."""
    content, chance = tensor_bytes(TENSORS, {"step": "3"}), random.Random(0)
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << chance.randrange(8)
        (tmp_path / "file").write_bytes(changed)
        with contextlib.suppress(Damaged):
            assert not read_tensors(tmp_path / "file").sealed


ABOUT = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}


@pytest.mark.parametrize(
    "header",
    [
        {"w": ABOUT | {"shape": [10**12]}},
        {"w": ABOUT | {"shape": [-2]}},
        {"w": ABOUT | {"shape": [2.0]}},
        {"w": ABOUT | {"shape": [True, 2]}},
        {"w": ABOUT | {"shape": 2}},
        {"w": ABOUT | {"shape": [1] * 100 + [2]}},
        {"w": ABOUT | {"data_offsets": [0, 10**20]}},
        {"w": ABOUT | {"data_offsets": [-8, 0]}},
        {"w": ABOUT | {"data_offsets": [0]}},
        {"w": ABOUT | {"dtype": "F7"}},
        {"w": ABOUT | {"dtype": None}},
        {"w": ABOUT, "v": ABOUT},
        {"w": ABOUT | {"shape": [1], "data_offsets": [0, 4]}, "v": ABOUT | {"shape": [1], "data_offsets": [2, 6]}},
        {"w": ABOUT | {"shape": [1], "data_offsets": [4, 8]}},
        {"w": ABOUT | {"dtype": "F8_E5M2", "shape": [8]}},
        {"w": {}},
        {"w": None},
        {"__metadata__": None},
        {"__metadata__": {"modgrok": 3}},
        {"__metadata__": ["modgrok"]},
        [],
        b"[" * 100_000,
        b'{"a": NaN}',
        b"\xff\xfe",
        b"",
    ],
    ids=lambda header: str(header)[:40],
)
def test_headers_that_lie_are_refused(tmp_path, header):
    path = tmp_path / "file"
    path.write_bytes(with_header(header, b"\0" * 8))
    with pytest.raises(Damaged, match="file is not a safetensors file"):
        read_tensors(path)


def test_what_is_no_file_is_refused(tmp_path):
    for content in (b"", b"\0" * 7, b"\xff" * 40):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(Damaged, match="cut short"):
            read_tensors(tmp_path / "file")
    with pytest.raises(Damaged, match="not a file"):
        read_tensors(tmp_path)
    with pytest.raises(Damaged, match="missing"):
        read_tensors(tmp_path / "file" / "below")
