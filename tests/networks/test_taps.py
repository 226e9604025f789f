"""Inner values are those of the network's own forward pass, and replacing them replaces what follows."""

from typing import Any

import jax
import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.networks import Network, architecture_named, as_numpy, grid, outputs

P = 5
TASK = mg.task("n + m", P)
NETWORKS: dict[str, dict[str, Any]] = {
    "two-layer": {"width": 6},
    "mlp": {"width": 6, "depth": 2},
    "embedding-mlp": {"width": 6, "embedding": 4, "depth": 1},
    "transformer": {"width": 8, "heads": 2, "layers": 2, "layer_norm": "pre"},
}
PAIRS = grid((P, P))


def network(name: str, **settings: Any) -> Network:
    made = architecture_named(name)(**NETWORKS[name] | settings)
    parameters = made.init(jax.random.key(0), TASK.signature, 1.0, "float32")
    return as_numpy(Network(made, TASK.signature, parameters), np.float64)


@pytest.mark.parametrize("name", NETWORKS)
def test_activations_of_every_architecture(name: str) -> None:
    net = network(name)
    found = net.activations(PAIRS)
    assert {len(value) for value in found.values()} == {len(PAIRS)}
    for inner, value in found.items():
        np.testing.assert_allclose(outputs(net.with_patch({inner: value}), PAIRS), outputs(net, PAIRS), atol=1e-12)
        others = net.with_patch({inner: lambda value: value[::-1]})
        assert not np.allclose(outputs(others, PAIRS), outputs(net, PAIRS))
        np.testing.assert_allclose(others.activations(PAIRS)[inner], value[::-1])


def test_names_and_shapes() -> None:
    assert {name: value.shape[1:] for name, value in network("two-layer").activations(PAIRS).items()} == {
        "preactivations": (6,),
        "hidden": (6,),
    }
    assert list(network("mlp").activations(PAIRS)) == ["preactivations.0", "hidden.0", "preactivations.1", "hidden.1"]
    found = network("transformer", layers=1).activations(PAIRS)
    assert {name: value.shape[1:] for name, value in found.items()} == {
        "embedding": (3, 8),
        "blocks.0.pattern": (2, 3, 3),
        "blocks.0.heads": (3, 2, 4),
        "blocks.0.attention": (3, 8),
        "blocks.0.middle": (3, 8),
        "blocks.0.preactivations": (3, 32),
        "blocks.0.hidden": (3, 32),
        "blocks.0.mlp": (3, 8),
        "blocks.0.residual": (3, 8),
    }


def test_a_transformers_values_add_up() -> None:
    """Patterns are causal and add up to 1; the stream is the sum of what is written to it."""
    net = network("transformer")
    found = net.activations([[1, 2], [3, 4]])
    for i in (0, 1):
        pattern = found[f"blocks.{i}.pattern"]
        np.testing.assert_allclose(pattern.sum(axis=-1), 1)
        assert (pattern[:, :, 0, 1:] == 0).all()
        before = found["embedding"] if i == 0 else found["blocks.0.residual"]
        np.testing.assert_allclose(found[f"blocks.{i}.middle"], before + found[f"blocks.{i}.attention"])
        np.testing.assert_allclose(
            found[f"blocks.{i}.residual"], found[f"blocks.{i}.middle"] + found[f"blocks.{i}.mlp"]
        )


def test_a_head_is_left_out() -> None:
    net = network("transformer", layers=1, layer_norm="none")

    def silence(heads: np.ndarray) -> np.ndarray:
        return heads * np.array([0.0, 1.0])[:, None]

    output = net.parameters["blocks.attention.0.output.weight"].copy()
    output[:, :4] = 0  # what the first head writes
    without = Network(net.architecture, net.signature, net.parameters | {"blocks.attention.0.output.weight": output})
    patched = net.with_patch({"blocks.0.heads": silence})
    np.testing.assert_allclose(outputs(patched, PAIRS), outputs(without, PAIRS), atol=1e-12)
    assert mg.predictions(patched).shape == (P, P)
    assert mg.score_table(patched, TASK.table).loss == pytest.approx(mg.score_table(without, TASK.table).loss)


def test_patches_compose_and_are_compiled() -> None:
    net = network("two-layer")
    twice = net.with_patch(preactivations=lambda h: h + 1).with_patch(hidden=lambda z: 2 * z)
    expected = 2 * (net.activations(PAIRS)["preactivations"] + 1) ** 2 @ (net.w_out / net.width).T
    np.testing.assert_allclose(outputs(twice, PAIRS), expected)
    np.testing.assert_allclose(outputs(twice.replace(w_out=0 * net.w_out), PAIRS), 0)
    inputs = jax.numpy.asarray(PAIRS, jax.numpy.int32)
    for one in (twice, net):
        compiled = jax.jit(outputs)(as_numpy(one, np.float32), inputs)
        np.testing.assert_allclose(compiled, outputs(one, PAIRS), rtol=1e-4, atol=1e-5)


def test_sentences(tmp_path) -> None:
    net = network("two-layer")
    with pytest.raises(ModgrokError, match="no inner value 'resid'; it has preactivations, hidden"):
        net.with_patch(resid=0)
    with pytest.raises(ModgrokError, match=r"patch of hidden must be .* \(25, 6\), rows first, and has \(7,\)"):
        outputs(net.with_patch(hidden=np.ones(7)), PAIRS)
    for nothing in (None, "zero"):
        with pytest.raises(ModgrokError, match="patch of hidden must be numbers"):
            net.with_patch(hidden=nothing)(PAIRS)
    with pytest.raises(ModgrokError, match="Patches map names"):
        net.with_patch("hidden")
    with pytest.raises(ModgrokError, match="A patched network cannot be saved"):
        net.with_patch(hidden=0).save(tmp_path / "net.safetensors")
    for wrong in ([[1, 2, 3]], [[0.5, 1.0]], [[1, P]], "n + m", np.zeros((0, 2), int)):
        with pytest.raises(ModgrokError, match="network"):
            net.activations(wrong)
