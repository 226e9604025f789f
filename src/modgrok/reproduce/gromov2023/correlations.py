"""What is correlated in the weights, between neurons and inside each, and what loss random phases leave (3.1)."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.closed_form.interference import expected_loss, printed_loss
from modgrok.experiments import Run
from modgrok.measures import shuffle_phases
from modgrok.measures.waves import excess_kurtosis, triple_correlation
from modgrok.networks import Network, score_table, two_layer
from modgrok.reproduce.form import Ask, Column, Sizes, Table, joined, study
from modgrok.reproduce.gromov2023.sizes import addition_by_gd, usual, usual_by_gd
from modgrok.reproduce.gromov2023.statements import LEARNED
from modgrok.tasks import task
from modgrok.text import percent, spread

SHUFFLES = 3
"""How often the phases of a network are dealt anew."""
RANDOM = "random phases"
PRINTED = "k = 1 … N"
WITHOUT_AND_WITH = ("1 … (p − 1)/2", "0 … (p − 1)/2")
"""Sets of frequencies: the paper's, and those of `solve`."""


def dealt_anew(run: Run) -> dict[str, Any]:
    """Accuracy and loss on the whole table of a network as it is, and with its phases dealt anew."""
    table = run.task.table
    trained = score_table(run.network, table)
    dealt = [score_table(shuffle_phases(run.network, seed=seed), table) for seed in range(SHUFFLES)]
    again = {"dealt_accuracy": [one.accuracy for one in dealt], "dealt_loss": [one.loss for one in dealt]}
    return {"accuracy": trained.accuracy, "loss": trained.loss} | again


def random_phases(s: Sizes) -> list[dict[str, Any]]:
    addition = task("n + m", s.sweep_modulus)
    return [
        {"way": RANDOM, "width": N, "accuracy": score_table(solve(addition, width=N, seed=i), addition.table).accuracy}
        for N in s.narrow_widths
        for i in range(SHUFFLES)
    ]


def _moments(weights: str, network: Network) -> dict[str, Any]:
    return {"weights": weights, "kurtosis": excess_kurtosis(network), "triple": triple_correlation(network)}


def written_down(s: Sizes) -> list[dict[str, Any]]:
    addition = task("n + m", s.modulus)
    return [_moments("closed form", solve(addition, width=s.width, seed=seed)) for seed in range(s.seeds)]


def printed(p: int, width: int, seed: int, free: bool = False) -> Network:
    """Claim I's weights as the paper prints them: the neuron's index k = 1 … N is its frequency, modulo p. Where φ3 is
    `free` it is random as well, instead of φ1 + φ2."""
    angles = 2 * np.pi / p * (np.outer(np.arange(1, width + 1), np.arange(p)) % p)
    rng = np.random.default_rng(seed)
    phases = rng.uniform(0, 2 * np.pi, (width, 2))
    third = rng.uniform(0, 2 * np.pi, (width, 1)) if free else phases.sum(axis=1, keepdims=True)
    amplitude = (4 * p) ** (1 / 3)
    w_in = amplitude * np.cos(angles[:, None, :] + phases[:, :, None])
    w_out = amplitude * np.cos(angles + third).T
    return two_layer(w_in.astype(np.float32), w_out.astype(np.float32))


def free_and_bound(s: Sizes) -> Iterator[dict[str, Any]]:
    addition = task("n + m", s.modulus)
    for free, seed in product((False, True), range(s.closed_seeds)):
        accuracy = score_table(printed(s.modulus, s.width, seed, free), addition.table).accuracy
        yield {"modulus": s.modulus, "width": s.width, "seed": seed, "free": free, "accuracy": accuracy}


def losses_of_waves(s: Sizes) -> Iterator[dict[str, Any]]:
    """Loss of random phases against width for three sets of frequencies, and what it should be on average."""
    p = s.sweep_modulus
    addition = task("n + m", p)
    coordinate = addition.structure.coordinate
    assert coordinate is not None

    def row(frequencies: str, network: Network, expected: float) -> dict[str, Any]:
        loss = {"loss": score_table(network, addition.table).loss, "expected": expected}
        return {"modulus": p, "frequencies": frequencies, "width": network.width, **loss}

    for N, seed in product(s.floor_widths, range(s.closed_seeds)):
        for constant, frequencies in zip((False, True), WITHOUT_AND_WITH, strict=True):
            network = solve(addition, width=N, seed=seed, constant=constant, dtype=np.float32)
            yield row(frequencies, network, expected_loss(coordinate, N, constant=constant))
        whole = max(1, N // p) * p
        yield row(PRINTED, printed(p, whole, seed), printed_loss(p, whole))


shuffled = study(
    "shuffled_phases",
    "Phases dealt anew among the neurons of a frequency",
    "Narrow networks trained on n + m under gradient descent and AdamW, whose phases are then dealt anew among the "
    "neurons of each frequency; every neuron keeps its φ1 + φ2 − φ3, its amplitudes and all that is no wave.",
    runs=lambda s: (
        joined(usual_by_gd(s, width=N) for N in s.narrow_widths).tag(way="GD")
        + usual(s, width=[*s.narrow_widths]).tag(way="AdamW")
    ),
    keep=dealt_anew,
    rows=random_phases,
)
correlated = study(
    "correlated_weights",
    "Correlated weights",
    "Excess kurtosis of the weights and their third moment ⟨U(n)V(m)W(n + m)⟩: random, trained by gradient "
    "descent, written down.",
    runs=addition_by_gd,
    keep=lambda run: [_moments("random", run.snapshot(0)), _moments("trained", run.network)],
    rows=written_down,
)
third_phase = study(
    "third_phase",
    "Waves with and without the constraint",
    "The waves of Claim I with φ3 = φ1 + φ2, and with a φ3 that is random too.",
    rows=free_and_bound,
)
floor = study(
    "loss_floor",
    "The loss of random phases against width",
    "The mean squared error of Claim I on the whole table: with the frequencies k = 1 … N modulo p as the paper prints "
    "them, with each of 1 … (p − 1)/2 equally often, and with the frequency 0 beside these.",
    rows=losses_of_waves,
)


@shuffled.claim("3.1, 4.2 (Fig. 2, Fig. 3)")
def phases_dependent(t: Table, ask: Ask) -> None:
    """The phases found by training are not independent, which is why training needs less width than random phases."""
    trained, waves = t.where(lambda r: r.way != RANDOM), t.where(way=RANDOM)
    random = waves.of("accuracy", Column.average, "width")
    narrowest: dict[str, tuple[int, float]] = {}
    times: list[float] = []
    for (way, N), cell in trained.by("way", "width").items():
        dealt = Column(value for row in cell for value in row.dealt_accuracy)
        both = f"{spread(cell['accuracy'], percent)} → {spread(dealt, percent, 'deal')}"
        ask.show({f"accuracy at N = {N}, {way} → dealt anew": both})
        if min(cell["accuracy"]) >= LEARNED:
            times += cell.each(lambda r: np.mean(r.dealt_loss) / r.loss) if way in narrowest else []
            narrowest.setdefault(way, (N, dealt.average()))
    ask.show({f"closed form with random phases, N = {N}": value for N, value in random.items()}, percent)
    ask.show({"loss dealt anew / trained, wider than that": times}, over="network")
    ask.that(
        "with phases dealt anew among the neurons of a frequency, every φ1 + φ2 − φ3 kept, mean accuracy is at most "
        f"95 % at the narrowest width where all networks answer ≥ {percent(LEARNED, 0)}, for each optimizer",
        all(way in narrowest and narrowest[way][1] <= 0.95 for way in trained["way"]),
    )
    worse = min(times, default=0) >= 3
    ask.that("at wider ones, where answers have room to spare, the loss of every network at least triples", worse)
    alike = all(after >= random[N] for N, after in narrowest.values())
    ask.remark("at the narrowest they answer as much as the closed form's random phases", alike)


@correlated.claim("3.1")
def weights_correlated(t: Table, ask: Ask) -> None:
    """The weights are strongly correlated and far from Gaussian."""
    random, others = t.where(weights="random"), t.where(lambda r: r.weights != "random")
    ask.that(
        "the third moment ⟨U(n)V(m)W(n + m)⟩ of trained and closed-form weights is at least 0.3, in every seed",
        all(r.triple >= 0.3 for r in others),
    )
    ask.that("their excess kurtosis is at least 0.2 in size", all(abs(r.kurtosis) >= 0.2 for r in others))
    none = all(abs(r.triple) < 0.02 and abs(r.kurtosis) < 0.1 for r in random)
    ask.that("for random weights the two are below 0.02 and 0.1 in size", none)
    for column, name in (("triple", "third moment"), ("kurtosis", "excess kurtosis")):
        ask.show({f"{name}, {weights}": cell[column] for weights, cell in t.by("weights").items()})


@third_phase.claim("3.1")
def phases_chosen(t: Table, ask: Ask) -> None:
    """The waves solve modular addition only after their phases are chosen."""
    bound, free = (t.where(free=one)["accuracy"] for one in (False, True))
    ask.that("with φ3 = φ1 + φ2 the waves answer at least 99.9 % of all pairs, in every draw", min(bound) >= 0.999)
    ask.that("with a random φ3 they answer at most 5 %", max(free) <= 0.05)
    ask.show({"accuracy with φ3 = φ1 + φ2": bound, "accuracy with a random φ3": free}, percent, "draw")
    ask.show({"p, N": f"{t.one('modulus')}, {t.one('width')}"})


@floor.claim("3.1")
def loss_to_zero(t: Table, ask: Ask) -> None:
    """The loss of the closed form can be made arbitrarily close to 0 by increasing the width."""
    least = 1 / (t.one("modulus") * (t.one("modulus") - 1))
    means = {name: some.of("loss", Column.average, "width") for name, some in t.by("frequencies").items()}
    printed_means = means[PRINTED]
    near = all(abs(printed_means[r.width] / r.expected - 1) <= 0.3 for r in t.where(frequencies=PRINTED))
    ask.that("with the paper's frequencies the mean loss is within 30 % of (4/N)(1 + 1/(16p)) at every width", near)
    ask.that(
        "at the largest it is below half of 1/(p(p − 1)), where weights without the frequency 0 would stop",
        printed_means.y[-1] < 0.5 * least,
    )
    for name, losses in means.items():
        ask.show({f"loss at N = {N}, frequencies {name}": loss for N, loss in losses.items()})
    ask.show({"1/(p(p − 1)), the floor without the frequency 0": least})
