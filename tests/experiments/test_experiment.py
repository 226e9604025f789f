"""An experiment as a value: its JSON, its hash, its checks."""

import dataclasses
import inspect
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Store
from modgrok.training.optimizers import OPTIMIZERS


@pytest.fixture(scope="module", autouse=True)
def _no_type_checker():
    """Values of wrong types meet the experiment's own checks, as they do outside of tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Experiment, "__init__", inspect.unwrap(Experiment.__init__))
        yield


EXPERIMENTS = st.builds(
    Experiment,
    st.sampled_from(["n + m", "n^2+m^2", "multiplication", "random:3"]),
    modulus=st.integers(2, 30),
    width=st.integers(1, 1000),
    fraction=st.floats(0.01, 0.99),
    optimizer=st.sampled_from(sorted(OPTIMIZERS)),
    lr=st.one_of(st.just("auto"), st.floats(1e-6, 1e6)),
    weight_decay=st.one_of(st.none(), st.floats(0, 10)),
    dropout=st.floats(0, 0.9),
    batch_norm=st.booleans(),
    batch_size=st.one_of(st.none(), st.integers(1, 100)),
    steps=st.one_of(st.none(), st.integers(1, 10**6)),
    until=st.one_of(st.none(), st.integers(0, 1000)),
    seed=st.integers(0, 2**32 - 1),
    split_seed=st.one_of(st.none(), st.integers(0, 2**32)),
)


@given(EXPERIMENTS)
def test_an_experiment_comes_back_from_its_json(experiment):
    text = json.dumps(experiment.as_dict(), allow_nan=False)
    assert Experiment.from_dict(json.loads(text)) == experiment


@given(EXPERIMENTS)
def test_resolving_writes_defaults_out_and_keeps_the_id(experiment):
    resolved = experiment.resolve()
    assert resolved.resolve() == resolved
    assert resolved.id == experiment.id
    written = {
        "lr",
        "steps",
        "weight_decay",
        "split_seed",
        "loss",
        "activation",
        *(one.name for one in OPTIMIZERS[experiment.optimizer].settings),
    }
    assert all(getattr(resolved, name) is not None for name in written)
    assert isinstance(resolved.lr, float)


@given(EXPERIMENTS, st.randoms())
def test_the_id_does_not_depend_on_the_order_of_keys(experiment, random):
    items = list(experiment.as_dict().items())
    random.shuffle(items)
    assert Experiment.from_dict(dict(items)).id == experiment.id


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("network", ["two-layer", "transformer"])
def test_auto_and_its_number_are_one_experiment(optimizer, network):
    auto = Experiment("n + m", optimizer=optimizer, network=network)
    chosen = OPTIMIZERS[optimizer]
    rate = chosen.learning_rate if network == "two-layer" else chosen.standard_rate
    assert Experiment("n+m", optimizer=optimizer, network=network, lr=rate).id == auto.id
    assert auto.resolve().lr == rate


@pytest.mark.parametrize(
    "spelled",
    [
        {"task": "n+m"},
        {"task": " n  +m "},
        {"weight_decay": 0},
        {"dropout": 0, "batch_norm": 0},
        {"init_scale": 1, "seed": np.int64(0)},
        {"init_scale": np.float32(1), "width": np.uint16(500)},
        {"split_seed": 0},
        {"decoupled": True},
        {"batch_norm": np.bool_(False)},
    ],
    ids=str,
)
def test_spelling_does_not_change_the_id(spelled):
    base = {"task": "n + m", "weight_decay": 0.0}
    assert Experiment(**(base | spelled)).id == Experiment(**base).id


def test_ids_tell_settings_apart():
    changes = [{"seed": 1}, {"lr": 0.5}, {"width": 501}, {"task": "n - m"}, {"steps": 7}, {"precision": "float64"}]
    ids = {Experiment(**({"task": "n + m"} | change)).id for change in [{}, *changes]}
    assert len(ids) == len(changes) + 1


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"modulus": 1}, "modulus must be at least 2, not 1"),
        ({"modulus": "p"}, "modulus must be a whole number, not 'p'"),
        ({"fraction": 0}, "between 0 and 1"),
        ({"fraction": 1}, "between 0 and 1"),
        ({"fraction": 1.5}, "between 0 and 1"),
        ({"fraction": float("nan")}, "between 0 and 1"),
        ({"width": 0}, "width must be at least 1"),
        ({"width": 2.5}, "width must be a whole number"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**32}, "seed must be at most 4,294,967,295"),
        ({"split_seed": -1}, "split_seed"),
        ({"optimizer": "sophia"}, "optimizer must be one of gd, .*, not 'sophia'"),
        ({"network": "rnn"}, "network must be one of .*two-layer, not 'rnn'"),
        ({"lr": "fast"}, "lr must be a positive number or auto, not 'fast'"),
        ({"lr": float("nan")}, "lr must be a positive number or auto, not nan"),
        ({"lr": float("inf")}, "lr must be"),
        ({"lr": -1}, "lr must be"),
        ({"lr": 0}, "lr must be"),
        ({"weight_decay": -1}, "weight_decay"),
        ({"weight_decay": float("nan")}, "weight_decay"),
        ({"momentum": 1}, "momentum"),
        ({"dropout": 1}, "dropout"),
        ({"dropout": None}, "dropout must be a number"),
        ({"beta2": 1.0}, "beta2"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"batch_size": 0}, "batch_size"),
        ({"steps": 0}, "steps"),
        ({"until": -1}, "until"),
        ({"threshold": 0}, "threshold"),
        ({"init_scale": 0}, "init_scale must be a positive number"),
        ({"batch_norm": "yes"}, "batch_norm must be true or false"),
        ({"sampling": "best"}, "sampling"),
        ({"activation": "swish"}, "activation is one of"),
        ({"parametrization": "ntk"}, "parametrization must be one of"),
        ({"loss": "huber"}, "mse, cross_entropy, hinge, stablemax, not 'huber'"),
        ({"precision": "float16"}, "float32, highest, float64"),
        ({"threshold": 0}, "threshold must be a positive number, not 0.0"),
        ({"threshold": 1.5}, "threshold must be at most 1, not 1.5"),
        ({"threshold": float("nan")}, "threshold must be a positive number, not nan"),
        ({"momentum": 1}, "momentum must be at least 0 and less than 1, not 1.0"),
        ({"parent": "abc"}, "RUN@STEP"),
        ({"parent": "abc@ten"}, "RUN@STEP"),
        ({"task": 5}, "task must be a text"),
        ({"lr": 10**400}, "lr must be .*number"),
        ({"weight_decay": -(10**400)}, "weight_decay must be .*number"),
        *(({name: 3}, f"{name} .* not 3") for name in ("loss", "positions", "layer_norm", "initialization")),
        *(({name: [1]}, f"{name} .* not ") for name in ("loss_precision", "combine", "precision", "grokfast")),
        *(
            ({name: 1 - 1e-9}, f"{name} .*rounds to 1 in float32")
            for name in ("beta1", "beta2", "momentum", "grokfast_alpha", "dropout")
        ),
    ],
    ids=str,
)
def test_bad_values_are_one_sentence(settings, sentence):
    with pytest.raises(ModgrokError, match=sentence) as raised:
        Experiment(**({"task": "n + m"} | settings))
    assert str(raised.value).endswith((".", "?"))


@pytest.mark.parametrize("name", ["fraction", "lr", "width", "seed"])
def test_numbers_that_python_does_not_write_down(name):
    with pytest.raises(ModgrokError, match=name):
        Experiment("n + m", **{name: -(10**5000)})


def test_rates_that_only_float64_tells_from_1_need_it():
    assert Experiment("n + m", beta2=1 - 1e-9, precision="float64").beta2 == 1 - 1e-9


@pytest.mark.parametrize("task", ["n + + m", "1 2 + n", "addtion"])
def test_a_bad_task_is_an_error_before_anything_is_trained(task):
    with pytest.raises(ModgrokError):
        _ = Experiment(task, lr=0.1).id


def test_unknown_settings_are_named():
    with pytest.raises(ModgrokError, match="no setting 'optimiser'; did you mean 'optimizer'"):
        Experiment.from_dict({"task": "n + m", "optimiser": "gd"})


def test_misspelled_names_are_corrected() -> None:
    with pytest.raises(ModgrokError, match="did you mean 'nesterov'"):
        Experiment("n + m", 7, optimizer="nestrov")
    with pytest.raises(ModgrokError, match="did you mean 'weight_decay'"):
        Experiment.from_dict({"task": "n + m", "weigth_decay": 1})


def test_experiments_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Experiment("n + m").seed = 1


def test_table_files_are_known_by_their_content(tmp_path):
    table = np.random.default_rng(0).integers(0, 5, (5, 5))
    np.save(tmp_path / "one.npy", table)
    np.savetxt(tmp_path / "two.csv", table, fmt="%d", delimiter=",")
    one, two = (Experiment(str(tmp_path / name), modulus=5) for name in ("one.npy", "two.csv"))
    assert one.id == two.id
    np.save(tmp_path / "one.npy", (table + 1) % 5)
    assert one.id != two.id


def test_a_stored_table_comes_back_and_is_checked(tmp_path):
    table = np.random.default_rng(0).integers(0, 5, (5, 5))
    np.save(tmp_path / "table.npy", table)
    store, experiment = Store(tmp_path / "runs"), Experiment(str(tmp_path / "table.npy"), modulus=5)
    store.add(experiment)
    (tmp_path / "table.npy").unlink()
    stored = Experiment.from_dict(experiment.as_dict() | {"task": next(iter(names(store)))})
    np.testing.assert_array_equal(stored.load_task(store.tables).table, table)
    with pytest.raises(ModgrokError, match="only its store knows"):
        stored.load_task()
    (path,) = store.tables.glob("*.npy")
    np.save(path, (table + 1) % 5)
    with pytest.raises(ModgrokError, match="does not hold the table"):
        stored.load_task(store.tables)


def names(store):
    return [f"table:{path.stem}" for path in store.tables.glob("*.npy")]


def test_a_table_of_another_modulus_is_refused(tmp_path):
    np.save(tmp_path / "table.npy", np.zeros((5, 5), int))
    with pytest.raises(ModgrokError, match="modulo 7"):
        Experiment(str(tmp_path / "table.npy"), modulus=7).resolve()


def test_experiments_that_differ_in_their_seed_are_resolved_once():
    base = Experiment("n + m", 7, width=8)
    for split_seed in (None, 3):
        one = dataclasses.replace(base, split_seed=split_seed)
        found = [one.seeded(seed).resolve() for seed in (1, 2)]
        alone = [dataclasses.replace(one, seed=seed).resolve() for seed in (1, 2)]
        assert found == alone
        assert [e.content_hash for e in found] == [e.content_hash for e in alone]
        assert [e.split for e in found] == [e.split for e in alone]
        assert found[0].like is found[1].like
    with pytest.raises(ModgrokError):
        base.seeded(-1)
