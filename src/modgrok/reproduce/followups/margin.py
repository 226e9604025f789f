"""Gradient descent on its way to the largest margin of n + m mod p (Morwani et al.)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.measures import margins
from modgrok.measures.waves import neuron_waves
from modgrok.networks import two_layer
from modgrok.palette import SERIES
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.text import number, percent

RATES = tuple(0.05 * 2**doubled for doubled in range(11))
"""From 0.05 to 51.2, one after another."""
PENALTY = 1e-4
"""Of the sum of cubed norms, beside the cross-entropy."""
START = 0.1
"""Standard deviation of the first weights; the authors do not give theirs."""


def train(p: int, width: int, steps: int, seed: int) -> list[margins.Blocks]:
    """Gradient descent on all p² pairs, cross-entropy and penalty: the weights after the steps of every rate, up to the
    first with which it diverges."""
    import jax
    import jax.numpy as jnp

    def loss(blocks: Any) -> Any:
        scores = margins.scores(blocks)
        right = jnp.take_along_axis(scores, margins.answers(p)[..., None], axis=2)[..., 0]
        return (jax.nn.logsumexp(scores, axis=2) - right).mean() + PENALTY * margins.cubes(blocks)

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


def descents(s: Sizes) -> Iterator[dict[str, Any]]:
    """Margins in units of the largest after every rate, and the waves of the last weights, for every seed."""
    p, largest = s.margin_modulus, margins.largest_margin(s.margin_modulus)
    best = margins.of_largest_margin(p)
    same = {"modulus": p, "width": s.margin_width, "steps": s.margin_steps, "closed_form_width": best.shape[2]}
    same |= {"closed_form": margins.margin(best) / largest}
    for seed in range(s.margin_seeds):
        found = train(p, s.margin_width, s.margin_steps, seed)
        last = found[-1]
        waves = neuron_waves(two_layer(np.moveaxis(last[:2], 2, 0), last[2]))
        cubes = np.square(last).sum(axis=(0, 1)) ** 1.5
        by_frequency = np.bincount(waves.frequency, cubes, minlength=(p + 1) // 2)[1 : (p + 1) // 2]
        yield same | {
            "seed": seed,
            "margins": [margins.margin(blocks) / largest for blocks in found],
            "pure": cubes[waves.explained >= 0.95].sum() / cubes.sum(),
            "mismatch": np.nanmedian(np.abs(waves.residual)),
            "least": by_frequency.min() / by_frequency.mean(),
        }


descent = study(
    "figM",
    "Descent finds the largest margin",
    "The margin relative to the largest possible one, under gradient descent with cross-entropy and a small penalty "
    "on the cubed norms of neurons, on all pairs; negative margins are not drawn.",
    rows=descents,
)


@descent.figure(width=style.COLUMN)
def margins_on_the_way(t: Table, panel: Any) -> str:
    for row in t:
        steps = row.steps * (1 + np.arange(len(row.margins)))
        color = SERIES[row.seed % len(SERIES)]
        panel.plot(steps, row.margins, "o-", color=color, markersize=3, label=f"seed {row.seed}")
    panel.axhline(1, color="black", linewidth=0.8, linestyle=":", label="largest")
    panel.set(xlabel="step; the rate doubles at every mark", ylabel="margin / γ*", ylim=(-0.05, 1.08))
    panel.legend(loc="lower right")
    return f"n + m mod {t.one('modulus')}, all pairs, N = {t.one('width')}"


@descent.claim("2311.07568")
def largest_margin(t: Table, ask: Ask) -> None:
    """Gradient descent on cross-entropy with a small penalty finds the largest margin there is, from below."""
    ends = t.each(lambda r: r.margins[-1])
    rises = t.each(lambda r: r.margins[-1] > r.margins[len(r.margins) // 4])
    ask.that("in every seed the margin at the end is 0.9 times the largest or more", min(ends) >= 0.9)
    ask.that("nowhere above it (to a thousandth)", max(ends) <= 1.001)
    ask.that("larger than after the first quarter", all(rises))
    ask.yes(f"The margin comes to {number(min(ends))} of the largest.")
    ask.show({"margin at the end over the largest": ends})
    ask.show({"the largest": margins.largest_margin(t.one("modulus"))})
    ask.show({f"closed form with {t.one('closed_form_width')} neurons": t.one("closed_form")})


@descent.claim("2311.07568")
def margin_is_fourier(t: Table, ask: Ask) -> None:
    """The network of the largest margin is the paper's: one frequency a neuron, φ₁ + φ₂ = φ₃, every frequency alike."""
    ask.that("in every seed waves explain 95 % of nine tenths of the neurons, by cubed norms", min(t["pure"]) >= 0.9)
    ask.that("the phases of the middle neuron miss by less than 0.1", max(t["mismatch"]) < 0.1)
    ask.that("no frequency has less than half of its share of the cubed norms", min(t["least"]) >= 0.5)
    ask.show({"neurons that are one wave, by cubed norm": t["pure"]}, percent)
    ask.show({"mismatch of phases, middle neuron": t["mismatch"], "weakest frequency over the mean": t["least"]})
