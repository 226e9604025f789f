"""What the panels draw of a network, packed and unpacked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.lab import limits
from modgrok.lab.frames import embedding, frame, pack, unpack
from modgrok.lab.what_if import change
from modgrok.networks import Network, architecture_named, predictions
from modgrok.tasks import Split, task

ADDITION = task("n + m", 13)
COORDINATE = ADDITION.structure.coordinate
TRAIN, _ = Split(0.5).divide(ADDITION)


@given(
    st.dictionaries(
        st.text("abc", min_size=1),
        arrays.arrays(
            st.sampled_from([np.int8, np.uint16, np.float32]), (3, 2), elements={"min_value": 0, "max_value": 9}
        ),
    )
)
def test_a_message_comes_back_as_it_was(content: dict[str, np.ndarray]) -> None:
    header, found = unpack(pack({"step": 7}, content))
    assert header == {"step": 7}
    assert found.keys() == content.keys()
    for name, array in content.items():
        np.testing.assert_array_equal(found[name], array)


def test_the_frame_of_the_exact_form_shows_its_waves() -> None:
    network = solve(ADDITION, "exact")
    header, arrays_ = unpack(frame(network, ADDITION, TRAIN, COORDINATE, {"step": 0}))
    assert header["accuracy"] == header["train_accuracy"] == header["test_accuracy"] == 1
    assert header["phase_spread"] == pytest.approx(0, abs=1e-6)
    assert {k for k, _, _ in header["ranking"]} == set(range(1, 7))
    np.testing.assert_array_equal(arrays_["predictions"], ADDITION.table)
    assert (arrays_["margins"] > 0.99).all()
    blocks = arrays_["scales"][..., None] * arrays_["blocks"]
    np.testing.assert_allclose(blocks[:, :2], network.w_in, atol=np.abs(network.w_in).max() / 127)
    np.testing.assert_allclose(blocks[:, 2].T, network.w_out, atol=np.abs(network.w_out).max() / 127)


def test_large_networks_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    network = solve(ADDITION, "waves", width=60)
    monkeypatch.setattr(limits, "FRAME_WEIGHTS", 3 * 13 * 25)
    header, arrays_ = unpack(frame(network, ADDITION, TRAIN, COORDINATE, {}))
    assert header["width"] == 60
    assert arrays_["neurons"].tolist() == list(range(0, 60, 3))
    assert len(arrays_["blocks"]) == 20


def test_dead_weights_make_a_frame_without_nan_in_its_header() -> None:
    network = solve(ADDITION, "waves", width=8)
    dead = change(network, ADDITION, COORDINATE, [f"neuron:{i}" for i in range(8)])
    header, arrays_ = unpack(frame(dead, ADDITION, TRAIN, COORDINATE, {}))
    assert header["phase_mean"] is None
    assert np.isnan(arrays_["ipr"]).all()


def test_diverged_weights_make_a_frame_too() -> None:
    network = solve(ADDITION, "waves", width=8, dtype=np.float32)
    for value in (np.nan, np.inf, -1e30):
        w_in = network.w_in.copy()
        w_in[::2] = value
        header, arrays_ = unpack(frame(network.replace(w_in=w_in), ADDITION, TRAIN, COORDINATE, {"step": 1}))
        assert header["step"] == 1
        assert np.isfinite(arrays_["margins"]).all()


def test_changes_do_what_they_say() -> None:
    network = solve(ADDITION, "exact")
    assert change(network, ADDITION, COORDINATE, []) is network
    np.testing.assert_allclose(change(network, ADDITION, COORDINATE, ["waves", "snap"]).w_out, network.w_out, atol=1e-9)
    single = change(network, ADDITION, COORDINATE, ["top:1"])
    assert (np.abs(single.w_in).max(axis=(1, 2)) > 0).sum() == 5
    removed = change(network, ADDITION, COORDINATE, ["frequency:2", "frequency:3", "frequency:4", "frequency:5"])
    assert (np.abs(removed.w_in).max(axis=(1, 2)) > 0).sum() == 9
    for form in ("closed:exact", "closed:waves", "nearest"):
        changed = change(network, ADDITION, COORDINATE, [form])
        if form != "closed:waves":
            np.testing.assert_array_equal(predictions(changed), ADDITION.table)


@pytest.mark.parametrize(
    "text", ["", "neuron", "neuron:-1", "neuron:x", "frequency:99", "closed:sesame", "../../etc", "top:0"]
)
def test_other_changes_are_refused(text: str) -> None:
    with pytest.raises(ModgrokError):
        change(solve(ADDITION, "exact"), ADDITION, COORDINATE, [text])
    with pytest.raises(ModgrokError, match="32"):
        change(solve(ADDITION, "exact"), ADDITION, COORDINATE, ["snap"] * 33)


def with_embedding(vectors: np.ndarray) -> Network:
    """An embedding-mlp of which only the embedding is looked at."""
    size, length = vectors.shape
    architecture = architecture_named("embedding-mlp")(width=4, embedding=length)
    return Network(architecture, task("n + m", size).signature, {"embedding": vectors})


def circle(places: np.ndarray, k: int, length: int) -> np.ndarray:
    angle = 2 * np.pi * k * places / length
    return np.stack([np.cos(angle), np.sin(angle), 0 * angle + 3], axis=1)


def test_numbers_on_a_circle_have_one_frequency_and_fill_a_plane() -> None:
    addition = task("n + m", 13)
    facts, drawn = embedding(with_embedding(circle(np.arange(13), 4, 13)), addition, addition.structure.coordinate)
    np.testing.assert_allclose(drawn["embedding_spectrum"], np.eye(7)[4], atol=1e-6)
    np.testing.assert_allclose(facts["embedding_shares"], [0.5, 0.5])
    np.testing.assert_allclose(np.hypot(*drawn["embedding_plane"].T), 1, rtol=1e-6)
    assert facts["embedding_size"] == 3


def test_products_are_read_along_the_logarithm() -> None:
    product = task("n * m", 11)
    coordinate = product.structure.coordinate
    assert coordinate is not None
    vectors = circle(coordinate.index[0], 3, 10) * (coordinate.index[0] >= 0)[:, None]
    _, along = embedding(with_embedding(vectors), product, coordinate)
    _, raw = embedding(with_embedding(vectors), product, None)
    assert along["embedding_spectrum"][3] == pytest.approx(1)
    assert raw["embedding_spectrum"].max() < 0.9


def test_groups_have_no_frequencies_and_broken_weights_no_picture() -> None:
    group = task("group:S3")
    network = with_embedding(np.random.default_rng(0).normal(size=(6, 5)))
    facts, drawn = embedding(network, group, None)
    assert set(drawn) == {"embedding_plane"}
    assert sum(facts["embedding_shares"]) < 1
    broken = with_embedding(np.full((6, 5), np.nan))
    assert embedding(broken, group, None) == ({}, {})
