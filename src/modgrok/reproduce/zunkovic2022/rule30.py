r"""Section 5, Table 1: Rule 30 seen by a uniform tensor network, which turns a local rule into the perceptron of the
ball model; three fixed networks, and how often random ones would do.

On a ring of bits $x_i = \pm1$ the matrices $A(x)$, fixed and 2×2, are multiplied along all other sites,
$H = A(x_{i+1}) \cdots A(x_M) A(x_1) \cdots A(x_{i-1})$, and the answer of site i is the sign of
$\mathrm{Tr}(B(x_i) H)$: linear in B, with eight features, H in the half that $x_i$ chooses. By symmetry one site
stands for all.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from modgrok.measures.laws import exponent
from modgrok.measures.linear_flow import Flow, Inputs, ends
from modgrok.measures.principal import effective_dimension
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.shapes import Float
from modgrok.text import count, number, percent

RULE = {0: -1, 1: 1, 2: 1, 3: 1, 4: 1, 5: -1, 6: -1, 7: -1}
"""From the bits left, middle, right as a number to the new bit."""
EXAMPLES = (
    (((0.782735, 0.225481), (-0.21562, 0.290028)), ((1.17554, -0.275503), (1.18283, -0.157563))),
    (((1.6749, -1.29059), (0.285324, -0.708621)), ((0.0462428, -0.0797724), (-0.509457, 0.922777))),
    (((1.37336, -0.465853), (-1.10382, 0.720113)), ((0.128517, 0.166033), (0.634426, 1.13816))),
)
"""The paper's three pairs A(−1), A(+1)."""
NEAR = 0.25
"""How far an exponent may lie from the paper's."""
DIMENSIONS, EXPONENTS = (3.0, 3.8, 3.0), (0.85, 0.75, 0.84)
"""What Table 1 of the paper gives for them."""
FITS = ((1e-3, 0.1), (1e-3, 0.03), (1e-2, 0.3))
"""Between these test errors the exponent is fitted; the first is the one that counts."""
BITS = 4
"""Of the rings that are trained on, all of them, where the flow is followed."""
STRENGTHS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3)
TRAINED = {"l2, 3 bits": (3, STRENGTHS), "l1, 3 bits": (3, STRENGTHS), "l2, 4 bits": (4, (1e-4,))}
"""Bits of the rings that are trained on, and strengths of the regularizer of which the best counts."""
RIDGE, SPARSE = {"l2": 1e-4}, {"l1": 1e-3}
"""With which random matrices learn three bits, to be tested on eight."""
TIMES = np.logspace(-1, 4, 250)
DISTANCES = np.logspace(-4, 0, 60)
"""From the transition, in units of its time."""


def all_inputs(matrices: Float[np.ndarray, "*pair 2 2 2"], length: int, normalized: bool = True) -> Inputs:
    """Every ring of that length; H is brought to norm 1 after each product, or left as it is."""
    bits = np.array(list(product((0, 1), repeat=length)))
    pairs = matrices.shape[:-3]
    H = np.broadcast_to(np.eye(2), (*pairs, len(bits), 2, 2))
    for site in range(1, length):
        H = H @ matrices[..., bits[:, site], :, :]
        H = H / np.linalg.norm(H, axis=(-2, -1), keepdims=True) if normalized else H
    halves = H.reshape(*pairs, len(bits), 1, 4) * np.eye(2)[bits[:, 0], :, None]  # (…, input, 4) -> (…, input, 2, 4)
    number = 4 * bits[:, -1] + 2 * bits[:, 0] + bits[:, 1]
    return Inputs(halves.reshape(*pairs, len(bits), 8), np.array(list(RULE.values()))[number])


def mean_dimension(inputs: Inputs) -> float:
    """The effective dimension of the covariance, the mean of the two classes."""
    classes = (inputs.features[inputs.answers == answer] for answer in (-1, 1))
    return float(np.mean([effective_dimension(np.linalg.eigvalsh(np.cov(some.T))) for some in classes]))


def critical_exponent(error: Float[np.ndarray, "t"] | None, between: tuple[float, float] = FITS[0]) -> float | None:
    """Slope of log error against log distance from the transition; None where there is none, or the error jumps."""
    if error is None:
        return None
    fitted = (error >= between[0]) & (error <= between[1])
    if fitted.sum() < 5 or np.ptp(np.log(error[fitted])) < np.log(5):
        return None
    return exponent(DISTANCES[fitted], error[fitted])


def end_errors(
    matrices: Float[np.ndarray, "pair 2 2 2"], trained: int, tested: int, l2: float = 0.0, l1: float = 0.0
) -> Float[np.ndarray, "pair"]:
    """The share of wrong answers on rings of one length where the flow on those of another ends."""
    far, answers = all_inputs(matrices, tested)
    w = ends(*all_inputs(matrices, trained), l2, l1)
    return (answers * np.einsum("anf,af->an", far, w) <= 0).mean(axis=1)


def examples(s: Sizes) -> Iterator[dict[str, Any]]:
    """Effective dimension, test error at the end, and the transition from every start, of each example."""
    for i, matrices in enumerate(map(np.array, EXAMPLES)):
        tested = all_inputs(matrices, s.length)
        errors = [_approach(all_inputs(matrices, BITS), tested, seed) for seed in range(s.starts)]
        bare_train, bare = (all_inputs(matrices, n, normalized=False) for n in (BITS, s.length))
        bare_errors = [_approach(bare_train, bare, seed) for seed in range(s.starts)]
        scans = {
            name: {one: float(end_errors(matrices[None], bits, s.length, **{name[:2]: one})[0]) for one in strengths}
            for name, (bits, strengths) in TRAINED.items()
        }
        yield {
            "example": i + 1,
            "effective_dimension": mean_dimension(tested),
            "end_error": {name: min(scan.values()) for name, scan in scans.items()},
            "best": {name: [one for one in scan if scan[one] == min(scan.values())] for name, scan in scans.items()},
            "exponents": [critical_exponent(some) for some in errors],
            "other_exponents": {
                f"{name}, fit from {low:g} to {high:g}": [critical_exponent(some, (low, high)) for some in made]
                for name, made in (("normalized", errors), ("not normalized", bare_errors))
                for low, high in FITS
            },
            "distance": DISTANCES,
            "errors": [[] if some is None else some for some in errors[:8]],
        }


def _approach(train: Inputs, tested: Inputs, seed: int) -> Float[np.ndarray, "t"] | None:
    """The test error before the transition; None where there is none."""
    flow = Flow(train, RIDGE["l2"], np.random.default_rng(seed).standard_normal(8))
    end = flow.last_error(tested, TIMES)
    return None if end is None else flow.errors(tested, end - DISTANCES * end)


def of_random_matrices(s: Sizes, t: Table) -> dict[str, Any]:
    """For how many random A, N(0, 1), three bits are enough to learn the rule, with λ2 and with λ1."""
    matrices = np.random.default_rng(30).standard_normal((s.pairs, 2, 2, 2))
    ridge, sparse = ((end_errors(matrices, 3, 8, **strength) == 0).mean() for strength in (RIDGE, SPARSE))
    return {"length": s.length, "pairs": s.pairs, "random_l2": ridge, "random_l1": sparse}


networks = study(
    "figT1",
    "Rule 30 through three tensor networks",
    "A fixed tensor network maps rings of bits to eight features in which Rule 30 is linear. Learned from all rings of "
    "four bits, the rule holds for long ones: the test error falls to zero at a finite time, in steps, since the "
    "features of long rings form a fractal. Three examples that the paper gives.",
    rows=examples,
    also=of_random_matrices,
)


@networks.figure(columns=len(EXAMPLES), height=2.7, sharey=True)
def approaches(t: Table, *shown: Any) -> str:
    length, x = t.one("length"), np.array([3e-3, 0.3])
    style.letter(shown, t.each(lambda r: f"$D_{{eff}}$ = {r.effective_dimension:.2f}"))
    for i, (panel, row) in enumerate(zip(shown, t, strict=True)):
        for errors in filter(None, row.errors):
            panel.loglog(row.distance, errors, color=SERIES[i], alpha=0.6, linewidth=0.9)
        ball = (row.effective_dimension + 1) / 2
        panel.loglog(x, 0.1 * (x / 0.3) ** EXPONENTS[i], color="black", linewidth=1, label="slope of Table 1")
        panel.loglog(x, 0.1 * (x / 0.3) ** ball, color=GRAY, linestyle="--", linewidth=1, label="slope of the ball")
        panel.set_xlabel("$(t_\\epsilon - t) / t_\\epsilon$")
        panel.set_ylim(1.5 / 2**length, 1)
    shown[0].set_ylabel("test error E")
    shown[0].legend(loc="upper left", fontsize=6)
    return f"trained on all rings of 4 bits, tested on all of {length}; a line for each start"


@networks.claim("5 (Table 1)")
def effective_dimensions(t: Table, ask: Ask) -> None:
    """The three tensor networks have effective dimensions 3.0, 3.8 and 3.0."""
    found = t["effective_dimension"]
    off = max(abs(a - b) for a, b in zip(found, DIMENSIONS, strict=True))
    ask.that("the effective dimensions are within 0.3 of these", off <= 0.3)
    ask.show({f"example {row.example}": row.effective_dimension for row in t})


@networks.claim("5")
def local_rule(t: Table, ask: Ask) -> None:
    """Learning all three-bit inputs is enough to know the rule for any length."""
    right = all(0 in (end["l1, 3 bits"], end["l2, 3 bits"]) for end in t["end_error"])
    ask.that("trained on all rings of three bits, every example is always right on long ones at some λ1 or λ2", right)
    for row in t:
        wrong = "; ".join(f"{name}: {percent(share)}" for name, share in row.end_error.items())
        ask.show({f"wrong on long rings, example {row.example}": wrong})
    outermost = [STRENGTHS[0]], [STRENGTHS[-1]]
    edges = {row.example: [name for name in TRAINED if row.best[name] in outermost] for row in t}
    edge = "; ".join(f"example {example}, {', '.join(names)}" for example, names in edges.items() if names)
    ask.show({"the best strength is the outermost tried": edge or "nowhere"})


def _medians(columns: Iterable[Sequence[float | None]]) -> list[float]:
    known = [sorted(value for value in values if value is not None) for values in columns]
    return [values[len(values) // 2] if values else math.inf for values in known]


@networks.claim("5 (Table 1)")
def rule_exponents(t: Table, ask: Ask) -> None:
    """Rule 30 is learned in a transition with exponents 0.85, 0.75 and 0.84."""
    near = [abs(median - said) <= NEAR for median, said in zip(_medians(t["exponents"]), EXPONENTS, strict=True)]
    known = [[value for value in values if value is not None] for values in t["exponents"]]
    wide = any(max(values) - min(values) > NEAR for values in known if values)
    for row, said in zip(t, EXPONENTS, strict=True):
        ask.show({f"example {row.example}": row.exponents}, over="start", paper=number(said))
    for way in t.first.other_exponents:
        medians = _medians(row.other_exponents[way] for row in t)
        ask.show({f"medians, {way}": ", ".join(map(number, medians))})
    ask.possible(
        f"the exponents of single starts differ by at most {NEAR}, or their medians are within that of the paper's, "
        "which states neither its starts nor the range of its fit",
        not wide or all(near),
    )
    ask.that(f"the medians over starts are within {NEAR} of these", all(near))


@networks.claim("5 (Table 1)")
def rule_below_ball(t: Table, ask: Ask) -> None:
    """The exponents of Rule 30 lie below that of a ball of the effective dimension."""
    medians, balls = _medians(t["exponents"]), [(dimension + 1) / 2 for dimension in t["effective_dimension"]]
    for row, median, ball in zip(t, medians, balls, strict=True):
        ask.show({f"example {row.example}, its ball": f"{number(median)}, {number(ball)}"})
    below = all(median < ball for median, ball in zip(medians, balls, strict=True))
    ask.that("median exponents over starts are below (D + 1)/2, D the effective dimension, in all examples", below)


@networks.claim("5")
def rare_networks(t: Table, ask: Ask) -> None:
    """Few random tensor networks grok Rule 30."""
    ridge, sparse = t.one("random_l2"), t.one("random_l1")
    ask.that("some random matrices learn the rule, at most 2 % with either regularizer", 0 < max(ridge, sparse) <= 0.02)
    ask.remark("more of them do with λ1 than with λ2, as in the paper", sparse > ridge)
    ask.show({"with λ2 = 1e-4": percent(ridge, 2), "with λ1 = 1e-3": percent(sparse, 2)})
    ask.show({"matrices": count(t.one("pairs"))})
