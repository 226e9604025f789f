import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.measures import (
    ablate_frequency,
    ablate_neuron,
    cleaning_table,
    keep_frequencies,
    neuron_waves,
    own_waves,
    shuffle_phases,
    snap_phases,
    top_frequencies,
    waves_only,
)
from modgrok.measures.cleaning import CAUTIONS
from modgrok.networks import Network, Normalization, score_table, two_layer
from modgrok.tasks.basis import Basis


def assert_same(a: Network, b: Network) -> None:
    np.testing.assert_allclose(a.w_in, b.w_in, atol=1e-9)
    np.testing.assert_allclose(a.w_out, b.w_out, atol=1e-9)


def noisy(network: Network, size: float = 0.2) -> Network:
    rng = np.random.default_rng(5)
    add = (size * rng.normal(size=w.shape) for w in (network.w_in, network.w_out))
    return network.replace(w_in=network.w_in + next(add), w_out=network.w_out + next(add))


def test_an_exact_wave_network_is_left_as_it_is(addition) -> None:
    network, _, coordinate = addition
    assert_same(waves_only(network, coordinate), network)
    assert_same(snap_phases(network, coordinate), network)
    assert_same(keep_frequencies(network, coordinate, range(1, 6)), network)


def test_cleaning_removes_noise_and_keeps_settings(addition) -> None:
    network, _, coordinate = addition
    blurred, statistics = noisy(network), Normalization(np.zeros(200), np.ones(200))
    trained = two_layer(blurred.w_in, blurred.w_out, "relu", normalization=statistics)
    clean = waves_only(trained, coordinate)
    np.testing.assert_allclose(neuron_waves(clean).explained, 1)
    assert np.linalg.norm(clean.w_in - network.w_in) < np.linalg.norm(trained.w_in - network.w_in)
    assert (clean.activation, clean.normalization is not None) == ("relu", True)


def test_precision_is_kept(addition) -> None:
    network, _, _ = addition
    single = network.replace(w_in=network.w_in.astype(np.float32), w_out=network.w_out.astype(np.float32))
    assert waves_only(single).w_out.dtype == np.float32


def test_snapped_phases_leave_no_residual(addition) -> None:
    network, _, coordinate = addition
    snapped = snap_phases(noisy(network), coordinate)
    before, after = neuron_waves(noisy(network)), neuron_waves(snapped)
    assert abs(before.residual).max() > 1e-3
    np.testing.assert_allclose(after.residual, 0, atol=1e-9)
    np.testing.assert_allclose(after.amplitudes, before.amplitudes)


def test_own_waves_leave_a_wave_network_and_clean_a_noisy_one(addition) -> None:
    network, _, coordinate = addition
    assert_same(own_waves(network, coordinate), network)
    clean = own_waves(noisy(network), coordinate)
    assert np.linalg.norm(clean.w_in - network.w_in) < np.linalg.norm(noisy(network).w_in - network.w_in)


def test_own_waves_do_not_presuppose_equal_frequencies(wave_network) -> None:
    n, p = np.arange(11), 11
    w_in = np.stack([np.cos(2 * np.pi * 2 * n / p + 0.3), 2 * np.sin(2 * np.pi * 3 * n / p)])[None]
    w_out = np.cos(2 * np.pi * 5 * n / p)[:, None]
    network = two_layer(w_in, w_out)
    assert_same(own_waves(two_layer(w_in + 0.7, w_out)), network)
    assert not np.allclose(waves_only(network).w_out, w_out)


def test_own_waves_of_random_labels_know_nothing(addition) -> None:
    rng = np.random.default_rng(0)
    random = two_layer(rng.normal(size=(200, 2, 11)), rng.normal(size=(11, 200)))
    assert score_table(own_waves(random), addition[1]).accuracy < 0.3


def test_own_waves_leave_what_has_no_place_or_no_wave() -> None:
    rng = np.random.default_rng(0)
    index = np.array([-1, 0, 1, 3, 2])
    coordinate = Basis(4, (index, index), np.array([1, 2, 4, 3]), at_zero=0)
    w_in, w_out = rng.normal(size=(3, 2, 5)), rng.normal(size=(5, 3))
    w_in[2, :, 1:] = 0.5
    clean = own_waves(two_layer(w_in, w_out), coordinate)
    np.testing.assert_array_equal(clean.w_in[:, :, 0], w_in[:, :, 0])
    np.testing.assert_array_equal(clean.w_in[2], w_in[2])
    np.testing.assert_array_equal(clean.w_out[0], w_out[0])
    trivial = Basis(1, (np.array([-1, 0]),) * 2, np.array([1]), at_zero=0)
    assert_same(
        own_waves(two_layer(np.ones((2, 2, 2)), np.ones((2, 2))), trivial),
        two_layer(np.ones((2, 2, 2)), np.ones((2, 2))),
    )


def test_shuffled_phases_keep_all_but_their_order(addition) -> None:
    network = noisy(addition[0], 0.1)
    before, after = neuron_waves(network), neuron_waves(shuffle_phases(network, seed=3))
    np.testing.assert_array_equal(after.frequency, before.frequency)
    np.testing.assert_allclose(after.amplitudes, before.amplitudes, rtol=1e-9)
    np.testing.assert_allclose(after.residual, before.residual, atol=1e-9)
    for k in range(1, 6):
        of_k = before.frequency == k
        for s in range(2):
            np.testing.assert_allclose(np.sort(after.phases[of_k, s]), np.sort(before.phases[of_k, s]), atol=1e-9)
    assert abs(after.phases - before.phases).max() > 0.5


def test_shuffled_phases_cost_the_exact_form_its_exactness() -> None:
    from modgrok.closed_form import solve
    from modgrok.tasks import task

    addition = task("n + m", 11)
    exact = solve(addition, form="exact")
    assert score_table(exact, addition.table).loss < 1e-20
    assert score_table(shuffle_phases(exact), addition.table).loss > 1e-3


def test_without_their_readouts_shuffled_phases_add_up_to_nothing() -> None:
    from modgrok.closed_form import solve
    from modgrok.tasks import task

    waves = solve(task("n + m", 11), width=400)
    shuffled = shuffle_phases(waves, readout=False)
    np.testing.assert_array_equal(shuffled.w_out.round(9), waves.w_out.round(9))
    assert neuron_waves(waves).coherence > 0.999
    assert neuron_waves(shuffled).coherence < 0.2


def test_even_readouts_survive_cleaning(wave_network) -> None:
    p, rng = 13, np.random.default_rng(3)
    coordinate = Basis(p, (np.arange(p),) * 2, np.arange(p) ** 2 % p)
    phases = rng.uniform(-np.pi, np.pi, (12, 3))
    network = wave_network(coordinate, p, np.tile(np.arange(1, 7), 2), np.ones((12, 3)), phases)
    assert_same(waves_only(network, coordinate), network)
    assert_same(snap_phases(network, coordinate), network)


def test_weights_without_a_place_and_constant_neurons_stay() -> None:
    rng = np.random.default_rng(0)
    index = np.array([-1, 0, 1, 3, 2])
    coordinate = Basis(4, (index, index), np.array([1, 2, 4, 3]), at_zero=0)
    w_in, w_out = rng.normal(size=(3, 2, 5)), rng.normal(size=(5, 3))
    w_in[2, :, 1:] = 0.5
    network = two_layer(w_in, w_out)
    clean = waves_only(network, coordinate)
    np.testing.assert_array_equal(clean.w_in[:, :, 0], w_in[:, :, 0])
    np.testing.assert_array_equal(clean.w_out[0], w_out[0])
    np.testing.assert_array_equal(clean.w_in[2], w_in[2])
    assert not np.allclose(clean.w_in[:2, :, 1:], w_in[:2, :, 1:])
    assert_same(keep_frequencies(network, coordinate, [1, 2]), network)


def test_frequencies_are_kept_ablated_and_ranked(addition) -> None:
    network, _, coordinate = addition
    scale = np.repeat([1.0, 5, 2, 3, 4], 40)
    scaled = network.replace(w_in=network.w_in * scale[:, None, None])
    assert top_frequencies(scaled, coordinate, 3) == (2, 5, 4)
    assert len(top_frequencies(scaled, None, 99)) == 5
    frequency = neuron_waves(network).frequency
    kept = keep_frequencies(network, coordinate, (2, 5))
    assert (abs(kept.w_in).sum(axis=(1, 2)) > 0).tolist() == np.isin(frequency, (2, 5)).tolist()
    cut = ablate_frequency(network, coordinate, 3)
    assert (abs(cut.w_out).sum(axis=0) > 0).tolist() == (frequency != 3).tolist()


def test_one_neuron_is_ablated(addition) -> None:
    network, _, _ = addition
    cut = ablate_neuron(network, 7)
    assert not cut.w_in[7].any()
    assert not cut.w_out[:, 7].any()
    assert_same(
        two_layer(np.delete(cut.w_in, 7, 0), np.delete(cut.w_out, 7, 1)),
        two_layer(np.delete(network.w_in, 7, 0), np.delete(network.w_out, 7, 1)),
    )
    assert network.w_in[7].any()


def test_table_of_a_closed_form(addition) -> None:
    network, table, coordinate = addition
    rows = {row.name: row for row in cleaning_table(network, table, coordinate)}
    assert list(rows)[:4] == ["as it is", "waves only", "waves, each block its own", "waves only, phases snapped"]
    assert set(CAUTIONS) < set(rows)
    assert rows["as it is"].accuracy == 1
    assert rows["waves only, phases snapped"].loss == pytest.approx(rows["as it is"].loss)
    assert {"top frequency only", "top 2 frequencies only", "top 4 frequencies only"} <= set(rows)
    assert rows["top frequency only"].loss > rows["top 4 frequencies only"].loss > rows["as it is"].loss
    assert [name.split()[1] for name in rows if name.startswith("without")] == ["frequency", "neuron"]
    assert len(rows) == 9


def test_table_of_a_dead_network() -> None:
    rows = cleaning_table(two_layer(np.zeros((4, 2, 5)), np.zeros((5, 4))), np.zeros((5, 5), int))
    assert [row.name for row in rows] == ["as it is", *CAUTIONS]


def test_wrong_requests_are_refused(addition) -> None:
    network, _, coordinate = addition
    with pytest.raises(ModgrokError, match="from 1 to 5"):
        ablate_frequency(network, coordinate, 6)
    with pytest.raises(ModgrokError, match="from 1 to 5"):
        keep_frequencies(network, coordinate, [0])
    with pytest.raises(ModgrokError, match="0 to 199"):
        ablate_neuron(network, 200)
    with pytest.raises(ModgrokError, match="at least 1"):
        top_frequencies(network, coordinate, 0)
    with pytest.raises(ModgrokError, match="complex"):
        waves_only(two_layer(network.w_in + 0j, network.w_out + 0j))
