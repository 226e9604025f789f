"""The CUDA kernels on a CPU, their instructions emulated, against the network's formula in double precision."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.networks import TwoLayer
from modgrok.tasks import Signature
from modgrok.training.kernels import cuda, kernel_for, quadratic
from modgrok.training.kernels.quadratic import Geometry
from modgrok.training.kernels.value_lists import lists_for, lists_of, tiles_for
from modgrok.training.kernels.windows import NOBODY
from modgrok.training.program import Program

WITHIN = 5e-4
"""Of a gradient's norm: operands have eleven bits."""
COMPILER = shutil.which("g++")


def program_of(sizes, outputs, width, loss="mse", activation="quadratic"):
    network = TwoLayer(width=width, activation=activation)
    return Program(network, Signature(sizes, outputs), loss, "adam", frozenset(), None, "float32", "float32", "gpu")


def geometry(sizes, outputs, width, rows, lists, loss="mse", runs=1):
    program = program_of(sizes, outputs, width, loss)
    return Geometry.of(program, tiles_for(rows, max(sizes)), lists, runs)


def a_case(sizes, outputs, width, share, loss="mse", runs=1, scale=1.0):
    """Kernels, and examples, weights of every run."""
    random = np.random.default_rng(0)
    pairs = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, 2)
    rows = max(1, int(share * len(pairs)))
    examples = []
    for _ in range(runs):
        inputs = pairs[random.permutation(len(pairs))[:rows]]
        examples.append((inputs, random.integers(0, outputs, rows)))
    lists = max(lists_for(inputs, max(sizes)) for inputs, _ in examples)
    kernels = geometry(sizes, outputs, width, rows, lists, loss, runs)
    columns = scale * random.standard_normal((runs, 2, max(sizes), width))
    readout = scale * random.standard_normal((runs, outputs, width))
    return kernels, examples, columns.astype(np.float32), readout.astype(np.float32)


def built(kernels, folder):
    """The kernels, compiled for a CPU."""
    if COMPILER is None:
        assert not os.environ.get("CI"), "The kernels are tested with g++, which is not here."
        pytest.skip("The CUDA kernels are tested with g++, which is not here.")
    text = "".join(f"#define {launch.name.upper()}\n" for launch in kernels.launches)
    text += Path(__file__).with_name("emulated.hpp").read_text() + kernels.source.replace("extern __shared__", "//")
    for launch in kernels.launches:
        text += f'\nextern "C" void emulate_{launch.name}(int* grid, int threads, void** arguments)'
        text += f" {{ launch(grid, threads, call<{launch.name}>, arguments); }}\n"
    file, library = folder / "kernels.cpp", folder / "kernels.so"
    file.write_text(text)
    subprocess.run([COMPILER, "-O1", "-w", "-shared", "-fPIC", "-std=c++17", file, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def emulated(code, kernels, examples, columns, readout):
    """What the kernels find."""
    shape = kernels.size, kernels.tiles, kernels.lists, kernels.pitch
    lists = [lists_of(inputs, labels, *shape) for inputs, labels in examples]
    arrays = {"columns": columns, "readout": readout}
    arrays["share"] = np.array([1 / len(labels) for _, labels in examples], np.float32)
    arrays |= {name: np.stack(parts) for name, parts in zip(lists[0]._fields, zip(*lists, strict=True), strict=True)}
    for launch in kernels.launches:
        for name, (shape, dtype) in launch.outputs.items():
            arrays[name] = np.full((kernels.runs, *shape), np.nan, dtype)
        used = [np.ascontiguousarray(arrays[name]) for name in (*launch.inputs, *launch.outputs)]
        pointers = (ctypes.c_void_p * len(used))(*(array.ctypes.data for array in used))
        getattr(code, f"emulate_{launch.name}")((ctypes.c_int * 3)(*launch.grid), launch.threads, pointers)
    with np.errstate(invalid="ignore"):
        d_readout = arrays["d_readout"].reshape(kernels.runs, kernels.parts, kernels.outputs, kernels.width)
        return arrays["losses"].sum(axis=1), arrays["d_columns"], d_readout.sum(axis=1)


def exactly(kernels, inputs, labels, columns, readout):
    """Loss and gradients of one run by automatic differentiation."""
    with jax.enable_x64(True):

        def loss(columns, readout):
            h = kernels.hidden * (columns[0][inputs[:, 0]] + columns[1][inputs[:, 1]])
            out = kernels.output * h**2 @ readout.T
            if kernels.loss == "mse":
                return ((out - jax.nn.one_hot(labels, kernels.outputs, dtype=out.dtype)) ** 2).mean()
            return (jax.nn.logsumexp(out, axis=1) - jnp.take_along_axis(out, labels[:, None], 1)[:, 0]).mean()

        weights = jnp.asarray(columns, jnp.float64), jnp.asarray(readout, jnp.float64)
        return jax.tree.map(np.asarray, jax.value_and_grad(loss, (0, 1))(*weights))


@pytest.mark.parametrize(
    ("case", "processors"),
    [
        ({"sizes": (5, 5), "outputs": 5, "width": 132, "share": 0.6}, 132),
        ({"sizes": (7, 4), "outputs": 40, "width": 68, "share": 1.0, "loss": "cross_entropy", "scale": 3.0}, 132),
        ({"sizes": (13, 13), "outputs": 13, "width": 300, "share": 0.5, "runs": 2, "scale": 30.0}, 1),
        ({"sizes": (3, 2), "outputs": 3, "width": 132, "share": 0.9}, 1),
        ({"sizes": (9, 9), "outputs": 70, "width": 72, "share": 0.7}, 132),
        ({"sizes": (41, 41), "outputs": 41, "width": 132, "share": 0.8}, 2),
        ({"sizes": (3, 90), "outputs": 3, "width": 132, "share": 0.9, "loss": "cross_entropy"}, 1),
    ],
)
def test_losses_and_gradients(case, processors, tmp_path, monkeypatch):
    monkeypatch.setattr(quadratic, "PROCESSORS", processors)
    kernels, examples, columns, readout = a_case(**case)
    found = emulated(built(kernels, tmp_path), kernels, examples, columns, readout)
    for run, (inputs, labels) in enumerate(examples):
        loss, (d_columns, d_readout) = exactly(kernels, inputs, labels, columns[run], readout[run])
        np.testing.assert_allclose(found[0][run], loss, rtol=WITHIN)
        for got, expected in zip(found[1:], (d_columns.reshape(-1, kernels.width), d_readout), strict=True):
            assert np.linalg.norm(got[run] - expected) < WITHIN * np.linalg.norm(expected)


def test_the_loss_is_not_finite_where_the_gradient_is_not(tmp_path):
    kernels, examples, columns, readout = a_case((5, 5), 5, 132, 0.6)
    code = built(kernels, tmp_path)
    for value in (np.inf, np.nan, 1e30):
        columns[0, 1, 2, 3] = value
        assert not np.isfinite(emulated(code, kernels, examples, columns, readout)[0][0])


@pytest.mark.parametrize("count", [0, 1, 40, 97 * 97])
def test_lists_hold_every_example_once(count):
    pairs = np.stack(np.divmod(np.random.default_rng(1).permutation(97 * 97)[:count], 97), axis=-1)
    kernels = geometry((97, 97), 97, 500, count, lists_for(pairs, 97))
    labels = np.arange(count)  # so that each names its example
    found = lists_of(pairs, labels, 97, kernels.tiles, kernels.lists, kernels.pitch)
    held = found.pairs[:, 2:].ravel()
    assert sorted(held[held != NOBODY]) == list(range(count))
    assert not (found.pairs[32 * found.used[0] :, 2:] != NOBODY).any()
    # Pair i of a tile's sixteen is its rows i and i + 8.
    of_row = found.pairs[:, 2:].reshape(-1, 8, 2).transpose(0, 2, 1).ravel()
    line = 2 * kernels.pitch
    for value in range(2 * 97):
        lists = slice(found.firsts[value], found.firsts[value + 1])
        rows = found.sources[lists] // line
        there = rows < 64 * kernels.tiles
        assert sorted(of_row[rows[there]]) == list(np.flatnonzero(pairs[:, value // 97] == value % 97))
        steps, of, ends, after = found.others[lists, 64:68].T
        assert (there.sum(axis=1) <= 16 * steps).all()
        assert (of == value).all()
        assert ends.sum() == 3
        assert after[-1] == (value + 1) % (2 * 97)
        assert (ends[0] & 1) + (ends[-1] & 2) == 3


def test_sizes_of_launches():
    program = geometry((97, 97), 97, 500, 100, 64)
    assert program.parts == 16
    many = geometry((97, 97), 97, 500, 4704, 64, runs=128)
    assert (many.parts, many.spans) == (1, 1)
    for kernels in (program, many, geometry((127, 127), 113, 2000, 127**2, 128, runs=500)):
        assert all(launch.memory <= 227 << 10 for launch in kernels.launches)


def test_no_driver_is_too_old_for_the_version():
    text = "// made\n.version 9.5\n.target sm_90a\n.version of something else"
    assert cuda.for_drivers(text) == text.replace("9.5", cuda.VERSION)


def test_usable_only_where_there_is_such_a_gpu():
    assert not cuda.usable("cpu")
    assert not cuda.usable("gpu")  # in this process


@pytest.mark.parametrize(("here", "there"), [(True, False), (False, True), (True, True)])
def test_a_batch_may_be_planned_on_a_machine_without_such_a_gpu(here, there, monkeypatch):
    kernel = kernel_for(program_of((11, 11), 11, 132))
    pairs = np.stack(np.divmod(np.arange(0, 121, 2), 11), axis=-1).astype(np.int32)
    monkeypatch.setattr(cuda, "usable", lambda platform: here)
    padded = kernel.padded_shape(lambda: pairs, len(pairs))
    monkeypatch.setattr(cuda, "usable", lambda platform: there)
    tables = kernel.tables(pairs, pairs.sum(axis=1) % 11, padded)
    assert padded.lists >= 22
    assert (tables.lists is not None) == there


def test_networks_that_the_kernels_know():
    assert quadratic.applies(program_of((97, 97), 97, 500))
    for other in (
        program_of((97, 97), 97, 502),
        program_of((97, 97), 97, 10_000),
        program_of((97, 97), 97, 500, activation="relu"),
        program_of((31, 31), 31, 128),
        program_of((128, 97), 97, 500),
        program_of((11, 11, 11), 11, 500),
        program_of((97, 97), 97, 500, "hinge"),
    ):
        assert not quadratic.applies(other)
