"""Weights from elsewhere become the network they are."""

import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError


@pytest.fixture(scope="module")
def exact() -> mg.Network:
    return mg.solve("n + m", "exact", modulus=7)


@pytest.mark.parametrize("parametrization", ["mean-field", "standard"])
def test_parametrization_is_guessed_from_the_scale(parametrization: str) -> None:
    network = mg.solve("n + m", "exact", modulus=11, parametrization=parametrization)
    w_in = network.w_in.reshape(network.width, -1)
    for first, last in ((w_in, network.w_out), (w_in.T, network.w_out), (network.w_in, network.w_out.T)):
        found = mg.Network.from_matrices(first, last)
        assert found.parametrization == parametrization
        assert mg.score_table(found, mg.task("n + m", 11).table).accuracy == 1


def test_jax_arrays_and_files(exact: mg.Network, tmp_path) -> None:
    import jax.numpy as jnp

    w_in, w_out = exact.w_in.reshape(exact.width, -1).astype(np.float32), exact.w_out.astype(np.float32)
    np.testing.assert_array_equal(mg.Network.from_matrices(jnp.asarray(w_in), jnp.asarray(w_out)).w_out, w_out)
    np.savez(tmp_path / "net.npz", a=w_in, b=w_out)
    assert mg.score_table(mg.load(tmp_path / "net.npz"), mg.task("n + m", 7).table).accuracy == 1
    mg.save_network(exact, tmp_path / "net.safetensors")
    np.testing.assert_array_equal(mg.load(tmp_path / "net.safetensors").w_in, exact.w_in)


@pytest.mark.parametrize(
    ("w_in", "w_out"),
    [
        (np.ones((4, 9)), np.ones((5, 4))),
        (np.ones((4, 10), int), np.ones((5, 4))),
        (np.ones((4, 10)), np.ones((5, 3))),
        (np.full((4, 10), np.nan), np.ones((5, 4))),
        (1e9 * np.ones((4, 10)), np.ones((5, 4))),
        ("text", np.ones((5, 4))),
    ],
)
def test_what_does_not_fit_is_said(w_in, w_out) -> None:
    with pytest.raises(ModgrokError):
        mg.Network.from_matrices(w_in, w_out)


def test_files_that_hold_no_network(tmp_path) -> None:
    np.savez(tmp_path / "one.npz", a=np.ones((2, 2)))
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    (tmp_path / "net.txt").write_text("")
    for name in ("one.npz", "bad.npz", "net.txt", "missing.npz"):
        with pytest.raises(ModgrokError):
            mg.load(tmp_path / name)
