"""State dicts of other programs: which of their tensors is which parameter of a network here.

A layout maps names of parameters to names of tensors, in both of which `{i}` counts layers, `{first}` is 2i and
`{second}` 2i + 1, `{last}` twice the number of layers. Behind the name of a tensor may stand a part of it (`1/3`: the
second third of its rows), or how its axes become those of the parameter (`hie->(he)i`: axes in parentheses are joined).
Entries that a file has no tensor for are left out, so one layout serves networks with and without biases.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks.architecture import Architecture, Parameters, architecture_named
from modgrok.networks.network import Network
from modgrok.networks.storage import checked_network
from modgrok.setting import require_settings, settings_of
from modgrok.tasks import Signature

Layout = Mapping[str, str]
ATTENTION, MLP = "blocks.attention.{i}", "blocks.mlp.{i}"
PROJECTIONS = {"query": "Q", "key": "K", "value": "V"}


def _of_lens(embedding: str, projection: str, output: str, mlp: str) -> dict[str, str]:
    """TransformerLens' names; how the axes of the embedding and of the blocks' matrices become those of parameters."""
    found = {"embedding": f"embed.W_E{embedding}", "positions": "pos_embed.W_pos"}
    for name, letter in PROJECTIONS.items():
        found[f"{ATTENTION}.{name}.weight"] = f"blocks.{{i}}.attn.W_{letter}{projection}"
        found[f"{ATTENTION}.{name}.bias"] = f"blocks.{{i}}.attn.b_{letter} he->(he)"
    found |= {f"{ATTENTION}.output.weight": f"blocks.{{i}}.attn.W_O{output}"}
    found |= {f"{ATTENTION}.output.bias": "blocks.{i}.attn.b_O"}
    for name in ("in", "out"):
        found[f"{MLP}.{name}.weight"] = f"blocks.{{i}}.mlp.W_{name}{mlp}"
        found[f"{MLP}.{name}.bias"] = f"blocks.{{i}}.mlp.b_{name}"
    for ours, theirs in {"first": "blocks.{i}.ln1", "second": "blocks.{i}.ln2", "last": "ln_final"}.items():
        found |= {f"norms.{{{ours}}}.weight": f"{theirs}.w", f"norms.{{{ours}}}.bias": f"{theirs}.b"}
    return found | {"unembedding.weight": "unembed.W_U io->oi", "unembedding.bias": "unembed.b_U"}


def _of_torch() -> dict[str, str]:
    layer = "encoder.layers.{i}"
    found = {"embedding": "embedding.weight", "positions": "positions.weight"}
    for kind in ("weight", "bias"):
        for third, name in enumerate(PROJECTIONS):
            found[f"{ATTENTION}.{name}.{kind}"] = f"{layer}.self_attn.in_proj_{kind} {third}/3"
        found[f"{ATTENTION}.output.{kind}"] = f"{layer}.self_attn.out_proj.{kind}"
        found[f"{MLP}.in.{kind}"], found[f"{MLP}.out.{kind}"] = f"{layer}.linear1.{kind}", f"{layer}.linear2.{kind}"
        found["norms.{first}." + kind] = f"{layer}.norm1.{kind}"
        found["norms.{second}." + kind] = f"{layer}.norm2.{kind}"
        found["norms.{last}." + kind], found[f"unembedding.{kind}"] = f"encoder.norm.{kind}", f"unembedding.{kind}"
    return found


LAYOUTS: dict[str, Layout] = {
    "transformerlens": _of_lens("", " hie->(he)i", " heo->o(he)", " io->oi"),
    "nanda": _of_lens(" dv->vd", " hei->(he)i", "", ""),
    "pytorch": _of_torch(),
    "sequential": {f"layers.{{i}}.{kind}": f"{{first}}.{kind}" for kind in ("weight", "bias")},
}
"""TransformerLens' HookedTransformer; the code of Nanda et al. 2023; `torch.nn.TransformerEncoder` as `encoder` between
`embedding`, `positions` and `unembedding`; `torch.nn.Sequential` of linear layers with an activation between two."""
USUAL: dict[str, dict[str, Any]] = {
    "transformerlens": {"network": "transformer", "layer_norm": "pre"},
    "nanda": {"network": "transformer", "layer_norm": "pre"},
    "pytorch": {"network": "transformer", "layer_norm": "post", "bidirectional": True},
    "sequential": {"network": "mlp"},
}
"""Settings that go with a layout unless others are given; LayerNorm only where the file has its weights."""


def guess_layout(arrays: Mapping[str, np.ndarray]) -> str | None:
    """The layout that the names of a file's tensors give away."""
    output = arrays.get("blocks.0.attn.W_O")
    if output is not None:
        return "nanda" if output.ndim == 2 else "transformerlens"
    return "pytorch" if "encoder.layers.0.self_attn.in_proj_weight" in arrays else None


def read_layout(
    arrays: Mapping[str, np.ndarray],
    layout: str | Layout,
    network: str | None = None,
    modulus: int | None = None,
    variables: int | None = None,
    **settings: Any,
) -> Network:
    """The network that a layout finds in arrays; `settings` are those of its architecture that shapes do not tell."""
    if layout not in LAYOUTS if isinstance(layout, str) else not isinstance(layout, Mapping):
        raise ModgrokError(f"layout must be one of {', '.join(LAYOUTS)}, or a mapping of names, not {layout!r}.")
    usual = dict(USUAL[layout]) if isinstance(layout, str) else {}
    kind = architecture_named(network or usual.pop("network", "transformer"))
    usual.pop("network", None)
    require_settings(f"The network {kind.name}", settings, settings_of(kind))
    try:
        parameters, heads = _mapped(arrays, LAYOUTS[layout] if isinstance(layout, str) else layout)
    except (ValueError, KeyError, IndexError, AttributeError) as error:
        raise ModgrokError(
            f"A layout maps texts to texts such as 'attn.{{i}}.qkv 0/3' or 'fc.{{i}}.up io->oi', and this one does not "
            f"fit: {str(error).strip(chr(39))}."
        ) from error
    given = usual | ({"heads": heads} if heads else {}) | settings
    try:
        found, signature = READERS.get(kind.name, _as_given)(parameters, given, modulus, variables)
    except KeyError as missing:
        raise ModgrokError(
            f"The layout has no tensor of this file for {missing.args[0]}; the file has {_listed(arrays)}."
        ) from None
    return _network(kind, found, signature, parameters)


def chain(arrays: Mapping[str, np.ndarray]) -> Parameters | None:
    """The layers of a perceptron in a file's order, whatever their names: matrices (out, in) that fit one another, each
    with or without the bias that follows it; None where the arrays are something else."""
    found: Parameters = {}
    count, width = 0, None
    for array in arrays.values():
        if array.ndim == 2 and width in (None, array.shape[1]):
            found[f"layers.{count}.weight"], width = array, array.shape[0]
            count += 1
        elif array.ndim == 1 and len(array) == width and f"layers.{count - 1}.bias" not in found:
            found[f"layers.{count - 1}.bias"] = array
        else:
            return None
    return found if count > 1 else None


def perceptron(parameters: Parameters, variables: int | None = None, **settings: Any) -> Network:
    """The multilayer perceptron of these layers, on one-hot numbers side by side."""
    kind = architecture_named("mlp")
    require_settings("The network mlp", settings, settings_of(kind))
    found, signature = _mlp(parameters, settings, None, variables)
    return _network(kind, found, signature, parameters)


def _mapped(arrays: Mapping[str, np.ndarray], layout: Layout) -> tuple[Parameters, int | None]:
    """The parameters, and how many heads an axis h of the tensors tells; raises where a tensor is left over."""
    most = max((int(word) for name in arrays for word in name.split(".") if word.isdecimal()), default=0) + 1
    layers = max((i + 1 for i in range(most) if _has(arrays, layout, i)), default=1)
    found: Parameters = {}
    used, heads = set(), None
    for i in range(layers):
        places = {"i": i, "first": 2 * i, "second": 2 * i + 1, "last": 2 * layers}
        for ours, theirs in layout.items():
            name, _, how = theirs.format(**places).partition(" ")
            if name in arrays:
                used.add(name)
                found[ours.format(**places)] = _rearranged(arrays[name], how, name)
                if how.startswith("h"):
                    heads = arrays[name].shape[0]
    others = [name for name in arrays if name not in used]
    if others:
        raise ModgrokError(f"The layout has no place for {', '.join(others[:4])}; map all tensors, or leave those out.")
    return found, heads


def _has(arrays: Mapping[str, np.ndarray], layout: Layout, i: int) -> bool:
    places = {"i": i, "first": 2 * i, "second": 2 * i + 1, "last": 0}
    counted = [theirs for theirs in layout.values() if "{i}" in theirs or "{first}" in theirs]
    return any(theirs.format(**places).partition(" ")[0] in arrays for theirs in counted)


def _rearranged(array: np.ndarray, how: str, name: str) -> np.ndarray:
    if not how:
        return array
    if "/" in how:
        part, parts = map(int, how.split("/"))
        return np.split(array, parts)[part]
    if "->" not in how:
        raise ValueError(how)
    left, right = how.split("->")
    if len(left) != array.ndim:
        raise ModgrokError(f"The layout reads {name} as {left}, {len(left)} axes, but its shape is {array.shape}.")
    moved = array.transpose([left.index(axis) for axis in right if axis not in "()"])
    lengths, shape, joined = iter(moved.shape), list[int](), False
    for axis in right:
        if axis in "()":
            joined = axis == "("
            shape += [1] if joined else []
        elif joined:
            shape[-1] *= next(lengths)
        else:
            shape.append(next(lengths))
    return moved.reshape(shape)


Read = tuple[dict[str, Any], Signature]
"""Settings of an architecture and the signature of its task."""


def _transformer(w: Parameters, given: dict[str, Any], modulus: int | None, variables: int | None) -> Read:
    tokens, width = w["embedding"].shape
    outside = [name for name in w if name.endswith(".bias") and not name.startswith(("blocks.mlp", "norms"))]
    biased = any(w[name].any() for name in outside)
    for name in outside if not biased else ():  # TransformerLens has them even where they are never trained.
        del w[name]
    for name in [name for name in w if name.startswith(("blocks.attention", "unembedding"))] if biased else ():
        w.setdefault(name.replace("weight", "bias"), np.zeros(len(w[name]), w[name].dtype))
    if "unembedding.weight" in w:
        modulus = modulus or min(tokens - 1, len(w["unembedding.weight"]))
        for name in ("unembedding.weight", "unembedding.bias"):
            if name in w and len(w[name]) < tokens:  # Marks without a logit get one that is 0.
                w[name] = np.concatenate(
                    [w[name], np.zeros((tokens - len(w[name]), *w[name].shape[1:]), w[name].dtype)]
                )
    modulus = modulus or tokens - 1
    variables = variables or (len(w["positions"]) - 1 if "positions" in w else 2)
    if "positions" in w:
        w["positions"] = w["positions"][: variables + (3 if given.get("framed") else 1)]
    elif "positions" not in given:
        raise ModgrokError("This file has no learned positions; pass positions='sinusoidal' if the network uses those.")
    settings = {
        "width": width,
        "layers": sum(name.endswith("query.weight") for name in w),
        "hidden": len(w["blocks.mlp.0.in.weight"]),
        "positions": "learned" if "positions" in w else "sinusoidal",
        "biases": "blocks.mlp.0.in.bias" in w,
        "attention_biases": biased,
        "tied": "unembedding.weight" not in w,
        "vocabulary": None if tokens == modulus + 1 else tokens,
    }
    if "norms.0.weight" not in w:
        given = given | {"layer_norm": "none"}
    if "heads" not in given:
        raise ModgrokError("The shapes in this file do not tell the number of heads; pass heads=….")
    return settings | given, Signature((modulus,) * variables, modulus)


def _mlp(w: Parameters, given: dict[str, Any], modulus: int | None, variables: int | None) -> Read:
    depth = sum(name.endswith(".weight") for name in w) - 1
    width, inputs = w["layers.0.weight"].shape
    outputs = len(w[f"layers.{depth}.weight"])
    count = variables or inputs // (modulus or outputs)
    if count < 1 or inputs % count:
        raise ModgrokError(
            f"The first layer reads {inputs} numbers, which do not split into {count} blocks; pass variables=…."
        )
    biased = any(name.endswith(".bias") for name in w)
    for i in range(depth + 1) if biased else ():
        w.setdefault(f"layers.{i}.bias", np.zeros(len(w[f"layers.{i}.weight"]), w["layers.0.weight"].dtype))
    return {"width": width, "depth": depth, "biases": biased} | given, Signature((inputs // count,) * count, outputs)


def _embedding_mlp(w: Parameters, given: dict[str, Any], modulus: int | None, variables: int | None) -> Read:
    depth, (numbers, length) = sum(name.endswith(".weight") for name in w) - 1, w["embedding"].shape
    width, read = w["decoder.0.weight"].shape
    combine = given.get("combine", "sum" if read == length else "concat")
    count = variables or (read // length if combine == "concat" else 2)
    settings = {"width": width, "depth": depth, "embedding": length, "combine": combine}
    settings["biases"] = "decoder.0.bias" in w
    return settings | given, Signature((numbers,) * count, len(w[f"decoder.{depth}.weight"]))


def _as_given(w: Parameters, given: dict[str, Any], modulus: int | None, variables: int | None) -> Read:
    if modulus is None:
        raise ModgrokError("The shapes of this network do not tell the modulus; pass modulus=….")
    return given, Signature((modulus,) * (variables or 2), modulus)


READERS = {"transformer": _transformer, "mlp": _mlp, "embedding-mlp": _embedding_mlp}


def _network(kind: type[Architecture], settings: dict[str, Any], signature: Signature, w: Parameters) -> Network:
    declared = settings_of(kind)
    architecture = kind(**{name: declared[name].checked(value) for name, value in settings.items()})
    architecture.check(signature)
    common = np.result_type(*w.values())
    try:
        return checked_network(architecture, signature, {name: np.asarray(value, common) for name, value in w.items()})
    except KeyError as missing:
        raise ModgrokError(f"The layout names no tensor for {missing.args[0]} of a network {kind.name}.") from missing
    except ValueError as error:
        raise ModgrokError(f"These tensors do not make a network {kind.name}: {error}.") from error


def _listed(arrays: Mapping[str, np.ndarray]) -> str:
    shown = ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:8])
    return shown if len(arrays) <= 8 else f"{shown}, …"
