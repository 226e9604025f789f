"""Weights from elsewhere become the network they are."""

import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.networks import weight_files


@pytest.fixture(scope="module")
def exact() -> mg.Network:
    return mg.solve("n + m", 7, form="exact")


@pytest.mark.parametrize("parametrization", ["mean-field", "standard"])
def test_parametrization_is_guessed_from_the_scale(parametrization: str) -> None:
    network = mg.solve("n + m", 11, form="exact", parametrization=parametrization)
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
    exact.save(tmp_path / "net.safetensors")
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


def test_variables_follow_from_the_answers() -> None:
    network = mg.solve("n1 + n2 + n3", 5, form="exact")
    found = mg.Network.from_matrices(network.w_in.reshape(network.width, -1), network.w_out)
    assert found.arity == 3
    for variables in (0, 4):
        with pytest.raises(ModgrokError, match=r"variable|blocks"):
            mg.Network.from_matrices(network.w_in.reshape(network.width, -1), network.w_out, variables=variables)


def test_half_precision_becomes_single(exact: mg.Network) -> None:
    w_in, w_out = exact.w_in.reshape(exact.width, -1).astype(np.float16), exact.w_out.astype(np.float16)
    assert mg.Network.from_matrices(w_in, w_out).dtype == np.float32


@pytest.mark.parametrize("kind", [">f4", ">f8", "longdouble", ">c8"])
def test_numbers_of_other_machines_are_converted(exact: mg.Network, tmp_path, kind: str) -> None:
    w_in, w_out = exact.w_in.reshape(exact.width, -1).astype(kind), exact.w_out.astype(kind)
    np.savez(tmp_path / "net.npz", a=w_in, b=w_out)
    network = mg.load(tmp_path / "net.npz")
    assert network.dtype.isnative
    assert network.dtype in (np.float32, np.float64, np.complex64)
    network.save(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(mg.load(tmp_path / "net.safetensors").w_out, network.w_out)


def test_weights_are_copied(exact: mg.Network) -> None:
    w_in, w_out = exact.w_in.copy(), exact.w_out.copy()
    network = mg.Network.from_matrices(w_in, w_out)
    w_in[:], w_out[:] = 0, 0
    np.testing.assert_array_equal(network.w_in, exact.w_in)
    np.testing.assert_array_equal(network.w_out, exact.w_out)


def test_files_that_take_too_much(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(weight_files, "MOST_BYTES", 1 << 22)
    np.savez_compressed(tmp_path / "net.npz", w=np.zeros(1 << 22, np.uint8))
    assert (tmp_path / "net.npz").stat().st_size < 1 << 14
    with open(tmp_path / "net.safetensors", "wb") as file:
        file.truncate(1 << 40)
    for name in ("net.npz", "net.safetensors"):
        with pytest.raises(ModgrokError, match=f"{name}.* takes .*; a network may take at most 4.19 MB"):
            mg.load(tmp_path / name)
    np.savez(tmp_path / "texts.npz", a=np.ones((4, 10)), b=np.ones((5, 4)), c=np.array([(1, 2.0)], dtype="i4,f8"))
    with pytest.raises(ModgrokError, match=r"c of .* must hold numbers"):
        mg.load(tmp_path / "texts.npz")
    with pytest.raises(ModgrokError, match="w_in takes 4 TB"):
        mg.Network.from_matrices(np.broadcast_to(np.float32(1), (10**6, 10**6)), np.ones((5, 10**6), np.float32))


def test_biases_are_not_left_out_in_silence(exact: mg.Network, tmp_path) -> None:
    w_in, w_out = exact.w_in.reshape(exact.width, -1), exact.w_out
    np.savez(tmp_path / "zero.npz", w_in=w_in, b=np.zeros(exact.width), w_out=w_out)
    assert mg.load(tmp_path / "zero.npz").width == exact.width
    np.savez(tmp_path / "biases.npz", w_in=w_in, b=np.ones(exact.width), w_out=w_out)
    found = mg.load(tmp_path / "biases.npz", activation="quadratic")
    assert found.architecture.name == "mlp"
    x = np.concatenate([np.eye(7)[[1, 2]], np.eye(7)[[3, 4]]], axis=1)
    np.testing.assert_allclose(found([[1, 3], [2, 4]]), (x @ w_in.T + 1) ** 2 @ w_out.T)
    np.savez(tmp_path / "scale.npz", w_in=w_in, scale=np.ones(3), w_out=w_out)
    with pytest.raises(ModgrokError, match="more than two weight matrices, and no layers"):
        mg.load(tmp_path / "scale.npz")


def test_a_parametrization_can_be_named(tmp_path) -> None:
    np.savez(tmp_path / "noise.npz", a=1e-3 * np.ones((4, 10)), b=1e-3 * np.ones((5, 4)))
    with pytest.raises(ModgrokError, match="parametrization="):
        mg.load(tmp_path / "noise.npz")
    assert mg.load(tmp_path / "noise.npz", parametrization="standard").parametrization == "standard"


class Tensor:
    """As much of a tensor of PyTorch as is needed to read it."""

    def __init__(self, array) -> None:
        self.array = np.asarray(array)

    def detach(self):
        return self

    cpu = detach

    def element_size(self) -> int:
        return self.array.itemsize

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def __array__(self, dtype=None, copy=None):
        return self.array


class Meta(Tensor):
    """A tensor with a shape and no numbers."""

    is_meta = True

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape


class Lazy(Tensor):
    """A tensor that NumPy is given only when its sign has been resolved."""

    def resolve_neg(self) -> Tensor:
        return Tensor(-self.array)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that has negative bit set. Use tensor.resolve_neg().numpy()")


@pytest.fixture
def torch_finds(monkeypatch):
    """Makes a stand-in for PyTorch find something in every file; without PyTorch this is all that can be tested."""

    def finds(content) -> None:
        def load(file, map_location, weights_only):
            assert weights_only
            if isinstance(content, Exception):
                raise content
            return content

        monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(load=load))

    return finds


def test_state_dicts_and_checkpoints(exact: mg.Network, tmp_path, torch_finds) -> None:
    path = tmp_path / "net.pt"
    path.touch()
    w_in, w_out = exact.w_in.reshape(exact.width, -1), exact.w_out
    weights = {"0.weight": Tensor(w_in), "1.seen": Tensor(np.int64(7)), "2.weight": Tensor(w_out)}
    for content in (weights, {"epoch": 3, "model": weights, "optimizer": {"state": {}}}):
        torch_finds(content)
        np.testing.assert_array_equal(mg.load(path).w_in, exact.w_in)
    for content in ([weights], Tensor(w_in), {"epoch": 3}, {"a": weights, "b": weights}, RuntimeError("Re-run with …")):
        torch_finds(content)
        with pytest.raises(ModgrokError, match=r"not a state dict of PyTorch; write one with torch\.save"):
            mg.load(path)


def test_tensors_without_numbers_or_with_lazy_signs(exact: mg.Network, tmp_path, torch_finds) -> None:
    path = tmp_path / "net.pt"
    path.touch()
    w_in, w_out = exact.w_in.reshape(exact.width, -1), exact.w_out
    torch_finds({"a": Lazy(-w_in), "b": Tensor(w_out)})
    np.testing.assert_array_equal(mg.load(path).w_in, exact.w_in)
    torch_finds({"a": Meta(w_in), "b": Tensor(w_out)})
    with pytest.raises(ModgrokError, match=r"a must be a dense array .*: it is on PyTorch's meta device"):
        mg.load(path)
    torch_finds({"a": Meta(np.broadcast_to(np.float32(0), (1 << 20, 1 << 20))), "b": Tensor(w_out)})
    with pytest.raises(ModgrokError, match=r"a takes 4\.4 TB"):
        mg.load(path)


def test_pytorch_itself(exact: mg.Network, tmp_path) -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(
        torch.nn.Linear(14, exact.width, bias=False), torch.nn.Identity(), torch.nn.Linear(exact.width, 7, bias=False)
    )
    with torch.no_grad():
        model[0].weight[:] = torch.tensor(exact.w_in.reshape(exact.width, -1))
        model[2].weight[:] = torch.tensor(exact.w_out)
    for kind in (torch.float32, torch.bfloat16):
        torch.save(model.to(kind).state_dict(), tmp_path / "net.pt")
        assert mg.score_table(mg.load(tmp_path / "net.pt"), mg.task("n + m", 7).table).accuracy == 1
        assert mg.Network.from_matrices(model[0].weight, model[2].weight).dtype == np.float32

    odd = {"meta": torch.ones(4, 14, device="meta"), "sparse": torch.ones(4, 14).to_sparse()}
    for name, tensor in odd.items():
        with pytest.raises(ModgrokError, match="w_in is a dense array"):
            mg.Network.from_matrices(tensor, model[2].weight)
        torch.save({name: tensor, "w": model[2].weight}, tmp_path / "odd.pt")
        with pytest.raises(ModgrokError):
            mg.load(tmp_path / "odd.pt")
    with pytest.raises(ModgrokError, match="w_in takes 4 TB"):
        mg.Network.from_matrices(torch.ones(1).expand(10**6, 10**6), model[2].weight)
    lazy = torch.complex(torch.zeros(exact.width, 14), -model[0].weight.detach().float()).conj().imag
    assert lazy.is_neg()
    found = mg.Network.from_matrices(lazy, model[2].weight.detach().float())
    np.testing.assert_array_equal(found.w_in.reshape(exact.width, -1), model[0].weight.detach().float().numpy())

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    for number, content in enumerate((model, {"a": Hostile()}, torch.ones(3, 3))):
        torch.save(content, tmp_path / f"{number}.pt")
        with pytest.raises(ModgrokError, match="no state dict"):
            mg.load(tmp_path / f"{number}.pt")
    assert not (tmp_path / "executed").exists()
