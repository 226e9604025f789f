"""Edited code never returns old results; unchanged code returns the stored run."""

import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import jax
import numpy as np
import optax
import pytest

import modgrok as mg
from modgrok.experiments.user_code import Digest, register_parts, user_parts
from modgrok.networks import ARCHITECTURES, Architecture, Cost, register
from modgrok.networks.activation import ACTIVATIONS, Activation
from modgrok.networks.layers import rows_of
from modgrok.tasks.families.family import FAMILIES, Family
from modgrok.tasks.families.family import register as register_family
from modgrok.training.losses import LOSSES, Loss, cross_entropy
from modgrok.training.optimizers import OPTIMIZERS, SCALINGS, Optimizer
from modgrok.training.optimizers import register as register_optimizer
from modgrok.training.recording import MEASURES
from modgrok.training.recording import record as measure

TINY: dict[str, Any] = {"width": 6, "lr": 0.1, "steps": 2, "evaluations": 2, "snapshots": 0}


REGISTRIES: tuple[dict[str, Any], ...] = (ARCHITECTURES, ACTIVATIONS, FAMILIES, LOSSES, OPTIMIZERS, SCALINGS, MEASURES)


@pytest.fixture(autouse=True)
def unregistered() -> Iterator[None]:
    """What a test registers is gone after it."""
    before = [dict(registry) for registry in REGISTRIES]
    yield
    for registry, known in zip(REGISTRIES, before, strict=True):
        registry.clear()
        registry.update(known)


def written(run: mg.Run) -> int:
    return (run.folder / "result.json").stat().st_mtime_ns


def function(source: str, **names: Any) -> Any:
    """A function as a notebook defines it: compiled in a module of the user's own."""
    module = types.ModuleType("__main__")
    vars(module).update({"np": np, "mg": mg, **names})
    exec(source, vars(module))
    return next(value for name, value in vars(module).items() if name == "my")


def train(store, **settings: Any) -> mg.Run:
    return mg.train("n + m", 5, store=store, **TINY | settings)


def test_an_edited_measure(tmp_path) -> None:
    source = "def my(network, data):\n    return abs(network.w_in).{}()"
    first = train(tmp_path, record=[function(source.format("max"))])
    before = written(first)
    again = train(tmp_path, record=[function(source.format("max"))])
    assert (again.id, written(again)) == (first.id, before)
    edited = train(tmp_path, record=[function(source.format("min"))])
    assert edited.id != first.id
    assert edited.history["my"][-1] == pytest.approx(np.abs(edited.network.w_in).min(), rel=1e-6)
    assert edited.history["my"][-1] < first.history["my"][-1]


@pytest.mark.parametrize(
    ("before", "after", "names", "others"),
    [
        ("return x + a", "return x + a", {"a": 1.0}, {"a": 2.0}),
        ("return a(x)", "return a(x)", {"a": lambda x: x}, {"a": lambda x: -x}),
        ("return a.update(x)", "return a.update(x)", {"a": optax.scale(1.0)}, {"a": optax.scale(2.0)}),
        ("return a(x)", "return a(x)", {"a": jax.jit(lambda x: x)}, {"a": jax.jit(lambda x: -x)}),
        ("return a(x)", "return a(x)", {"a": jax.nn.relu}, {"a": jax.nn.gelu}),
        ("return x + a[0]", "return x + a[0]", {"a": np.ones(2)}, {"a": np.zeros(2)}),
        ("return [x * k for k in (1, 2)]", "return [x * k for k in (1, 3)]", {}, {}),
        ("return [k + 1 for k in x]", "return [k + 2 for k in x]", {}, {}),
        ("return (lambda y: y + 1)(x)", "return (lambda y: y + 2)(x)", {}, {}),
        ("return x.mean()", "return x.max()", {}, {}),
    ],
    ids=[
        "a global number",
        "a global function",
        "a library's closure",
        "a compiled function",
        "a library's function",
        "a global array",
        "a constant",
        "one inside",
        "a function inside",
        "a method",
    ],
)
def test_what_a_digest_sees(before: str, after: str, names: dict[str, Any], others: dict[str, Any]) -> None:
    def digest(body: str, known: dict[str, Any]) -> str:
        found = Digest()
        found.read(function(f"def my(x):\n    {body}", **known))
        return str(found)

    assert digest(before, names) == digest(f'"""Said otherwise."""\n\n    {before}  # why', names)
    assert digest(before, names) != digest(after, others)
    assert not digest(before, names).endswith("?")


def test_closures_defaults_and_versions() -> None:
    def made(number: int, version: str | None = None) -> str:
        def my(x: Any, times: int = number) -> Any:
            return times * x + number

        if version is not None:
            my.version = version  # type: ignore[attr-defined]
        digest = Digest()
        digest.read(my)
        return str(digest)

    assert made(1) == made(1) != made(2)
    assert made(1, "a") == made(2, "a") != made(2, "b")


def test_code_that_cannot_be_known_is_trained_again(tmp_path, capsys) -> None:
    source = "def my(network, data):\n    return abs(network.w_in).max() + 0 * rng.bit_generator.state['has_uint32']"
    measure = function(source, rng=np.random.default_rng(0))
    first = train(tmp_path, record=measure)
    before = written(first)
    again = train(tmp_path, record=measure)
    assert (again.id == first.id, written(again) != before) == (True, True)
    assert "it uses an object of numpy.random._generator.Generator. Give the function" in capsys.readouterr().err
    measure.version = 1
    named = train(tmp_path, record=measure)
    assert (named.id != first.id, written(train(tmp_path, record=measure))) == (True, written(named))


def architecture(sign: float) -> None:
    @register
    @dataclass(frozen=True)
    class Sum(Architecture):
        name: ClassVar[str] = "own-sum"
        summary: ClassVar[str] = "a sum of embeddings"
        width: int = 6

        def init(self, key: Any, signature: Any, scale: Any, dtype: Any) -> Any:
            return {"u": jax.random.normal(key, (signature.sizes[0], signature.outputs), dtype)}

        def apply(self, parameters: Any, inputs: Any, signature: Any, noise: Any = None) -> Any:
            return sign * sum(rows_of(parameters["u"], inputs[:, s]) for s in range(2))

        def cost(self, signature: Any) -> Cost:
            return Cost(10, 10, 10)


def test_an_edited_architecture(tmp_path) -> None:
    architecture(1.0)
    settings = {"network": "own-sum", "weight_decay": 0.0}
    first = train(tmp_path, **settings)
    experiment = mg.Experiment("n + m", 5, **TINY | settings)
    assert experiment.id == first.id
    assert written(train(tmp_path, **settings)) == written(first)
    architecture(-1.0)
    edited = train(tmp_path, **settings)
    assert edited.id != first.id
    assert edited.history["train_loss"][0] != first.history["train_loss"][0]
    assert experiment.id == edited.id
    architecture(1.0)
    assert train(tmp_path, **settings).id == first.id


def test_an_edited_family(tmp_path) -> None:
    def family(shift: int) -> None:
        def read(text: str, modulus: int | None) -> mg.Task:
            n, m = np.indices((5, 5))
            return mg.Task(text, (5, 5), 5, (n + m + shift) % 5)

        register_family(Family("own", "own:[0-9]+", read, "own:1, a sum and more"))

    family(0)
    first = mg.train("own:1", store=tmp_path, **TINY)
    assert written(mg.train("own:1", store=tmp_path, **TINY)) == written(first)
    family(1)
    edited = mg.train("own:1", store=tmp_path, **TINY)
    assert edited.id != first.id
    assert edited.task.table[0, 0] == 1
    assert edited.history["train_loss"][-1] != first.history["train_loss"][-1]


def test_edited_losses_optimizers_and_activations(tmp_path) -> None:
    def define(factor: float) -> None:
        LOSSES["own"] = Loss(lambda out, answers, count: factor * cross_entropy(out, answers, count))
        ACTIVATIONS["own"] = Activation(lambda x: factor * x)
        register_optimizer("own", Optimizer("own", 1.0, 10, 1.0), lambda rates: optax.scale(factor))

    define(1.0)
    choices: list[dict[str, Any]] = [{"loss": "own"}, {"activation": "own"}, {"optimizer": "own"}]
    before = [train(tmp_path, network="mlp", **choice) for choice in choices]
    define(2.0)
    after = [train(tmp_path, network="mlp", **choice) for choice in choices]
    for old, new in zip(before, after, strict=True):
        assert old.id != new.id
        assert old.history["train_loss"][-1] != new.history["train_loss"][-1]


def test_force(tmp_path) -> None:
    first = train(tmp_path)
    before, weights = written(first), first.network.w_in
    again = train(tmp_path, force=True)
    assert (again.id, written(again) > before) == (first.id, True)
    np.testing.assert_array_equal(again.network.w_in, weights)
    settings = TINY | {"store": tmp_path, "vary": {"seed": [0, 1]}}
    table = mg.sweep("n + m", 5, **settings)
    runs = {run.id: written(run) for run in mg.Store(tmp_path)}
    mg.sweep("n + m", 5, **settings)
    assert {run.id: written(run) for run in mg.Store(tmp_path)} == runs
    forced = mg.sweep("n + m", 5, force=True, **settings)
    now = {run.id: written(run) for run in mg.Store(tmp_path)}
    assert {name for name in runs if now[name] != runs[name]} == set(table["run"]) == set(forced["run"])


EARLY = """
from modgrok.training.losses import LOSSES, Loss, cross_entropy

LOSSES["own"] = Loss(lambda out, answers, count: FACTOR * cross_entropy(out, answers, count))

import modgrok as mg

print(mg.Experiment("n + m", 5, network="mlp", loss="own").id)
"""


def test_code_counts_no_matter_what_was_imported_before_it_was_registered() -> None:
    """Names of modgrok are imported when they are first used, and a script may register its parts before."""

    def printed(factor: str) -> str:
        command = [sys.executable, "-c", EARLY.replace("FACTOR", factor)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    assert printed("2") != printed("3")


def test_parts_are_known_where_they_are_registered_again() -> None:
    LOSSES["own"] = own = Loss(cross_entropy)
    measure("own_measure")(lambda network: 0.0)
    parts = user_parts(mg.Experiment("n + m", 5, network="mlp", loss="own", record=("own_measure",)).resolve())
    assert set(parts) == {("loss", "own"), ("measure", "own_measure")}
    assert user_parts(mg.Experiment("n + m", 5).resolve()) == {}
    del LOSSES["own"], MEASURES["own_measure"]
    register_parts(parts)
    assert LOSSES["own"] is own
    assert "own_measure" in MEASURES
