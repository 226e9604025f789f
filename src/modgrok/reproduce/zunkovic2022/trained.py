"""Section 5: tensor networks that are trained whole, all matrices and ends, on Rule 30."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from modgrok.measures import tensor_network
from modgrok.palette import SERIES
from modgrok.reproduce.figures import panels
from modgrok.reproduce.form import Ask, Column, Sizes, Table, study
from modgrok.reproduce.zunkovic2022.rule30 import RULE
from modgrok.text import count, number, percent

LENGTH, FAR = 8, 14
"""Bits of the strings that are trained on, all of them, and of those that are tested."""
TESTED, EVERY = 512, 10
"""Strings that are tested, and steps between two looks."""
NONE = 1e-5
"""Where errors of zero are drawn."""
STRENGTHS = {"none": (0.0, 0.0), "λ2 = 1e-4": (1e-4, 0.0), "λ1 = 1e-3": (0.0, 1e-3)}
"""The paper's regularizers: λ2 and λ1."""
PAPERS = {"none": "0.60, 0.61, 0.77", "λ2 = 1e-4": "0.60, 0.54, 0.33", "λ1 = 1e-3": "0.10, 0.10, 0.06"}
"""Its mean grokking times at d = 10, 20, 40, in a unit that it does not state."""


def strings(bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Strings and their next states; beyond the ends there are bits −1."""
    whole = np.pad(bits, ((0, 0), (1, 1)))
    number = 4 * whole[:, :-2] + 2 * whole[:, 1:-1] + whole[:, 2:]
    return bits, np.array(list(RULE.values()), np.float32)[number]


def whole_networks(s: Sizes) -> Iterator[dict[str, Any]]:
    """When training and test errors vanish, for every size, regularizer and start."""
    seen = strings(np.array(list(product((0, 1), repeat=LENGTH))))
    far = strings(np.random.default_rng(0).integers(0, 2, (TESTED, FAR)))
    for d, (name, (l2, l1)) in product(s.bond, STRENGTHS.items()):
        step, *errors = tensor_network.train(d, s.networks, s.network_steps, EVERY, l2, l1, seen, far)
        for seed, (train, test) in enumerate(zip(*errors, strict=True)):
            zeros = [step[np.argmax(one == 0)] if (one == 0).any() else None for one in (train, test)]
            found = {"d": d, "regularizer": name, "seed": seed, "steps": s.network_steps}
            yield found | {"memorized_at": zeros[0], "grokked_at": zeros[1], "step": step, "error": test}


whole = study(
    "figN",
    "Rule 30 by tensor networks that are trained whole",
    f"Test error on strings of {FAR} bits of networks trained by Adam on all strings of {LENGTH}, without regularizer "
    "and with the paper's two; a line for each start.",
    rows=whole_networks,
    digits=3,
)


@whole.figure()
def errors_of_starts(t: Table) -> Any:
    cells = t.by("d", "regularizer")
    rows = len(t["d"].distinct())
    titles = [f"d = {d}, {'no regularizer' if name == 'none' else name}" for d, name in cells]
    note = f"a line for each start; errors of zero are drawn at {NONE:g}"
    figure, shown = panels(*titles, rows=rows, height=2.2 * rows, note=note, sharex=True, sharey=True)
    for i, (panel, cell) in enumerate(zip(shown, cells.values(), strict=True)):
        for row in cell:
            color = SERIES[i % len(STRENGTHS)]
            panel.loglog(row.step, np.maximum(row.error, NONE), color=color, alpha=0.5, lw=0.7)
        panel.set(xlabel="step", ylabel="test error")
    return figure


def _delays(t: Table) -> Column:
    """From zero training error to zero test error; as long as there was time where that does not come."""
    return t.each(lambda r: (r.grokked_at or r.steps) - (r.memorized_at or r.steps))


@whole.claim("5")
def trained_whole(t: Table, ask: Ask) -> None:
    """Tensor networks that are trained whole learn Rule 30, and with L1 the test error vanishes sooner after the
    training error than without."""
    learned = {key: len(cell["grokked_at"].known()) / len(cell) for key, cell in t.by("d", "regularizer").items()}
    ask.show({f"starts that learn the rule, d = {d}, {name}": share for (d, name), share in learned.items()}, percent)
    memorized = t["memorized_at"].whole()
    ask.possible("every start learns the training strings", memorized)
    for d, cell in t.by("d").items():
        without, sparse = (_delays(cell.where(regularizer=name)) for name in ("none", "λ1 = 1e-3"))
        ask.lower(f"the delay is lower with λ1 than without, d = {d}", sparse, without)
    for name, cell in t.by("regularizer").items():
        ask.show({f"delay in steps, {name}": _delays(cell)}, over="start", paper=PAPERS[name])
    ask.show({"steps": count(t.one("steps")), "sizes d": ", ".join(map(number, t["d"].distinct()))})
