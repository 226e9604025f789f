"""What the panels draw of a network, packed and unpacked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.lab import limits
from modgrok.lab.frames import frame, pack, unpack
from modgrok.lab.what_if import change
from modgrok.networks import predictions
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
