"""How often the 95 % interval of a critical fraction covers it: many searches for one α_c, each with runs of its own.

    python benchmarks/coverage.py --out benchmarks/results

Trains n + m modulo 11 with 32 neurons for 300 steps, about 90 runs a search, all searches of a round in one program;
200 searches take some ten minutes on two cores. What α_c is, all runs of all searches say together: where half of them
grok. Some runs are trained by `modgrok` too, to see that both are one training. With `--same-seeds` every fraction is
tried with the same seeds, whose training sets contain each other, as `modgrok critical` once did.
"""

import argparse
import dataclasses
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import modgrok as mg
from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.critical import PLACES, SEEDS, Critical, Effort, Search, critical_fractions

SETTINGS: dict[str, Any] = {"width": 32, "lr": 0.1, "steps": 300, "evaluations": 30, "snapshots": 0, "until": 0}
BASE = Experiment("n + m", 11, **SETTINGS).resolve()
TASK = BASE.load_task()
RARE = 0.1
"""Numbers of examples with fewer runs than this part of the most do not say what share of them groks."""
CHUNK, TOGETHER = 512, 64
"""Runs of one call of the compiled program, and of these at the same time: more fall out of the cache."""
COMPARED = 40
"""Runs that modgrok trains too."""


@dataclass
class OwnRuns(Search):
    """A search whose seeds no other search has."""

    number: int = 0
    same_seeds: bool = False

    def next_experiments(self) -> list[Experiment]:
        first = self.number * SEEDS
        return [
            dataclasses.replace(e, seed=first + (e.seed // PLACES if self.same_seeds else e.seed))
            for e in super().next_experiments()
        ]


@jax.jit
def grokked(trained: Any, seeds: Any) -> Any:
    """(run, input) and (run,) to (run,): whether each reaches the threshold at one of its evaluations."""
    architecture, signature, dtype = BASE.architecture, TASK.signature, np.dtype(np.float32)
    inputs = jnp.asarray(np.stack(np.unravel_index(np.arange(TASK.table.size), TASK.sizes), axis=1).astype(np.int32))
    answers = jnp.asarray(TASK.table.reshape(-1).astype(np.int32))
    evaluated = jnp.zeros(BASE.steps + 1, bool).at[jnp.asarray(BASE.schedule[0])].set(True)
    optimizer = optax.chain(
        optax.scale_by_adam(b1=BASE.beta1, b2=BASE.beta2, eps=BASE.epsilon),
        optax.add_decayed_weights(BASE.weight_decay),
        optax.scale_by_learning_rate(BASE.lr),
    )

    def one(trained: Any, seed: Any) -> Any:
        def loss(weights: Any) -> tuple[Any, Any]:
            outputs = architecture.apply(weights, inputs, signature)[:, : TASK.answers]
            errors = ((outputs - jax.nn.one_hot(answers, TASK.answers)) ** 2).mean(axis=1)
            right = (outputs.argmax(axis=1) == answers) & ~trained
            return (errors * trained).sum() / trained.sum(), right.sum() >= BASE.threshold * (~trained).sum()

        def step(known: Any, counts: Any) -> Any:
            weights, state, before = known
            (_, generalizes), gradient = jax.value_and_grad(loss, has_aux=True)(weights)
            updates, state = optimizer.update(gradient, state, weights)
            return (optax.apply_updates(weights, updates), state, before | (counts & generalizes)), None

        weights = architecture.init(jax.random.fold_in(jax.random.key(seed), 0), signature, np.float32(1), dtype)
        (weights, _, before), _ = jax.lax.scan(step, (weights, optimizer.init(weights), False), evaluated[:-1])
        return before | (evaluated[-1] & loss(weights)[1])

    return jax.lax.map(lambda run: one(*run), (trained, seeds), batch_size=TOGETHER)


def train(experiments: Sequence[Experiment]) -> list[Any]:
    """What a search asks of a result: when it grokked, here only whether."""
    masks = np.zeros((len(experiments), TASK.table.size), bool)
    for mask, e in zip(masks, experiments, strict=True):
        mask[e.split.divide(TASK)[0]] = True
    seeds = np.array([e.seed for e in experiments], np.uint32)
    found: list[bool] = []
    for first in range(0, len(seeds), CHUNK):
        places = np.resize(np.arange(first, min(first + CHUNK, len(seeds))), CHUNK)
        found += np.asarray(grokked(masks[places], seeds[places]))[: len(seeds) - first].tolist()
    return [SimpleNamespace(grokked_at=0 if one else None) for one in found]


def true_fraction(found: Sequence[Critical]) -> float:
    """Where half of the runs of all searches grok, between the numbers of examples around it."""
    size = TASK.table.size
    won, tried = np.zeros(size), np.zeros(size)
    for one in found:
        for fraction, (successes, trials) in one.counts.items():
            won[round(fraction * size)] += successes
            tried[round(fraction * size)] += trials
    examples = np.flatnonzero(tried >= RARE * tried.max())
    shares = won[examples] / tried[examples]
    above = int(np.flatnonzero(shares < 0.5).max()) + 1
    return float(np.interp(0.5, shares[above - 1 : above + 1], examples[above - 1 : above + 1]) / size)


def agreement() -> int:
    """How many runs around the transition end the same when modgrok trains them."""
    settings = [{"fraction": round(0.7 + 0.2 * i / COMPARED, 4), "seed": i} for i in range(COMPARED)]
    with tempfile.TemporaryDirectory(prefix="modgrok-") as store:
        runs = [mg.train("n + m", 11, store=store, **SETTINGS | one) for one in settings]
        theirs = [run.result.grokked_at is not None for run in runs]
    ours = train([dataclasses.replace(BASE, split_seed=None, **one) for one in settings])
    print(f"{sum(theirs)} of {COMPARED} runs grok", flush=True)
    return sum(a == (b.grokked_at is not None) for a, b in zip(theirs, ours, strict=True))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--searches", type=int, default=200)
    arguments.add_argument("--seeds", type=int, default=Effort.seeds)
    arguments.add_argument("--same-seeds", action="store_true")
    arguments.add_argument("--out", type=Path)
    asked = arguments.parse_args()
    effort, began, agree = Effort(seeds=asked.seeds), time.monotonic(), agreement()
    searches = [OwnRuns(BASE, effort, number=n, same_seeds=asked.same_seeds) for n in range(asked.searches)]
    trained: list[Experiment] = []

    def remember(experiments: Sequence[Experiment]) -> list[Any]:
        trained.extend(experiments)
        results = train(experiments)
        print(f"{time.monotonic() - began:6.0f} s  {len(trained)} runs", flush=True)
        return results

    found = critical_fractions(searches, remember)
    truth, fits = true_fraction(found), [one.transition for one in found]
    known = [fit for fit in fits if fit.critical is not None]
    covered = sum((fit.low or 0) <= truth <= (fit.high or 1) for fit in fits)
    result = {
        "seeds": "the same at every fraction" if asked.same_seeds else "fresh at every fraction",
        "searches": len(fits),
        "covered": covered,
        "coverage": round(covered / len(fits), 3),
        "critical": round(truth, 4),
        "mean_of_estimates": round(float(np.mean([fit.critical for fit in known])), 4),
        "spread_of_estimates": round(float(np.std([fit.critical for fit in known])), 4),
        "mean_length": round(float(np.mean([fit.high - fit.low for fit in known])), 4),
        "runs": len(trained),
        "compared": COMPARED,
        "agree": agree,
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(result, indent=1))
    if asked.out is not None:
        name = "coverage_same_seeds.json" if asked.same_seeds else "coverage.json"
        (asked.out / name).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
