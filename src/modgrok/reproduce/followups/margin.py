r"""The largest margin of n + m mod p, and gradient descent on its way there (Morwani et al.).

For $f(a, b) = \sum_i w_i (u_i(a) + v_i(b))^2$ the margin is the least lead of the right answer over any other, in units
of $\sum_i \|(u_i, v_i, w_i)\|^3$. It is at most $\gamma^* = \sqrt{2/27} / (\sqrt p (p - 1))$, and what reaches it is
the paper's solution: every neuron one frequency, $\phi_u + \phi_v = \phi_w$, all frequencies equally strong.
"""

import math
from typing import Any

import numpy as np

from modgrok.measures.waves import neuron_waves
from modgrok.networks import two_layer
from modgrok.palette import SERIES
from modgrok.plot import style
from modgrok.reproduce.followups.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.shapes import Float

RATES = tuple(0.05 * 2**doubled for doubled in range(11))
"""From 0.05 to 51.2, one after another."""
PENALTY = 1e-4
"""Of the sum of cubed norms, beside the cross-entropy."""
START = 0.1
"""Standard deviation of the first weights; the authors do not give theirs."""
PURE = 0.95
"""Share of a neuron that one wave has to explain."""
PHASES = 3
"""Values of each of two phases in the closed form: with three all that is not wanted cancels."""

Blocks = Float[Any, "3 p N"]
"""u, v and w of every neuron."""


def largest_margin(p: int) -> float:
    """γ*."""
    return math.sqrt(2 / 27) / (math.sqrt(p) * (p - 1))


def of_largest_margin(p: int) -> Blocks:
    """Neurons of every frequency with nine pairs of phases, which reach γ* for odd p."""
    angles = 2 * np.pi * np.arange(PHASES) / PHASES
    frequencies, first, second = (x.ravel() for x in np.meshgrid(np.arange(1, (p + 1) // 2), angles, angles))
    turns = 2 * np.pi * frequencies * np.arange(p)[:, None] / p
    return np.stack(
        [np.cos(turns + phase) for phase in (first, second, first + second)]
    )  # u + v − w: cos(k(a + b − c))


def margin(blocks: Blocks) -> float:
    """The least lead of a right answer in units of the sum of cubed norms."""
    scores, answers = _scores(blocks), _answers(blocks.shape[1])[..., None]
    lead = np.take_along_axis(scores, answers, axis=2) - scores
    np.put_along_axis(lead, answers, np.inf, axis=2)
    return float(lead.min() / _cubes(blocks))


def _scores(blocks: Blocks) -> Float[Any, "p p p"]:
    return (blocks[0][:, None] + blocks[1][None]) ** 2 @ blocks[2].T


def _answers(p: int) -> Any:
    return (np.arange(p)[:, None] + np.arange(p)) % p


def _cubes(blocks: Blocks) -> Any:
    return (((blocks**2).sum(axis=(0, 1)) + 1e-30) ** 1.5).sum()


def train(p: int, width: int, steps: int, seed: int) -> list[Blocks]:
    """Gradient descent on all p² pairs, cross-entropy and penalty: the weights after the steps of every rate, up to the
    first with which it diverges."""
    import jax
    import jax.numpy as jnp

    def loss(blocks: Any) -> Any:
        scores = _scores(blocks)
        right = jnp.take_along_axis(scores, _answers(p)[..., None], axis=2)[..., 0]
        return (jax.nn.logsumexp(scores, axis=2) - right).mean() + PENALTY * _cubes(blocks)

    @jax.jit
    def descend(blocks: Any, rate: Any) -> Any:
        return jax.lax.fori_loop(0, steps, lambda _, x: x - rate * jax.grad(loss)(x), blocks)

    blocks, found = START * jax.random.normal(jax.random.PRNGKey(seed), (3, p, width)), []
    for rate in RATES:
        blocks = descend(blocks, rate)
        if not np.isfinite(blocks).all():
            break
        found.append(np.asarray(blocks, np.float64))
    return found


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Margins in units of γ* after every rate, and the waves of the last weights."""
    p = profile.margin_modulus
    seeds = []
    for seed in range(profile.margin_seeds):
        found = train(p, profile.margin_width, profile.margin_steps, seed)
        waves = neuron_waves(two_layer(*_layers(found[-1])))
        cubes = np.square(found[-1]).sum(axis=(0, 1)) ** 1.5
        by_frequency = np.bincount(waves.frequency, cubes, minlength=(p + 1) // 2)[1 : (p + 1) // 2]
        seeds.append(
            {
                "margins": [margin(blocks) / largest_margin(p) for blocks in found],
                "pure": float(cubes[waves.explained >= PURE].sum() / cubes.sum()),
                "mismatch": float(np.nanmedian(np.abs(waves.residual))),
                "least": float(by_frequency.min() / by_frequency.mean()),
            }
        )
    return {
        "modulus": p,
        "width": profile.margin_width,
        "steps": profile.margin_steps,
        "rates": RATES,
        "largest": largest_margin(p),
        "closed_form": margin(of_largest_margin(p)) / largest_margin(p),
        "closed_form_width": of_largest_margin(p).shape[2],
        "seeds": seeds,
    }


def _layers(blocks: Blocks) -> tuple[Any, Any]:
    return np.moveaxis(blocks[:2], 2, 0), blocks[2]


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.8)
    panel = panels[0, 0]
    for i, found in enumerate(n["seeds"]):
        steps = n["steps"] * (1 + np.arange(len(found["margins"])))
        panel.plot(steps, found["margins"], "o-", color=SERIES[i % len(SERIES)], markersize=3, label=f"seed {i}")
    panel.axhline(1, color="black", linewidth=0.8, linestyle=":", label="largest")
    panel.set(xlabel="step; the rate doubles at every mark", ylabel="margin / γ*", ylim=(-0.05, 1.08))
    panel.legend(loc="lower right")
    style.note(figure, f"n + m mod {n['modulus']}, all pairs, N = {n['width']}")
    return figure


STUDIES = (
    Study(
        "figM",
        "Descent finds the largest margin",
        "The margin over the largest there is, under gradient descent with cross-entropy and a small penalty on the "
        "cubed norms of neurons, on all pairs; margins below zero are not drawn.",
        numbers,
        draw=draw,
    ),
)
