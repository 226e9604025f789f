"""Trained weights are single waves whose phases add up, φ1 + φ2 = φ3, whatever the optimizer (3.1, 4.1; Fig. 2)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import circular_mean, circular_spread, kuiper, neuron_waves
from modgrok.measures.waves import CLEAR, phase_statistics, share_in_waves
from modgrok.networks import Network
from modgrok.palette import BLUE, GRAY, ORANGE
from modgrok.plot.phases import angle_histogram, circle
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import Ask, Column, Runs, Settings, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.search import GD_DECAY
from modgrok.reproduce.gromov2023.sizes import addition_by_gd, by_adamw, natural_rate, natural_unit
from modgrok.text import number, percent, spread

COLORS = {"random": GRAY, "GD": BLUE, "AdamW": ORANGE}
TRAINED = ("GD", "AdamW")
ZOOM, ZOOM_BINS = 0.5, 60
"""Radians on either side of zero that the zoom shows, and its bins."""
UNIFORM = 1e-4
"""Probability below which phases do not pass as uniform: the 60 tests at full scale (six combinations, two optimizers,
five seeds) raise a false alarm with a chance of at most 0.6 %."""
FRACTION = 0.7
"""α of the networks of other optimizers, and of functions of a sum."""
DROPOUT = 0.2


def ways(s: Sizes) -> Runs:
    """n + m in four more ways, trained on long after grokking."""
    p, N = s.sweep_modulus, s.sweep_width
    descended = s.ways.gd(p, N, FRACTION)
    slow = natural_rate(0.1 * s.ways.rate, p, N)  # times 1/(1 − 0.9): the same effective rate
    way: dict[str, Settings] = {
        "momentum": descended | {"optimizer": "momentum", "lr": slow},
        "GD + weight decay": descended | {"weight_decay": float(f"{GD_DECAY / natural_unit(p, N):.3g}")},
        "GD + dropout": descended | {"dropout": DROPOUT},
        "Adam": s.functions.adamw(p, N, FRACTION) | {"optimizer": "adam"},
    }
    return runs({}, way=way, seed=range(s.sweep_seeds))


def share_of(run: Run) -> dict[str, float]:
    """How far the last network consists of waves in the task's coordinate."""
    waves = neuron_waves(run.network, run.task.structure.coordinate)
    return {"in_waves": share_in_waves(run.network, waves)}


def waves_of(run: Run) -> dict[str, Any]:
    return _statistics(run.network) | {"ipr_start": run.history["ipr"][0], "ipr_end": run.history["ipr"][-1]}


def kinds_of(run: Run) -> list[dict[str, Any]]:
    """The last network, and under gradient descent the first one too, whose weights are random."""
    if run.experiment.optimizer == "adamw":
        return [{"kind": "AdamW", **_statistics(run.network)}]
    return [{"kind": "random", **_statistics(run.snapshot(0))}, {"kind": "GD", **_statistics(run.network)}]


def _statistics(network: Network) -> dict[str, Any]:
    waves = neuron_waves(network)
    return phase_statistics(waves) | {"in_waves": share_in_waves(network, waves)}


def pooled(s: Sizes, t: Table) -> dict[str, Any]:
    """Histograms of φ1 + φ2 − φ3 over the neurons of all seeds."""
    angles: dict[str, Any] = {kind: [] for kind in COLORS}
    for row, run in zip(t, t.runs, strict=True):
        residual = neuron_waves(run.snapshot(0) if row.kind == "random" else run.network).residual
        angles[row.kind].append(residual[~np.isnan(residual)])
    return {"pooled": {kind: _pooled(np.concatenate(some)) for kind, some in angles.items()}}


def _pooled(angles: np.ndarray) -> dict[str, Any]:
    near = np.histogram(angles, ZOOM_BINS, (-ZOOM, ZOOM))[0] / max(1, len(angles)) * (ZOOM_BINS / (2 * ZOOM))
    return {
        "density": angle_histogram(angles, density=True)[0],
        "zoom": near,
        "mean": circular_mean(angles),
        "deviation": circular_spread(angles).deviation,
        "uniform": kuiper(angles),
    }


kinds = study(
    "fig2",
    "The phases that optimizers find",
    "Every neuron is fitted by one wave in n, one in m and one in q. In the closed form their phases obey "
    "φ1 + φ2 = φ3; at initialization φ1 + φ2 − φ3 is anything; after training it is close to zero, and more tightly so "
    "after AdamW than after gradient descent.",
    runs=lambda s: addition_by_gd(s) + by_adamw(s, s.adamw),
    keep=kinds_of,
    also=pooled,
)
entropy = study(
    "cross_entropy",
    "Cross-entropy",
    "n + m under AdamW with cross-entropy: the same waves with the same phases.",
    runs=lambda s: by_adamw(s, s.cross_entropy, loss="cross_entropy"),
    keep=("test_accuracy", waves_of),
)
features = study(
    "features",
    "The features of other optimizers",
    "n + m by momentum, weight decay, dropout and Adam: how much of the weights is one wave for each neuron.",
    runs=ways,
    keep=("test_accuracy", share_of),
)


@kinds.figure("random weights: any angle", "GD: around zero", "AdamW: closer to zero", width=7.4, height=2.6)
def phases_add_up(t: Table, *grid: Any) -> str:
    found = t.one("pooled")
    for panel, (kind, one) in zip(grid, found.items(), strict=True):
        circle(one["density"], angle_histogram(np.zeros(0))[1], color=COLORS[kind], ax=panel)
        panel.set(ylim=(0, None), ylabel="density per radian")
        panel.text(0.03, 0.97, _words(one), transform=panel.transAxes, va="top", fontsize=6.5)
    grid[0].set_ylim(0, 1.5 * grid[0].get_ylim()[1])
    inset = grid[2].inset_axes((0.68, 0.4, 0.32, 0.55))
    inset.stairs(found["AdamW"]["zoom"], np.linspace(-ZOOM, ZOOM, ZOOM_BINS + 1), fill=True, color=COLORS["AdamW"])
    inset.set_xlim(-ZOOM, ZOOM)
    inset.tick_params(labelsize=5.5, length=2)
    inset.set_xlabel("radians", fontsize=5.5, labelpad=1)
    inset.set_title("zoom", fontsize=6, pad=2)
    neurons = f"{modular(t)}, all {t.one('width')} neurons of {len(t.where(kind='GD'))} seeds"
    return f"{neurons}; circular statistics in radians; the panels have scales of their own"


def _words(one: dict[str, Any]) -> str:
    """Mean and deviation, where the angles have a direction at all."""
    if one["uniform"] is None or one["uniform"] > 0.001:
        return f"no direction preferred\n(Kuiper's test: P = {number(one['uniform'], 2)})"
    return f"mean {one['mean']:+z.3f}\ndeviation {one['deviation']:.3f}"


@kinds.claim("4.1", features, entropy)
def periodic(t: Table, more: Table, other: Table, ask: Ask) -> None:
    """Trained weights are periodic with frequencies 2πk/p, whatever the optimizer: GD, momentum, weight decay, dropout,
    Adam, AdamW."""
    shares = {kind: t.where(kind=kind)["in_waves"] for kind in COLORS}
    shares |= {way: cell["in_waves"] for way, cell in more.by("way").items()}
    ask.that(
        "after every optimizer one wave per neuron has at least 60 % of the power of all weights, in every seed",
        all(min(values) >= 0.6 for kind, values in shares.items() if kind != "random"),
    )
    ask.that("of random weights it has less than 20 %", max(shares["random"]) < 0.2)
    ask.remark("with cross-entropy it has 60 % too", min(other["in_waves"]) >= 0.6)
    learned = min(more["test_accuracy"]) >= 0.99
    ask.remark("every seed of momentum, weight decay, dropout and Adam answers at least 99 % of the test set", learned)
    ask.show({f"share of the power in one wave per neuron, {kind}": v for kind, v in shares.items()}, percent)
    ask.show({"the same, AdamW on cross-entropy": other["in_waves"]}, percent)
    ask.show({"p of momentum, weight decay, dropout, Adam": str(more.one("modulus"))})


def _agreement(t: Table, *names: str) -> dict[str, Column]:
    """n|⟨exp iφ⟩|² of combinations of phases after each training."""
    return {
        f"{kind}, {name}": Column(found[name] for found in t.where(kind=kind)["agreement"])
        for kind in TRAINED
        for name in names
    }


@kinds.claim("3.1, 4.1")
def copies(t: Table, ask: Ask) -> None:
    """Beyond (p−1)/2 neurons the frequencies come in several copies with different phases."""
    most = t.one("modulus") // 2
    several = {kind: t.where(kind=kind)["several"] for kind in COLORS}
    alike = _agreement(t, "φ1", "φ2")
    ask.that(
        f"at N = {t.one('width')} at least 90 % of the frequencies have two neurons or more with ≥ {percent(CLEAR, 0)} "
        "of their power in that wave, after GD and AdamW, in every seed",
        min(min(several[kind]) for kind in TRAINED) >= 0.9 * most,
    )
    ask.that(
        "their phases differ: n|⟨exp iφ⟩|² of φ1 and of φ2, 1 for independent phases and n for n equal ones, is at "
        "most 2 on average over frequencies",
        all(value is not None and value <= 2 for values in alike.values() for value in values),
    )
    ask.that("random weights have such copies of less than 10 %", max(several["random"]) < 0.1 * most)
    ask.show({f"frequencies with copies, {kind}": f"{spread(v)} of {most}" for kind, v in several.items()})
    ask.show({f"clear neurons per frequency, {kind}": t.where(kind=kind)["copies"] for kind in TRAINED})
    ask.show({f"n|⟨exp iφ⟩|², {name}": values for name, values in alike.items()})


@kinds.claim("3.1, 4.1 (Fig. 2)")
def phases(t: Table, ask: Ask) -> None:
    """The phases found by training obey φ1 + φ2 = φ3 approximately."""
    deviation = {kind: t.where(kind=kind)["deviation"] for kind in COLORS}
    means = {kind: [abs(m) for m in t.where(kind=kind)["mean"]] for kind in TRAINED}
    narrow = all(max(deviation[kind]) <= 0.8 for kind in TRAINED)
    ask.that("the circular deviation of φ1 + φ2 − φ3 is at most 0.8 after GD and after AdamW, in every seed", narrow)
    ask.that("its mean is within 0.1 of zero there", all(max(values) <= 0.1 for values in means.values()))
    ask.that("at initialization its deviation is above 1.2", min(deviation["random"].known(), default=9) > 1.2)
    ask.show({f"deviation in radians, {kind}": v for kind, v in deviation.items()})
    ask.show({f"mean in radians, {kind}": v for kind, v in means.items()})


@kinds.claim("3.1 (Fig. 2)")
def phases_adamw(t: Table, ask: Ask) -> None:
    """AdamW's phases are closer to the closed form's than GD's."""
    gd, adamw = (t.where(kind=kind)["deviation"] for kind in TRAINED)
    ask.lower("the deviation of φ1 + φ2 − φ3 is lower after AdamW than after GD", adamw, gd)
    ask.remark("every seed of AdamW is below every seed of GD", max(adamw) < min(gd))


@kinds.claim("4.1")
def phases_random(t: Table, ask: Ask) -> None:
    """Apart from the constraint the phases are approximately random."""
    trained = {kind: t.where(kind=kind) for kind in TRAINED}
    least = {kind: cell.each(lambda r: min(r.uniform.values())) for kind, cell in trained.items()}
    agreement = {name: values.average() for name, values in _agreement(t, *t.first.agreement).items()}
    ask.that(
        "over all neurons φ1, φ2, φ1 − φ2, φ1 + φ2, 2φ1 and 2φ2 are uniform after GD and AdamW, in every seed: "
        f"Kuiper's test gives P ≥ {UNIFORM}",
        min(map(min, least.values())) >= UNIFORM,
    )
    clear = all(min(cell["explained_median"]) >= 0.5 for cell in trained.values())
    ask.that("one wave has at least 50 % of the median neuron's power", clear)
    ask.remark(
        "within each frequency they are independent too: n|⟨exp iφ⟩|², 1 for independent phases, is 0.7 to 1.4",
        all(0.7 <= value <= 1.4 for value in agreement.values()),
    )
    ask.show({f"smallest P of Kuiper's test, {kind}": values for kind, values in least.items()})
    largest = {kind: cell.each(lambda r: max(r.moments.values())) for kind, cell in trained.items()}
    ask.show({f"largest |⟨exp iφ⟩|, {kind}": values for kind, values in largest.items()})
    ask.show({"|⟨exp iφ⟩| expected for random phases": 0.89 / t.one("width") ** 0.5})
    ask.show({f"n|⟨exp iφ⟩|² within a frequency, {name}": value for name, value in agreement.items()})


@entropy.claim("2, 4.1", kinds)
def cross_entropy(t: Table, mse: Table, ask: Ask) -> None:
    """The loss function does not matter for the features: cross-entropy gives the same."""
    share, adamw = t["in_waves"].average(), mse.where(kind="AdamW")
    ask.that("cross-entropy leads to 99 % test accuracy, in every seed", min(t["test_accuracy"]) >= 0.99)
    ask.that("one wave has at least 50 % of the median neuron's power", min(t["explained_median"]) >= 0.5)
    ask.that("the deviation of φ1 + φ2 − φ3 is at most 0.8", max(t["deviation"]) <= 0.8)
    ask.remark(
        "one wave per neuron has at least 60 % of the power of all weights, as with the mean squared error",
        share >= 0.6,
        f"{percent(share)}; mean squared error {percent(adamw['in_waves'].average())}",
    )
    ask.show({"test accuracy": t["test_accuracy"]}, percent)
    ask.show({"share of the median neuron's power in one wave": t["explained_median"]}, percent)
    ask.show({"deviation of φ1 + φ2 − φ3": t["deviation"], "the same with the mean squared error": adamw["deviation"]})
    ask.show({"IPR": f"{spread(t['ipr_start'])} → {spread(t['ipr_end'])}"})
