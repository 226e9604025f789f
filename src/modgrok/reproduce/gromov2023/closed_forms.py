"""Weights written down, scored on every input: Claims I and II, the Corollary, the complex network, more variables."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.networks import output_map, score_table
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.tasks import Task, task
from modgrok.tasks.arithmetic import is_prime

SUMS = ("n^2 + m^2", "n^3 + 2*m", "5*n^2 + m^4", "n - m")
"""Cases of Claim II."""
COMPOSED = ("(n^2 + 3*m)^{d}", "4*(n^3 + 2*m)^{d} + 1", "(n^2 + m^2)^{d}")
"""Cases of the Corollary beside powers of n + m, for every invertible power d."""
THREE_VARIABLES = ("n1 + n2 + n3", 7, 1500)
"""A sum of three variables: expression, p and width."""


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Accuracy and loss of every closed form, for several draws of its phases."""
    p, width, seeds = profile.modulus, profile.width, range(profile.closed_seeds)
    powers = [d for d in range(2, 9) if is_prime(p)]
    invertible = [d for d in powers if np.gcd(d, p - 1) == 1]
    return {
        "modulus": p,
        "width": width,
        "addition": _scores(task("n + m", p), width, seeds),
        "peak": [_peak(task("n + m", p), width, seed) for seed in seeds],
        "exact": _score(task("n + m", p), form="exact"),
        "sums": {text: _scores(task(text, p), width, seeds) for text in SUMS},
        "powers": {str(d): _power(d, p, width, seeds) for d in powers},
        "composed": {
            text.format(d=d): _scores(task(text.format(d=d), p), width, seeds) for d in invertible for text in COMPOSED
        },
        "product": _scores(task("n*m", p), width, seeds),
        "product_exact": _score(task("n*m", p), form="exact"),
        "complex": _scores(task("n + m", p), width, seeds, form="complex"),
        "three_variables": _scores(task(*THREE_VARIABLES[:2]), THREE_VARIABLES[2], seeds),
    }


def _score(learnt: Task, **asked: Any) -> dict[str, int | float]:
    network = solve(learnt, **asked)
    score = score_table(network, learnt.table)
    return {"accuracy": score.accuracy, "loss": score.loss, "width": network.width}


def _scores(learnt: Task, width: int, seeds: range, **asked: Any) -> dict[str, list[int | float]]:
    found = [_score(learnt, width=width, seed=seed, **asked) for seed in seeds]
    return {name: [score[name] for score in found] for name in ("accuracy", "loss")}


def _peak(learnt: Task, width: int, seed: int) -> float:
    """Output for the right answer 6, averaged over the pairs that have it; 1 in the limit of large width."""
    network = solve(learnt, width=width, seed=seed)
    return float(output_map(network, 6)[learnt.table == 6].mean())


def _power(degree: int, modulus: int, width: int, seeds: range) -> dict[str, Any]:
    """(n + m)^d: with b = gcd(d, p − 1) branches, one branch answers the sum 0 and one of b other sums. The rest is
    guessed, among as many answers as sums are read out."""
    learnt = task(f"(n + m)^{degree}", modulus)
    branches = int(np.gcd(degree, modulus - 1))
    read_out = 1 + (modulus - 1) // branches
    return {
        "branches": branches,
        "read_out": read_out / modulus,
        "guessed": (1 - read_out / modulus) / read_out,
        "one": _scores(learnt, width, seeds, branches="one"),
        "all": _scores(learnt, width, seeds, branches="all"),
    }


STUDY = Study(
    "closed_forms",
    "Weights written down",
    "Closed forms scored on every input: sums of functions, powers of sums with one branch and with all, "
    "products, complex weights, three variables.",
    numbers,
)
