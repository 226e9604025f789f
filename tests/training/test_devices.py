"""What runs are said to take of the memory: the arrays that there are, and every cause."""

import itertools
from functools import partial

import jax
import numpy as np
import pytest

from modgrok.networks.architecture import ARCHITECTURES
from modgrok.training import devices
from modgrok.training.devices import COMPILATION, Memory, free_bytes, memory_of
from modgrok.training.loop import start_randomly
from modgrok.training.optimizers import GROKFAST, OPTIMIZERS
from modgrok.training.update import OWN_SCALINGS

BROUGHT = (one.settings for one in OPTIMIZERS.values())
RATES = {"lr", "coupled_decay", "decoupled_decay"} | {one.name for one in itertools.chain(*BROUGHT, *GROKFAST.values())}


@pytest.mark.parametrize(
    "changes",
    [
        *({"scaling": scaling} for scaling in sorted(OWN_SCALINGS)),
        {"features": frozenset({"dropout"})},
        {"features": frozenset({"decay_to_start"})},
        {"features": frozenset({"grokfast_ema"})},
        {"features": frozenset({"grokfast_ma"}), "window": 3},
    ],
    ids=lambda changes: "-".join(str(next(iter(v)) if isinstance(v, frozenset) else v) for v in changes.values()),
)
def test_the_state_has_the_arrays_that_are_counted(plain, changes):
    program = plain.program_with(width=200, **changes)
    rates = dict.fromkeys(RATES, np.asarray(0.5, program.dtype))
    state = jax.eval_shape(partial(start_randomly, program), np.uint32(0), np.ones((), program.dtype), rates)
    there = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(state))
    assert there == pytest.approx(memory_of(program, 15, 25).state, rel=0.01)


@pytest.mark.parametrize("platform", ["cpu", "gpu"])
@pytest.mark.parametrize("name", ["two-layer", "mlp", "embedding-mlp", "transformer"])
def test_wider_networks_take_more(plain, name, platform):
    kind = ARCHITECTURES[name]
    found = [
        memory_of(plain.program_with(kind(width=width), platform=platform), 15, 25) for width in (64, 128, 4096, 65536)
    ]
    assert all(np.all(np.array(one) <= np.array(other)) for one, other in itertools.pairwise(found))
    assert found[-1].state > found[0].state
    assert found[-1].step > found[0].step


@pytest.mark.parametrize(
    ("cause", "changes", "rows", "evaluated"),
    [
        ("state", {"scaling": "adam"}, 15, 25),
        ("state", {"window": 50}, 15, 25),
        ("state", {"precision": "float64"}, 15, 25),
        ("step", {"batch_size": 8}, 10_000, 25),
        ("step", {"features": frozenset({"dropout"}), "batch_size": 8}, 10_000, 25),
        ("step", {"modulus": 101}, 15, 25),
        ("data", {}, 15, 10_000),
        ("task", {}, 15, 10_000),
        ("host", {}, 15, 10_000),
        ("files", {"width": 4096}, 15, 25),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_every_cause_counts(plain, cause, changes, rows, evaluated):
    less, more = (plain.program_with(**{"precision": "float32", "width": 64} | own) for own in ({}, changes))
    assert getattr(memory_of(more, rows, evaluated), cause) > getattr(memory_of(less, 15, 25), cause)


def test_devices_that_share_a_run_have_a_state_each():
    run = Memory(state=5, step=7, data=2, task=1, host=20, files=3)
    assert run.alone(1) == COMPILATION + 20
    assert run.alone(2) == COMPILATION + 2 * (5 + 7 + 2) + 3 + 1
    assert run.resident == 5 + 2 + 3


def test_caches_of_files_count_as_free(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemFree: 3 kB\nMemAvailable: 7 kB\n")
    monkeypatch.setattr(devices, "MEMINFO", tmp_path / "meminfo")
    assert free_bytes() == 7 * 1024
    monkeypatch.setattr(devices, "MEMINFO", tmp_path / "nowhere")
    assert free_bytes() > 7 * 1024
