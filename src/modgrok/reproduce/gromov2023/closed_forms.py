"""Weights written down, scored on every input: Claims I and II, the Corollary, the complex network, more variables
(section 3, appendices A and B)."""

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from modgrok.closed_form import solve
from modgrok.measures.spectrum import wave_shares
from modgrok.networks import output_map, score_table
from modgrok.reproduce.form import Ask, Column, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.phases import FRACTION, share_of
from modgrok.reproduce.gromov2023.preactivations import multiplying, show_learned, sum_of_squares
from modgrok.reproduce.gromov2023.sizes import usual, usual_by_gd
from modgrok.tasks import Task, task
from modgrok.tasks.arithmetic import is_prime
from modgrok.text import number, percent, spread

SUMS = ("n^2 + m^2", "n^3 + 2*m", "5*n^2 + m^4", "n - m")
"""Cases of Claim II."""
COMPOSED = ("(n^2 + 3*m)^{d}", "4*(n^3 + 2*m)^{d} + 1", "(n^2 + m^2)^{d}")
"""Cases of the Corollary beside powers of n + m, for every invertible power d."""
TRAINED = ("(n + m)^7", "(n^2 + 3*m)^7")
"""F(f1(n) + f2(m)) that is trained; the seventh power is invertible modulo 31 and 97."""
PEAK = 6
"""An answer whose output is looked at."""

NEAR, SCALES = 0.1, 0.25
"""Within these shares a height, and a scaling, are as predicted."""

Rows = Iterator[dict[str, Any]]


def forms(s: Sizes) -> Rows:
    """Accuracy and loss of every closed form, for several draws of its phases."""
    p, seeds, addition = s.modulus, range(s.closed_seeds), task("n + m", s.modulus)
    powers = range(2, 9) if is_prime(p) else ()

    def drawn(kind: str, learned: Task, width: int = s.width, **asked: Any) -> Rows:
        return (scored(kind, learned, width=width, seed=seed, **asked) for seed in seeds)

    for row in drawn("addition", addition):
        right = output_map(solve(addition, width=s.width, seed=row["seed"]), PEAK)[addition.table == PEAK]
        yield row | {"peak": right.mean()}  # 1 in the limit of large width
    yield scored("exact", addition, form="exact")
    for text in SUMS:
        yield from drawn("sum", task(text, p))
    for degree, branches in product(powers, ("one", "all")):
        found = drawn("power", task(f"(n + m)^{degree}", p), branches=branches)
        yield from (row | {"degree": degree} for row in found)
    for degree in powers:
        for text in COMPOSED if math.gcd(degree, p - 1) == 1 else ():
            yield from drawn("composed", task(text.format(d=degree), p))
    yield from drawn("product", task("n*m", p))
    yield scored("exact product", task("n*m", p), form="exact")
    yield from drawn("complex", addition, form="complex")
    yield from drawn("three variables", task("n1 + n2 + n3", 7), width=1500)


def scored(kind: str, learned: Task, **asked: Any) -> dict[str, Any]:
    network = solve(learned, **asked)
    score = score_table(network, learned.table)
    found = {"accuracy": score.accuracy, "loss": score.loss, "width": network.width}
    return {"kind": kind, "task": learned.name, "modulus": learned.modulus, **asked, **found}


def waves_left(s: Sizes) -> Rows:
    addition = task("n + m", s.modulus)
    for N, seed in product(s.interference_widths, range(s.closed_seeds)):
        network = solve(addition, width=N, seed=seed)
        answer, right = output_map(network, PEAK), addition.table == PEAK
        found = {"height": answer[right].mean(), "noise": answer[~right].std()}
        yield {"modulus": s.modulus, "width": N, "seed": seed, **found, **wave_shares(network, PEAK)}


written_down = study(
    "closed_forms",
    "Weights written down",
    "Closed forms scored on every input: sums of functions, powers of sums with one branch and with all, "
    "products, complex weights, three variables.",
    rows=forms,
)
composed = study(
    "composed",
    "Functions of sums, trained",
    "F(f1(n) + f2(m)) with an invertible F under AdamW: accuracy, and waves in f1(n), f2(m) and F⁻¹(q).",
    runs=lambda s: runs(
        s.functions.adamw(s.sweep_modulus, s.sweep_width, FRACTION), task=[*TRAINED], seed=range(s.sweep_seeds)
    ),
    keep=("test_accuracy", share_of),
)
optimizers = study(
    "sums_by_optimizers",
    "n² + m² by several optimizers",
    "n² + m² by gradient descent and by Adam, without weight decay: accuracy, and waves in n², m² and q.",
    runs=lambda s: (
        usual_by_gd(s, task=SUMS[0], fraction=FRACTION).tag(way="GD")
        + usual(s, task=SUMS[0], optimizer="adam", weight_decay=0.0).tag(way="Adam")
    ),
    keep=("test_accuracy", share_of),
)
interfering = study(
    "interference",
    "What random phases leave",
    "The output of the closed form for one answer against the width: its height at the pairs that have it, the rest "
    "elsewhere, and how much of the power is in each of the waves of eq_omg.",
    rows=waves_left,
)


def _off(values: Iterable[float], target: float) -> float:
    """The largest relative distance from a target."""
    return max(abs(value / target - 1) for value in values)


@interfering.claim("3.1 (eq_omg, eq_interference)")
def interference(t: Table, ask: Ask) -> None:
    """The output stays finite as N → ∞, and the waves that random phases do not cancel fall as 1/√N."""
    height = t.of("height", Column.average, "width")
    scaled = {N: N**0.5 * value for N, value in t.of("noise", Column.average, "width").items()}
    ratios = {name: t["n − m"].average() / t[name].average() for name in ("2n", "2m")}
    middle = sum(scaled.values()) / len(scaled)
    near, scales = percent(NEAR, 0), percent(SCALES, 0)
    ask.that(f"the mean right output is within {near} of its prediction at every width", _off(height.y, 1) <= NEAR)
    ask.that(f"√N × deviation of the others is within {scales} of its mean", _off(scaled.values(), middle) <= SCALES)
    ask.that(f"power in n − m is 4 times that in 2n and in 2m, within {scales}", _off(ratios.values(), 4) <= SCALES)
    ask.show({f"right output at N = {N}": cell["height"] for N, cell in t.by("width").items()}, over="draw")
    ask.show({f"√N × deviation of the others, N = {N}": value for N, value in scaled.items()})
    ask.show({f"power in n − m / in {name}": value for name, value in ratios.items()}, paper="4")


@written_down.claim("3.1, Claim I")
def claim_one(t: Table, ask: Ask) -> None:
    """Cosines of every frequency with random phases and φ1 + φ2 = φ3 compute n + m; the output is a δ-function of
    height 1/(2D)."""
    draws, exact = t.where(kind="addition"), t.where(kind="exact").first
    accuracy, height = draws["accuracy"], draws["peak"].average()
    every = f"every draw of random phases at N = {draws.one('width')} answers all pairs"
    ask.that(every, min(accuracy) >= 1, spread(accuracy, percent))
    near = f"the mean right output is within {percent(NEAR, 0)} of the predicted 1/(2D)"
    ask.that(near, 1 - NEAR < height < 1 + NEAR, f"{height:.3f} of it")
    ask.show({"loss": draws["loss"]})
    ask.show({"exact form": f"{percent(exact.accuracy)} at N = {exact.width}, loss {number(exact.loss)}"})


@written_down.claim("3.2, Claim II", sum_of_squares, optimizers)
def claim_two(t: Table, trained: Table, others: Table, ask: Ask) -> None:
    """Sums f1(n) + f2(m) are solved by the same waves in f1(n) and f2(m), and optimizers find these weights."""
    sums = t.where(kind="sum")
    accuracy, share = trained["test_accuracy"], trained["explained"]
    ask.that("the closed form answers at least 99.9 % of all pairs of every sum", min(sums["accuracy"]) >= 0.999)
    ask.that("AdamW learns n² + m² to at least 99 % in every seed", min(accuracy) >= 0.99, spread(accuracy, percent))
    ask.that(
        "in every seed one wave of n² and m² has at least 50 % of the median neuron's power",
        min(share) >= 0.5,
        spread(share, percent),
    )
    found = []
    for way, cell in others.by("way").items():
        learned, waves = cell["test_accuracy"], cell["in_waves"]
        found.append(min(learned) >= 0.99 and min(waves) >= 0.6)
        both = f"{spread(learned, percent)}; {spread(waves, percent)}"
        ask.show({f"{way} on n² + m², test accuracy; power in one wave per neuron": both})
    ask.that(
        "GD or Adam without decay learns n² + m² to at least 99 % in every seed, with at least 60 % of the power of "
        "all weights in one such wave per neuron",
        any(found),
    )
    ask.remark("GD and Adam both learn n² + m² so", all(found))
    ask.show({text: cell["accuracy"] for text, cell in sums.by("task").items()}, percent)


def _branches(t: Table) -> dict[int, int]:
    """How many branches the inverse of every power has."""
    return {d: math.gcd(d, t.first.modulus - 1) for d in t["degree"].known().distinct()}


@written_down.claim("3.2, Corollary", composed)
def corollary(t: Table, trained: Table, ask: Ask) -> None:
    """F(f1(n) + f2(m)) with invertible F is solved by reading out F⁻¹(q), and optimizers find these weights."""
    powers = t.where(degree=[d for d, b in _branches(t).items() if b == 1], branches="one")
    cells = powers.by("task") | t.where(kind="composed").by("task")
    found = {text: cell["accuracy"] for text, cell in cells.items()}
    ask.that(
        "reading out F⁻¹(q) answers at least 99.9 % of all pairs for every invertible power of n + m and of other sums "
        "f1(n) + f2(m)",
        min((min(accuracy) for accuracy in found.values()), default=0.0) >= 0.999,
    )
    ask.that("AdamW learns such functions to at least 99 % in every seed", min(trained["test_accuracy"]) >= 0.99)
    ask.that(
        "at least 60 % of the power of all its weights is in one wave of f1(n), f2(m) and F⁻¹(q) per neuron",
        min(trained["in_waves"]) >= 0.6,
    )
    ask.show(found, percent)
    for text, cell in trained.by("task").items():
        accuracy, shares = (spread(cell[name], percent) for name in ("test_accuracy", "in_waves"))
        said = f"test accuracy {accuracy}, power in such waves {shares}"
        ask.show({f"AdamW on {text}, p = {trained.one('modulus')}": said})


@written_down.claim("3.2, Corollary; appendix C")
def branches(t: Table, ask: Ask) -> None:
    """If F⁻¹ has b branches, the closed form's accuracy is about 1/b."""
    p, off, apart, least = t.first.modulus, [], [], []
    for degree, b in ((degree, b) for degree, b in _branches(t).items() if b > 1):
        one, every = (t.where(degree=degree, branches=which)["accuracy"] for which in ("one", "all"))
        a = 1 + (p - 1) // b
        expected = a / p + (1 - a / p) / a
        off.append(abs(one.average() - expected))
        apart.append(abs(one.average() - 1 / b))
        least.append(min(every))
        single = f"one branch {spread(one, percent)}, expected {percent(expected)}, 1/b = {percent(1 / b)}"
        ask.show({f"(n+m)^{degree}, b = {b}": f"{single}; all branches {spread(every, percent)}"})
    ask.that(
        "for every power of n + m that is not invertible, one branch has a mean accuracy within 3 points of s + (1 − "
        "s)/a: s = a/p is the share of sums that are read out, a = 1 + (p − 1)/b, and the others guess among a answers",
        max(off, default=1.0) <= 0.03,
    )
    ask.remark("the accuracy with one branch is within 3 points of 1/b itself", max(apart, default=0.0) <= 0.03)
    worst = min(least, default=0.0)
    ask.note(f"Reading out all branches avoids the loss: it answers at least {percent(worst)}.", worst >= 0.95)


@written_down.claim("appendix A")
def complex_network(t: Table, ask: Ask) -> None:
    """A network of complex exponentials solves modular addition in the same way."""
    draws = t.where(kind="complex")
    ask.that(
        "complex exponentials with φ1 + φ2 = φ3 answer at least 99.9 % of all pairs in every draw",
        min(draws["accuracy"]) >= 0.999,
        spread(draws["accuracy"], percent),
    )
    ask.show({"loss": draws["loss"]})


@written_down.claim("5.2")
def many_variables(t: Table, ask: Ask) -> None:
    """Functions of more variables have closed forms too, in some cases."""
    accuracy = t.where(kind="three variables")["accuracy"]
    ask.that(
        "waves with a cubic activation compute n1 + n2 + n3 in at least 99 % of all cases, in every draw",
        min(accuracy) >= 0.99,
        spread(accuracy, percent),
    )


@multiplying.claim("2, 3.2, appendix C (Fig. A4)", written_down)
def multiplication(t: Table, closed: Table, ask: Ask) -> None:
    """Products nm can be grokked too; the paper has no closed form for them."""
    exact = closed.where(kind="exact product").first
    ask.that("products are learned to at least 99 % in every seed", min(t["test_accuracy"]) >= 0.99)
    waves = f"waves in the discrete logarithm, exact with {exact.width} neurons."
    ask.note(f"The closed form that the paper misses exists: {waves}", exact.accuracy == 1)
    show_learned(t, ask)
    ask.show({"closed form, random phases": closed.where(kind="product")["accuracy"]}, percent)
