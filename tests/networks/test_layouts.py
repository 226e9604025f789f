"""State dicts of public layouts answer as an independent forward pass on their own arrays does."""

from typing import Any

import numpy as np
import pytest

import modgrok as mg
from modgrok.errors import ModgrokError
from modgrok.measures.progress_measures import excluded_loss
from modgrok.networks import grid
from modgrok.networks.layouts import LAYOUTS

P, D, H, HIDDEN = 7, 8, 2, 12
PAIRS = grid((P, P))
TOKENS = np.concatenate([PAIRS, np.full((P * P, 1), P)], axis=1)
Arrays = dict[str, np.ndarray]


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape) + 31 * len(shape)).normal(0, 0.5, shape)


def softmax(x: np.ndarray) -> np.ndarray:
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def layer_norm(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    x = x - x.mean(axis=-1, keepdims=True)
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5) * weight + bias


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """Of (row, position, head, e) arrays."""
    scores = np.einsum("nqhe,nkhe->nhqk", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tri(scores.shape[2], dtype=bool), scores, -1e30)
    return np.einsum("nhqk,nkhe->nqhe", softmax(scores), v)


def transformer_lens(layers: int, norms: bool, biases: bool) -> Arrays:
    """As HookedTransformer names and shapes them, with its buffers; logits of the answers alone."""
    found = {"embed.W_E": normal(P + 1, D), "pos_embed.W_pos": normal(3, D), "unembed.W_U": normal(D, P)}
    found["unembed.b_U"] = normal(P) if biases else np.zeros(P)
    for i in range(layers):
        b = f"blocks.{i}"
        for x in "QKV":
            found[f"{b}.attn.W_{x}"] = normal(H, D, D // H) * (1 + "QKV".index(x))
            found[f"{b}.attn.b_{x}"] = (normal(H, D // H) if biases else np.zeros((H, D // H))) + (0.1 if biases else 0)
        found |= {f"{b}.attn.W_O": normal(H, D // H, D), f"{b}.attn.b_O": normal(D) if biases else np.zeros(D)}
        found |= {f"{b}.mlp.W_in": normal(D, HIDDEN), f"{b}.mlp.b_in": normal(HIDDEN)}
        found |= {f"{b}.mlp.W_out": normal(HIDDEN, D), f"{b}.mlp.b_out": normal(D)}
        found |= {f"{b}.attn.mask": np.tri(3, dtype=bool), f"{b}.attn.IGNORE": np.array(-np.inf)}
        if norms:
            found |= {f"{b}.{ln}.{x}": normal(D) + 1 for ln in ("ln1", "ln2") for x in "wb"}
    if norms:
        found |= {"ln_final.w": normal(D) + 1, "ln_final.b": normal(D)}
    return found


def lens_outputs(w: Arrays, layers: int) -> np.ndarray:
    x = w["embed.W_E"][TOKENS] + w["pos_embed.W_pos"]
    normed = lambda x, name: layer_norm(x, w[f"{name}.w"], w[f"{name}.b"]) if f"{name}.w" in w else x  # noqa: E731
    for i in range(layers):
        b = f"blocks.{i}"
        h = normed(x, f"{b}.ln1")
        q, k, v = (np.einsum("ntd,hde->nthe", h, w[f"{b}.attn.W_{x}"]) + w[f"{b}.attn.b_{x}"] for x in "QKV")
        z = attention(q, k, v, True)
        x = x + np.einsum("nthe,hed->ntd", z, w[f"{b}.attn.W_O"]) + w[f"{b}.attn.b_O"]
        hidden = np.maximum(normed(x, f"{b}.ln2") @ w[f"{b}.mlp.W_in"] + w[f"{b}.mlp.b_in"], 0)
        x = x + hidden @ w[f"{b}.mlp.W_out"] + w[f"{b}.mlp.b_out"]
    return normed(x, "ln_final")[:, -1] @ w["unembed.W_U"] + w["unembed.b_U"]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("norms", "biases"), [(False, False), (True, True)], ids=["bare", "norms and biases"])
def test_transformer_lens(tmp_path, layers: int, norms: bool, biases: bool) -> None:
    w = transformer_lens(layers, norms, biases)
    net = mg.load(w)
    np.testing.assert_allclose(net(PAIRS), lens_outputs(w, layers), atol=1e-6)
    assert (net.modulus, net.arity, net.heads, net.layers, net.attention_biases) == (P, 2, H, layers, biases)
    np.savez(tmp_path / "net.npz", **w, seen=np.int64(3))
    np.testing.assert_array_equal(mg.load(tmp_path / "net.npz")(PAIRS), net(PAIRS))
    net.save(tmp_path / "net.safetensors")
    np.testing.assert_array_equal(mg.load(tmp_path / "net.safetensors")(PAIRS), net(PAIRS))


def test_the_code_of_nanda() -> None:
    """Other shapes under the same names, and a logit for the mark too."""
    lens = transformer_lens(1, False, False)
    w = {name: value for name, value in lens.items() if ".b_Q" not in name and "b_K" not in name and "b_V" not in name}
    w = {name: value for name, value in w.items() if not name.endswith(("b_O", "b_U"))}
    w |= {"embed.W_E": lens["embed.W_E"].T, "unembed.W_U": np.concatenate([lens["unembed.W_U"], np.ones((D, 1))], 1)}
    w |= {f"blocks.0.attn.W_{x}": lens[f"blocks.0.attn.W_{x}"].swapaxes(1, 2) for x in "QKV"}
    w |= {"blocks.0.attn.W_O": lens["blocks.0.attn.W_O"].reshape(D, D).T}
    w |= {f"blocks.0.mlp.W_{x}": lens[f"blocks.0.mlp.W_{x}"].T for x in ("in", "out")}
    net = mg.load(w)
    np.testing.assert_allclose(net(PAIRS), lens_outputs(lens, 1), atol=1e-6)
    assert net.signature.outputs == P


def encoder(layers: int) -> Arrays:
    """As torch.nn.TransformerEncoder has them, between an embedding, positions and an unembedding."""
    found = {"embedding.weight": normal(P + 1, D), "positions.weight": normal(3, D)}
    found |= {"unembedding.weight": normal(P + 1, D), "unembedding.bias": normal(P + 1)}
    for i in range(layers):
        layer = f"encoder.layers.{i}"
        found |= {
            f"{layer}.self_attn.in_proj_weight": normal(3 * D, D),
            f"{layer}.self_attn.in_proj_bias": normal(3 * D),
        }
        found |= {f"{layer}.self_attn.out_proj.weight": normal(D, D), f"{layer}.self_attn.out_proj.bias": normal(D)}
        found |= {f"{layer}.linear1.weight": normal(HIDDEN, D), f"{layer}.linear1.bias": normal(HIDDEN)}
        found |= {f"{layer}.linear2.weight": normal(D, HIDDEN), f"{layer}.linear2.bias": normal(D)}
        found |= {f"{layer}.norm{n}.{x}": normal(D) + 1 for n in (1, 2) for x in ("weight", "bias")}
    return found


def encoder_outputs(w: Arrays, layers: int, causal: bool) -> np.ndarray:
    x = w["embedding.weight"][TOKENS] + w["positions.weight"]
    for i in range(layers):
        layer = {name.removeprefix(f"encoder.layers.{i}."): value for name, value in w.items()}
        joint = x @ layer["self_attn.in_proj_weight"].T + layer["self_attn.in_proj_bias"]
        q, k, v = (part.reshape(*x.shape[:2], H, -1) for part in np.split(joint, 3, axis=-1))
        z = attention(q, k, v, causal).reshape(x.shape)
        x = x + z @ layer["self_attn.out_proj.weight"].T + layer["self_attn.out_proj.bias"]
        x = layer_norm(x, layer["norm1.weight"], layer["norm1.bias"])
        hidden = np.maximum(x @ layer["linear1.weight"].T + layer["linear1.bias"], 0)
        x = layer_norm(
            x + hidden @ layer["linear2.weight"].T + layer["linear2.bias"], layer["norm2.weight"], layer["norm2.bias"]
        )
    return (x[:, -1] @ w["unembedding.weight"].T + w["unembedding.bias"])[:, :P]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("causal", [False, True], ids=["all positions", "earlier positions"])
def test_plain_pytorch(layers: int, causal: bool) -> None:
    w = encoder(layers)
    net = mg.load(w, heads=H, bidirectional=not causal)
    np.testing.assert_allclose(net(PAIRS), encoder_outputs(w, layers, causal), atol=1e-6)
    renamed = {name.replace("embedding.weight", "tokens.weight"): value for name, value in w.items()}
    names = LAYOUTS["pytorch"] | {"embedding": "tokens.weight", "unembedding.weight": "untokens.weight"}
    settings: dict[str, Any] = {"heads": H, "layer_norm": "post", "bidirectional": not causal}
    np.testing.assert_array_equal(mg.load(renamed, layout=names, **settings)(PAIRS), net(PAIRS))


@pytest.mark.parametrize("names", [("0", "2", "4"), ("a", "b", "c")], ids=["sequential", "any names"])
def test_perceptrons_with_biases(tmp_path, names: tuple[str, ...]) -> None:
    widths = (2 * P, 9, 9, P)
    w = {}
    for name, i, o in zip(names, widths, widths[1:], strict=False):
        w |= {f"{name}.weight": normal(o, i), f"{name}.bias": normal(o)}
    x = np.concatenate([np.eye(P)[PAIRS[:, 0]], np.eye(P)[PAIRS[:, 1]]], axis=1)
    for number, name in enumerate(names):
        x = x @ w[f"{name}.weight"].T + w[f"{name}.bias"]
        x = np.tanh(x) if number < 2 else x
    np.savez(tmp_path / "net.npz", **w)
    layouts: list[dict[str, Any]] = [{}, {"layout": "sequential"}]
    for options in layouts if names[0] == "0" else layouts[:1]:
        np.testing.assert_allclose(mg.load(tmp_path / "net.npz", activation="tanh", **options)(PAIRS), x, atol=1e-6)


def test_an_embedding_and_a_perceptron() -> None:
    w = {"tokens": normal(P, 4), "first.weight": normal(6, 8), "last.weight": normal(P, 6)}
    names = {"embedding": "tokens", "decoder.0.weight": "first.weight", "decoder.1.weight": "last.weight"}
    net = mg.load(w, layout=names, network="embedding-mlp")
    joined = w["tokens"][PAIRS].reshape(len(PAIRS), -1)
    np.testing.assert_allclose(net(PAIRS), np.maximum(joined @ w["first.weight"].T, 0) @ w["last.weight"].T)


def test_activations_and_patches_of_a_loaded_transformer() -> None:
    w = transformer_lens(1, False, False)
    net = mg.load(w)
    found = net.activations(PAIRS)
    x = w["embed.W_E"][TOKENS] + w["pos_embed.W_pos"]
    np.testing.assert_allclose(found["embedding"], x)
    q, k = (np.einsum("ntd,hde->nthe", x, w[f"blocks.0.attn.W_{x_}"]) for x_ in "QK")
    scores = np.einsum("nqhe,nkhe->nhqk", q, k) / np.sqrt(D // H)
    np.testing.assert_allclose(found["blocks.0.pattern"], softmax(np.where(np.tri(3, dtype=bool), scores, -1e30)))
    without = w | {"blocks.0.mlp.W_out": 0 * w["blocks.0.mlp.W_out"]}
    np.testing.assert_allclose(net.with_patch({"blocks.0.hidden": 0})(PAIRS), lens_outputs(without, 1), atol=1e-6)


def test_a_loaded_transformer_is_drawn() -> None:
    """Its spectrum, weights, portrait and progress measures are those of its own arrays."""
    w = transformer_lens(1, False, False)
    net = mg.load(w)
    found = mg.analyze(net, "n + m")
    power = np.square(np.abs(np.fft.fft(w["embed.W_E"][:P], axis=0))).sum(axis=1)
    expected = [power[0], *(power[k] + power[P - k] for k in (1, 2, 3))] / power.sum()
    np.testing.assert_allclose(found.spectrum, expected)
    bars = mg.plot.spectrum(found)
    np.testing.assert_allclose([bar.get_height() for bar in bars.patches], expected[1:])
    assert len(mg.plot.weights(found).images) == 1
    assert len(mg.plot.portrait(found).axes) == 5  # four and a color bar
    without = [bar.get_height() for bar in mg.plot.progress(net, "n + m").patches]
    logits, answers = lens_outputs(w, 1).reshape(P, P, P), mg.task("n + m", P).table
    np.testing.assert_allclose(without, [excluded_loss(logits, answers, [k]) for k in (1, 2, 3)])


def test_sentences() -> None:
    w = encoder(1)
    with pytest.raises(ModgrokError, match="pass heads"):
        mg.load(w)
    with pytest.raises(ModgrokError, match="no setting 'head'; did you mean 'heads'"):
        mg.load(w, head=2)
    placeless = {name: weights for name, weights in w.items() if name != "positions.weight"}
    with pytest.raises(ModgrokError, match="no learned positions; pass positions='sinusoidal'"):
        mg.load(placeless, heads=2)
    with pytest.raises(ModgrokError, match=r"no place for encoder\.other"):
        mg.load(w | {"encoder.other": np.ones(3)}, heads=H)
    with pytest.raises(ModgrokError, match="layout must be one of transformerlens, nanda, pytorch, sequential"):
        mg.load(w, layout="keras")
    with pytest.raises(ModgrokError, match="no tensor of this file for embedding"):
        mg.load({name: value for name, value in w.items() if name != "embedding.weight"}, heads=H)
    wrong = transformer_lens(1, False, False)
    with pytest.raises(ModgrokError, match=r"W_Q as hie, 3 axes, but its shape is \(8, 8\)"):
        mg.load(wrong | {"blocks.0.attn.W_Q": normal(D, D)})
    with pytest.raises(ModgrokError, match=r"do not make a network transformer: its blocks.attention.0.key.weight"):
        mg.load(wrong | {"blocks.0.attn.W_K": normal(H, D + 1, D // H)})
    for wrong in ("a xy->xz", "a 5/3", "a x/y", "a{j}", "a b"):
        with pytest.raises(ModgrokError, match="A layout maps texts to texts"):
            mg.load({"a": np.ones((2, 2))}, layout={"embedding": wrong})
    with pytest.raises(ModgrokError, match="a file or a state dict, not 5"):
        mg.load(5)  # type: ignore[arg-type]


def test_a_two_layer_network_by_names() -> None:
    exact = mg.solve("n + m", P, form="exact")
    names = {"w_in": "first", "w_out": "second"}
    settings: dict[str, Any] = {"network": "two-layer", "modulus": P, "width": exact.width}
    net = mg.load({"first": exact.w_in, "second": exact.w_out}, layout=names, **settings)
    np.testing.assert_array_equal(net(PAIRS), exact(PAIRS))
    with pytest.raises(ModgrokError, match="names no tensor for w_out"):
        mg.load({"first": exact.w_in}, layout=names, **settings)
