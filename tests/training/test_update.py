"""Every optimizer and every wrapper, step by step, against its formula in NumPy."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from modgrok.experiments import Experiment
from modgrok.experiments.programs import program_of, rates_of
from modgrok.training.optimizers import OPTIMIZERS
from modgrok.training.update import Start, norm, transformation, update

LR, DECAY = 0.1, 0.05


def gd(w, gradients):
    for g in gradients:
        w = w - LR * g
    return w


def gd_coupled(w, gradients):
    for g in gradients:
        w = w - LR * (g + DECAY * w)
    return w


def momentum(w, gradients, decay=0.0, nesterov=False, mu=0.9):
    v = np.zeros_like(w)
    for g in gradients:
        g = g + decay * w
        v = mu * v + g
        w = w - LR * (g + mu * v if nesterov else v)
    return w


def decoupled_momentum(w, gradients):
    v = np.zeros_like(w)
    for g in gradients:
        v = 0.9 * v + g
        w = w - LR * v - LR * DECAY * w
    return w


def adam(w, gradients, coupled=0.0, decoupled=0.0, b1=0.8, b2=0.95, eps=1e-3):
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gradients, start=1):
        g = g + coupled * w
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g**2
        w = w - LR * (m / (1 - b1**t) / (np.sqrt(v / (1 - b2**t)) + eps)) - LR * decoupled * w
    return w


def rmsprop(w, gradients, b2=0.95, eps=1e-3):
    v = np.zeros_like(w)
    for g in gradients:
        v = b2 * v + (1 - b2) * g**2
        w = w - LR * g / (np.sqrt(v) + eps)
    return w


def lion(w, gradients, decay=DECAY, b1=0.8, b2=0.95):
    m = np.zeros_like(w)
    for g in gradients:
        w = w - LR * (np.sign(b1 * m + (1 - b1) * g) + decay * w)
        m = b2 * m + (1 - b2) * g
    return w


ADAM = {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}
CASES = {
    "gd": ({"optimizer": "gd"}, gd),
    "sgd": ({"optimizer": "sgd"}, gd),
    "gd, coupled decay": ({"optimizer": "gd", "weight_decay": DECAY}, gd_coupled),
    "gd, decoupled decay": ({"optimizer": "gd", "weight_decay": DECAY, "decoupled": True}, gd_coupled),
    "momentum": ({"optimizer": "momentum"}, momentum),
    "gd with momentum": ({"optimizer": "gd", "momentum": 0.5}, lambda w, g: momentum(w, g, mu=0.5)),
    "momentum, coupled decay": (
        {"optimizer": "momentum", "weight_decay": DECAY},
        lambda w, g: momentum(w, g, decay=DECAY),
    ),
    "momentum, decoupled decay": (
        {"optimizer": "momentum", "weight_decay": DECAY, "decoupled": True},
        decoupled_momentum,
    ),
    "nesterov": ({"optimizer": "nesterov"}, lambda w, g: momentum(w, g, nesterov=True)),
    "adam": ({"optimizer": "adam", **ADAM}, adam),
    "adam, coupled decay": (
        {"optimizer": "adam", "weight_decay": DECAY, **ADAM},
        lambda w, g: adam(w, g, coupled=DECAY),
    ),
    "adamw": ({"optimizer": "adamw", "weight_decay": DECAY, **ADAM}, lambda w, g: adam(w, g, decoupled=DECAY)),
    "rmsprop": ({"optimizer": "rmsprop", "beta2": 0.95, "epsilon": 1e-3}, rmsprop),
    "lion": ({"optimizer": "lion", "weight_decay": DECAY, "beta1": 0.8, "beta2": 0.95}, lion),
}
STEPS = 3


def random_trees(shapes, count=STEPS + 1):
    random = np.random.default_rng(0)
    return [{name: random.normal(size=shape) for name, shape in shapes.items()} for _ in range(count)]


def take_steps(settings, steps=STEPS, first_step=0):
    """The weights before and after so many steps along random gradients, and the gradients."""
    experiment = Experiment("n + m", modulus=5, **({"width": 3, "lr": LR, "precision": "float64"} | settings)).resolve()
    program = program_of(experiment, experiment.load_task(), "cpu")
    rates = rates_of(experiment)
    first, *gradients = random_trees(program.architecture.shapes(program.signature), steps + 1)
    weights = {name: jnp.asarray(w) for name, w in first.items()}
    start, state = Start(weights, norm(weights)), transformation(program, rates).init(weights)
    start = Start(
        start.weights if "decay_to_start" in program.features else None,
        start.norm if "hold_norm" in program.features else None,
    )
    for number, gradient in enumerate(gradients):
        given = {name: jnp.asarray(g) for name, g in gradient.items()}
        weights, state = update(program, rates, given, state, weights, start, np.int32(first_step + number))
    return first, gradients, {name: np.asarray(w) for name, w in weights.items()}


def assert_follows(settings, formula, **how):
    """The formula is of one tensor and its gradients; every tensor follows it."""
    first, gradients, found = take_steps(settings, **how)
    for name in first:
        expected = formula(first[name], [gradient[name] for gradient in gradients])
        np.testing.assert_allclose(found[name], expected, rtol=1e-10, err_msg=name)


@pytest.mark.parametrize(("settings", "formula"), CASES.values(), ids=CASES)
def test_updates_follow_the_formula(settings, formula):
    assert_follows(settings, formula)


def test_every_optimizer_is_tested():
    tested = {settings["optimizer"] for settings, _ in CASES.values()}
    assert tested | {"muon", "muon-adamw"} == set(OPTIMIZERS)


def test_muon_takes_orthogonal_steps_of_matrices_and_signs_of_stacks():
    first, (gradient,), found = take_steps({"optimizer": "muon", "weight_decay": 0.0}, steps=1)
    moved = {name: (first[name] - found[name]) / LR for name in first}
    np.testing.assert_allclose(moved["columns"], np.sign(gradient["columns"]))
    u, _, v = np.linalg.svd(gradient["readout"], full_matrices=False)
    inside = u.T @ moved["readout"] @ v.T
    np.testing.assert_allclose(inside - np.diag(np.diag(inside)), 0, atol=1e-9)
    assert (np.abs(np.diag(inside) - 1) < 0.4).all()


def test_jordans_muon_is_adamw_outside_the_blocks_of_a_transformer():
    network = {"network": "transformer", "width": 4, "heads": 2, "layer_norm": "post"}
    settings = {**network, "optimizer": "muon-adamw", "weight_decay": DECAY, "adam_rate": 0.25, **ADAM}
    first, gradients, found = take_steps(settings, steps=2)
    start, _, moved = take_steps(settings | {"weight_decay": 0.0}, steps=1)
    inside = {name for name in first if name.startswith("blocks.") and first[name].ndim == 2}
    assert len(inside) == 6
    assert {"embedding", "unembedding.weight", "norms.0.weight"} <= first.keys() - inside
    for name in first.keys() - inside:
        w = first[name]
        steps = [adam(np.zeros_like(w), [g[name] for g in gradients[:n]]) for n in (0, 1, 2)]
        for earlier, later in itertools.pairwise(steps):
            w = w - LR * DECAY * w + 0.25 * (later - earlier)
        np.testing.assert_allclose(found[name], w, rtol=1e-10, err_msg=name)
    for name in inside:
        rows, columns = start[name].shape
        sizes = np.linalg.svd((start[name] - moved[name]) / LR, compute_uv=False)
        assert (np.abs(sizes / max(1, rows / columns) ** 0.5 - 1) < 0.4).all(), name


def test_orthogonal_gradients_keep_their_norm_and_lose_what_is_along_the_weights():
    def formula(w, gradients):
        for g in gradients:
            across = g - (w.ravel() @ g.ravel()) / (w.ravel() @ w.ravel()) * w
            assert abs(across.ravel() @ w.ravel()) < 1e-12
            w = w - LR * across * np.linalg.norm(g) / np.linalg.norm(across)
        return w

    assert_follows({"optimizer": "gd", "orthogonal": True}, formula)


def test_noise_is_added_to_updates_before_the_rate():
    """Its deviation, over all weights of a step along no gradient, is rate × noise."""
    settings = {"optimizer": "gd", "update_noise": 0.5, "lr": LR, "width": 400, "precision": "float64"}
    experiment = Experiment("n + m", modulus=5, **settings).resolve()
    program = program_of(experiment, experiment.load_task(), "cpu")
    rates = rates_of(experiment)
    shapes = program.architecture.shapes(program.signature)
    weights = {name: jnp.zeros(shape) for name, shape in shapes.items()}
    state = transformation(program, rates).init(weights)
    moved = [
        update(program, rates, weights, state, weights, Start(None, None), np.int32(0), jax.random.key(seed))[0]
        for seed in (0, 0, 1)
    ]
    found = [np.concatenate([np.ravel(w) for w in tree.values()]) for tree in moved]
    assert found[0].std() == pytest.approx(0.5 * LR, rel=0.05)
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_grokfast_by_an_exponential_average():
    def formula(w, gradients):
        mean = gradients[0]
        for number, g in enumerate(gradients):
            mean = g if number == 0 else 0.7 * mean + 0.3 * g
            w = w - LR * (g + 3 * mean)
        return w

    settings = {"optimizer": "gd", "grokfast": "ema", "grokfast_lambda": 3.0, "grokfast_alpha": 0.7}
    assert_follows(settings, formula)


def test_grokfast_by_a_moving_average_waits_until_its_window_is_full():
    def formula(w, gradients):
        for number, g in enumerate(gradients, start=1):
            w = w - LR * (g + (4 * np.mean(gradients[number - 2 : number], axis=0) if number >= 2 else 0))
        return w

    assert_follows(
        {"optimizer": "gd", "grokfast": "ma", "grokfast_lambda": 4.0, "grokfast_window": 2}, formula, steps=5
    )


def test_grokfast_comes_before_the_optimizer():
    def formula(w, gradients):
        means, mean = [], gradients[0]
        for g in gradients:
            mean = 0.98 * mean + 0.02 * g if means else g
            means.append(g + 2 * mean)
        return adam(w, means, decoupled=DECAY)

    assert_follows({"optimizer": "adamw", "weight_decay": DECAY, "grokfast": "ema", **ADAM}, formula)


def test_weights_are_held_at_their_norm():
    first, gradients, found = take_steps({"optimizer": "gd", "hold_norm": True})
    whole = lambda tree: np.concatenate([part.ravel() for part in tree.values()])  # noqa: E731
    radius, expected = np.linalg.norm(whole(first)), first
    for gradient in gradients:
        expected = {name: w - LR * gradient[name] for name, w in expected.items()}
        expected = {name: w * radius / np.linalg.norm(whole(expected)) for name, w in expected.items()}
    for name in found:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-10)


@pytest.mark.parametrize("decoupled", [False, True])
def test_decay_may_pull_to_the_start(decoupled):
    def formula(w, gradients):
        start, v = w, np.zeros_like(w)
        for g in gradients:
            pull = DECAY * (w - start)
            v = 0.9 * v + g + (0 if decoupled else pull)
            w = w - LR * (v + (pull if decoupled else 0))
        return w

    settings = {"optimizer": "momentum", "weight_decay": DECAY, "decay_to": "start", "decoupled": decoupled}
    assert_follows(settings, formula)


EMBEDDING = {"network": "embedding-mlp", "width": 3, "depth": 1, "embedding": 4}


@pytest.mark.parametrize("decoupled", [False, True])
def test_the_embedding_may_have_rates_of_its_own(decoupled):
    settings = {"optimizer": "momentum", "weight_decay": DECAY, "embedding_lr": 0.02, "embedding_decay": 0.3}
    first, gradients, found = take_steps(EMBEDDING | settings | {"decoupled": decoupled})
    assert "embedding" in first
    assert "decoder.0.bias" in first
    for name, w in first.items():
        rate, decay = (0.02, 0.3) if name == "embedding" else (LR, DECAY)
        v = np.zeros_like(w)
        for gradient in gradients:
            v = 0.9 * v + gradient[name] + (0 if decoupled else decay * w)
            w = w - rate * (v + (decay * w if decoupled else 0))
        np.testing.assert_allclose(found[name], w, rtol=1e-10, err_msg=name)


@pytest.mark.parametrize(
    ("settings", "factors"),
    [
        ({"warmup": 4}, [0, 1 / 4, 2 / 4, 3 / 4, 1, 1]),
        ({"lr_end": 0.0}, [(1 + np.cos(np.pi * t / 8)) / 2 for t in range(6)]),
        ({"lr_end": 0.5, "warmup": 2}, [(0.75 + 0.25 * np.cos(np.pi * t / 8)) * min(t / 2, 1) for t in range(6)]),
    ],
    ids=str,
)
def test_schedules_are_factors_of_the_learning_rate(settings, factors):
    def formula(w, gradients):
        for g, factor in zip(gradients, factors, strict=True):
            w = w - LR * factor * g
        return w

    assert_follows({"optimizer": "gd", "steps": 8} | settings, formula, steps=6)


def test_a_schedule_goes_on_where_it_was():
    """Its step is the run's, not the optimizer's: a run that is resumed has it at once."""

    def formula(w, gradients):
        return w - LR * 0.75 * gradients[0]

    assert_follows({"optimizer": "gd", "steps": 8, "warmup": 4}, formula, steps=1, first_step=3)
