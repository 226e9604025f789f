"""The GPU's kernels, interpreted, against automatic differentiation in double precision."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from modgrok.networks import TwoLayer
from modgrok.networks import activation as activations
from modgrok.tasks import Split, Task
from modgrok.training import losses
from modgrok.training.data import run_data
from modgrok.training.kernels import generic, gpu, kernel_for, pallas_kernels, pallas_tools, plain_xla
from modgrok.training.kernels.pallas_tools import power_below, to_half
from modgrok.training.kernels.windows import NOBODY, ROWS, Windows
from modgrok.training.program import Program

ACTIVATIONS = ("quadratic", "relu", "gelu", "abs", "tanh", "silu", "leaky-relu", "sin", "x^3", "x^7")
TASKS = [((5,), 5), ((7, 7), 7), ((4, 6), 3), ((3, 4, 5), 6), ((2, 2, 2, 2), 2), ((11, 11), 11), ((4, 6), 150)]
"""Sizes of the variables, and number of answers."""
WITHIN = 1.5e-3
"""Of a gradient's norm: operands of eleven bits, in sums of a few terms."""

jit = partial(
    jax.jit, compiler_options={"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
)


@pytest.fixture(autouse=True)
def _single_precision():
    with jax.enable_x64(False):
        yield


def a_case(sizes, answers, network, loss="mse", seed=0, scale=1.0, platform="gpu", precision="float32", **changes):
    """Program, weights and data of a random task."""
    table = np.random.default_rng(seed).integers(0, answers, sizes)
    task = Task("random", sizes, answers, table)
    settings = {"features": frozenset(), "batch_size": None, "loss_precision": "float32"} | changes
    program = Program(network, task.signature, loss, "adam", precision=precision, platform=platform, **settings)
    random = np.random.default_rng(seed + 1)
    shapes = network.shapes(task.signature)
    deviation = scale * network.scales(task.signature).initial
    weights = {name: deviation * random.normal(size=shape) for name, shape in shapes.items()}
    examples = Split(0.6, seed=seed).examples_of(task)
    kernel = kernel_for(program)
    inputs = examples.inputs[examples.trained]
    data = run_data(program, task, examples, kernel.padded_shape(lambda: inputs, len(inputs)))
    return program, weights, data


def found_by(kernel, weights, batch):
    step = jit(lambda weights, batch: kernel.loss_and_grad(weights, batch, None, None)[:2])
    as_single = {name: jnp.asarray(w, jnp.float32) for name, w in weights.items()}
    return step(as_single, jax.tree.map(jnp.asarray, batch))


def exactly(program, weights, batch):
    with jax.enable_x64(True):
        wide = {name: jnp.asarray(np.asarray(w, np.float32), jnp.float64) for name, w in weights.items()}
        batch = batch._replace(weight=jnp.asarray(batch.weight, jnp.float64), tables=None)
        step = jit(lambda weights, batch: generic.Kernel(program).loss_and_grad(weights, batch, None, None)[:2])
        return jax.tree.map(np.asarray, step(wide, batch))


def error(found, exact):
    exact = np.asarray(exact, np.float64)  # The square of a large gradient is beyond what 32 bits hold.
    return np.linalg.norm(np.asarray(found, np.float64) - exact) / max(np.linalg.norm(exact), 1e-300)


def assert_near(found, exact, within=WITHIN):
    (loss, gradient), (exact_loss, exact_gradient) = found, exact
    assert error(loss, exact_loss) < within
    for name in exact_gradient:
        assert error(gradient[name], exact_gradient[name]) < within, name


@settings(max_examples=5, phases=[Phase.explicit, Phase.generate])
@given(
    st.sampled_from(
        [((5,), 5), ((7, 7), 7), ((4, 6), 3), ((3, 4, 5), 6), ((2, 2, 2, 2), 2), ((11, 11), 11), ((4, 6), 150)]
    ),
    st.integers(1, 150),
    st.sampled_from(ACTIVATIONS),
    # Losses that tell outputs from each other by less than these are rounded have no gradient to compare.
    st.sampled_from([("mse", 30.0), ("mse", 1.0), ("mse", 1e-4), ("cross_entropy", 1.0), ("stablemax", 1.0)]),
    st.sampled_from(["mean-field", "standard"]),
    st.integers(0, 1000),
)
def test_gradients_are_those_of_the_generic_step(task, width, activation, loss_and_scale, parametrization, seed):
    loss, scale = loss_and_scale
    network = TwoLayer(width, activation, parametrization)
    program, weights, data = a_case(*task, network, loss, seed, scale)
    assert kernel_for(program) == gpu.Gpu(program)
    assert_near(found_by(gpu.Gpu(program), weights, data.batch), exactly(program, weights, data.batch))


@pytest.mark.parametrize(
    ("activation", "loss"),
    [*((activation, "mse") for activation in ACTIVATIONS), ("quadratic", "cross_entropy"), ("x^3", "hinge")],
)
def test_every_activation_and_loss_can_be_compiled_for_a_gpu(activation, loss, monkeypatch):
    for module in (pallas_kernels, pallas_tools):
        monkeypatch.setattr(module, "interpreted", lambda: False)
    program, weights, data = a_case((7, 7, 7), 7, TwoLayer(40, activation), loss)
    step = jax.jit(lambda w, batch: gpu.Gpu(program).loss_and_grad(w, batch, None, None)[:2])
    as_single = {name: jnp.asarray(w, jnp.float32) for name, w in weights.items()}
    lowered = step.trace(as_single, jax.tree.map(jnp.asarray, data.batch)).lower(lowering_platforms=("cuda",))
    assert "triton" in lowered.as_text()


@pytest.mark.parametrize("width", [33, 100])
def test_runs_are_mapped_over(width):
    cases = [a_case((7, 7), 7, TwoLayer(width), seed=seed) for seed in range(3)]
    program = cases[0][0]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(data.batch for _, _, data in cases))
    weights = {
        name: jnp.stack([jnp.asarray(w[name], jnp.float32) for _, w, _ in cases]) for name in ("columns", "readout")
    }
    step = jit(jax.vmap(lambda w, batch: gpu.Gpu(program).loss_and_grad(w, batch, None, None)[:2]))
    losses, gradients = step(weights, stacked)
    for run, (_, of_run, data) in enumerate(cases):
        found = losses[run], {name: part[run] for name, part in gradients.items()}
        assert_near(found, exactly(program, of_run, data.batch))


@pytest.mark.parametrize("loss", ["mse", "cross_entropy"])
def test_a_network_that_fits_into_a_tile_makes_its_residuals_there(loss, monkeypatch):
    whole = gpu.Sizes(whole=pallas_tools.Tile(64, 64))
    monkeypatch.setattr(gpu, "OTHER_TILES", (whole, whole))
    monkeypatch.setattr(pallas_kernels, "residuals", None)
    program, weights, data = a_case((13, 13), 13, TwoLayer(50), loss)
    assert_near(found_by(gpu.Gpu(program), weights, data.batch), exactly(program, weights, data.batch))


@settings(max_examples=30)
@given(
    st.sampled_from([(5,), (40,), (7, 7), (31, 31), (97, 97), (5, 9), (11, 11, 11), (2,) * 40, (97,) * 12]),
    st.floats(0.05, 1),
    st.integers(0, 1000),
)
def test_every_example_has_a_row_whose_columns_say_its_values(sizes, share, seed):
    random = np.random.default_rng(seed)
    if len(sizes) > 3:
        inputs = random.integers(0, sizes, (int(500 * share), len(sizes)), np.int32)
    else:
        table = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(sizes))
        inputs = table[random.random(len(table)) < share].astype(np.int32)
    labels = np.arange(len(inputs), dtype=np.int32)
    windows = Windows.for_density(sizes, share) or Windows(len(sizes), max(sizes), 256)
    tiles = len(windows.tiles(inputs).starts)
    rows = windows.rows(inputs, labels, (tiles + 1) * ROWS)
    (used,) = np.flatnonzero(rows.labels != NOBODY)[None]
    assert sorted(rows.labels[used]) == labels.tolist()
    assert np.all(rows.one_hot[rows.labels == NOBODY] == 0)
    assert rows.used == [tiles]
    column = jnp.arange(windows.width, dtype=jnp.int32)
    for row in used[:: max(1, len(used) // 20)]:
        values, there = windows.in_table(rows.bases[:, row // ROWS], column)
        hot = np.flatnonzero(rows.one_hot[row, : windows.width])
        assert np.all(np.asarray(there)[hot])
        expected = inputs[rows.labels[row]] + max(sizes) * np.arange(len(sizes))
        assert np.asarray(values)[hot].tolist() == expected.tolist()


def test_outputs_are_those_of_the_network():
    program, weights, data = a_case((7, 7), 7, TwoLayer(40, "gelu"))
    inputs = jnp.asarray(data.batch.inputs[0])
    as_single = {name: jnp.asarray(w, jnp.float32) for name, w in weights.items()}
    found, expected = (
        jit(lambda w, kernel=kernel: kernel.outputs(w, inputs))(as_single)
        for kernel in (gpu.Gpu(program), generic.Kernel(program))
    )
    assert error(found, np.asarray(expected)) < WITHIN


def test_an_activation_that_is_steepest_at_zero_stays_in_range():
    program, weights, data = a_case((11, 11), 11, TwoLayer(32, "tanh"))
    weights["columns"] *= 60
    assert_near(found_by(gpu.Gpu(program), weights, data.batch), exactly(program, weights, data.batch))


def test_examples_that_fill_no_tiles_go_the_plain_way(monkeypatch):
    assert Windows.for_density((97,) * 12, 5000 / 97**12) is None
    monkeypatch.setattr(Windows, "for_density", lambda *_: None)
    program, weights, data = a_case((7, 7), 7, TwoLayer(6))
    assert kernel_for(program) == gpu.Gpu(program)
    assert not isinstance(data.batch.tables, gpu.Tables)
    assert_near(found_by(gpu.Gpu(program), weights, data.batch), exactly(program, weights, data.batch))
    weights["columns"][0, 1, 2] = np.inf
    assert not np.isfinite(found_by(gpu.Gpu(program), weights, data.batch)[0])


def test_losses_and_activations_of_your_own_go_the_plain_way(monkeypatch):
    monkeypatch.setitem(losses.LOSSES, "own", losses.LOSSES["mse"])
    monkeypatch.setitem(activations.ACTIVATIONS, "own", activations.ACTIVATIONS["relu"])
    for network, loss in ((TwoLayer(6), "own"), (TwoLayer(6, "own"), "mse")):
        program, _, _ = a_case((5, 5), 5, network, loss)
        assert kernel_for(program) == plain_xla.TwoLayerKernel(program)


@pytest.mark.parametrize(("sizes", "share", "most"), [((1000, 2), 0.8, 16), ((2, 500), 0.5, 5), ((97, 97), 0.5, 44)])
def test_windows_fill_their_tiles(sizes, share, most):
    table = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, 2)
    inputs = table[np.random.default_rng(0).random(len(table)) < share]
    assert len(Windows.for_density(sizes, share).tiles(inputs).starts) <= most


def test_neurons_of_any_size_keep_their_digits():
    program, weights, data = a_case((7, 7), 7, TwoLayer(64))
    small = np.where(np.arange(64) % 2, 1.0, 1e-4)
    weights = {name: w * small for name, w in weights.items()}
    _, gradient = found_by(gpu.Gpu(program), weights, data.batch)
    _, exact = exactly(program, weights, data.batch)
    for name in exact:
        for half in (slice(0, None, 2), slice(1, None, 2)):
            assert error(gradient[name][..., half], exact[name][..., half]) < WITHIN


def test_dead_neurons_do_no_harm():
    program, weights, data = a_case((7, 7), 7, TwoLayer(16))
    weights["columns"][:, :, :4] = 0
    weights["readout"][:, 4:8] = 0
    assert_near(found_by(gpu.Gpu(program), weights, data.batch), exactly(program, weights, data.batch))
    nothing = {name: 0 * w for name, w in weights.items()}
    loss, gradient = found_by(gpu.Gpu(program), nothing, data.batch)
    assert loss == pytest.approx(1 / 7)
    assert all(np.all(part == 0) for part in gradient.values())


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
def test_a_loss_says_where_a_gradient_is_not_finite(bad):
    program, weights, data = a_case((5, 5), 5, TwoLayer(8))
    weights["columns"][0, 1, 2] = bad
    assert not np.isfinite(found_by(gpu.Gpu(program), weights, data.batch)[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"precision": "highest"},
        {"precision": "float64"},
        {"batch_size": 4},
        {"platform": "cpu"},
        {"features": frozenset({"dropout"})},
    ],
)
def test_what_needs_more_goes_the_plain_way(changes):
    with jax.enable_x64(changes.get("precision") == "float64"):
        program, _, data = a_case((5, 5), 5, TwoLayer(6), **changes)
    assert kernel_for(program) == plain_xla.TwoLayerKernel(program)
    assert not isinstance(data.batch.tables, gpu.Tables)


def test_scales_are_powers_of_two_that_bound():
    numbers = jnp.asarray([1e-20, 0.7, 1.0, 1.5, 3e10, 0.0, np.inf, np.nan], jnp.float32)
    scale = np.asarray(jax.jit(partial(power_below, exponent=6))(numbers))
    assert np.all(np.log2(scale) % 1 == 0)
    scaled = np.asarray(numbers)[:5] * scale[:5]
    assert np.all((scaled >= 32) & (scaled < 64))
    assert np.all(scale[5:] == 1)
    assert np.asarray(to_half(jnp.asarray([1e6, -1e6, np.nan], jnp.float32))).tolist()[:2] == [65504, -65504]
