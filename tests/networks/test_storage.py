"""Networks on disk."""

import errno
import json
import os

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from modgrok import disk, load
from modgrok.errors import Damaged, ModgrokError, Unknown
from modgrok.networks import ARCHITECTURES, Normalization, two_layer
from modgrok.networks.storage import read_network

RNG = np.random.default_rng(0)
W_IN, W_OUT = RNG.normal(size=(4, 2, 5)), RNG.normal(size=(5, 4))
NETWORKS = {
    "float64": two_layer(W_IN, W_OUT),
    "float32": two_layer(W_IN.astype(np.float32), W_OUT.astype(np.float32), "relu", "standard"),
    "complex128": two_layer(W_IN + 1j * W_IN[::-1], W_OUT - 2j * W_OUT),
    "complex64": two_layer((W_IN + 1j).astype(np.complex64), (W_OUT - 2j).astype(np.complex64), "x^3"),
    "normalized": two_layer(W_IN, W_OUT, "gelu", normalization=Normalization(W_IN[:, 0, 0], W_IN[:, 0, 1] ** 2)),
    "views": two_layer(W_IN.transpose(0, 1, 2)[::-1], W_OUT[:, ::-1]),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_a_saved_network_comes_back_bit_for_bit(network, tmp_path):
    network.save(tmp_path / "network.safetensors", {"seed": 3})
    found = load(tmp_path / "network.safetensors")
    assert (found.activation, found.parametrization) == (network.activation, network.parametrization)
    for mine, theirs in ((network.w_in, found.w_in), (network.w_out, found.w_out)):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)
    if network.normalization is None:
        assert found.normalization is None
    else:
        np.testing.assert_array_equal(found.normalization.mean, network.normalization.mean)
        np.testing.assert_array_equal(found.normalization.std, network.normalization.std)


def test_settings_are_in_the_metadata(tmp_path):
    NETWORKS["float64"].save(tmp_path / "network.safetensors", {"task": "n + m", "seed": 3})
    with safe_open(str(tmp_path / "network.safetensors"), framework="numpy") as file:
        assert json.loads(file.metadata()["settings"]) == {"task": "n + m", "seed": 3}
        assert set(file.keys()) == {"w_in", "w_out"}


def test_jax_arrays_are_saved_too(tmp_path):
    import jax.numpy as jnp

    network = NETWORKS["float32"]
    two_layer(jnp.asarray(network.w_in), jnp.asarray(network.w_out)).save(tmp_path / "network.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "network.safetensors").w_in, network.w_in)


def test_other_files_are_refused_by_name(tmp_path):
    text, foreign, partial = tmp_path / "text", tmp_path / "foreign.safetensors", tmp_path / "partial.safetensors"
    text.write_text("no network")
    save_file({"w_in": W_IN}, str(foreign))
    save_file(
        {"w_in": W_IN}, str(partial), metadata={"modgrok": '{"activation": "relu", "parametrization": "standard"}'}
    )
    for path in (text, foreign, partial, tmp_path / "missing"):
        with pytest.raises(Damaged, match=f"{path.name} is "):
            read_network(path)


def test_a_network_that_is_not_known_here_is_named_and_not_called_damaged(tmp_path, monkeypatch):
    NETWORKS["float64"].save(tmp_path / "network.safetensors")
    monkeypatch.delitem(ARCHITECTURES, "two-layer")
    with pytest.raises(Unknown, match=r"The network 'two-layer' of .* is not known here"):
        load(tmp_path / "network.safetensors")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ModgrokError, match="could not be written: Not a directory"):
        NETWORKS["float64"].save(tmp_path / "file" / "network.safetensors")


def test_a_network_is_replaced_as_one_act(tmp_path, monkeypatch):
    path = tmp_path / "network.safetensors"
    NETWORKS["float64"].save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk.os, "fsync", fail)
    with pytest.raises(ModgrokError, match="No space is left"):
        NETWORKS["float32"].save(path)
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [before]
