"""Fig. 3: (a) grokking time against the fraction of data for eight optimizers; (b) accuracy against width."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.experiments.sweeps.critical import critical_on_grid
from modgrok.networks import Score, score_table
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Profile, natural_unit
from modgrok.reproduce.study import Numbers, Study, Tree, mean, results
from modgrok.tasks import task
from modgrok.text import Value, count, number

GD_DECAY = 1e-9
"""Weight decay of gradient descent in units of 1/((p/97)³ (N/500)): ten times more kills the weights."""
DROPOUT = 0.2
MOMENTUM_RATE = 0.2
"""Rate with momentum 0.9 as a share of the rate without: twice as far per step in the long run."""
BATCH_NORM_RATE = 2.0
"""Rate with batch norm, in units of the rate without divided by p: normalized preactivations are √p larger."""
AFTER = 500
"""Steps that the networks of figure 3b train on after grokking."""


def optimizers(profile: Profile) -> dict[str, dict[str, Any]]:
    """The eight ways to train, as settings that differ from plain GD's or Adam's."""
    p, width = profile.sweep_modulus, profile.sweep_width
    unit = natural_unit(p, width)
    rate = profile.descent.rate * unit
    decay = float(f"{GD_DECAY / unit:.3g}")
    slow = float(f"{MOMENTUM_RATE * rate:.4g}")
    return {
        "GD": {},
        "GD + weight decay": {"weight_decay": decay},
        "momentum": {"optimizer": "momentum", "lr": slow},
        "momentum + weight decay": {"optimizer": "momentum", "lr": slow, "weight_decay": decay},
        "Adam": {"optimizer": "adam"},
        "AdamW": {"optimizer": "adamw", "weight_decay": profile.sweep_decay},
        "GD + dropout": {"dropout": DROPOUT},
        "GD + batch norm": {"batch_norm": True, "lr": float(f"{BATCH_NORM_RATE * rate / p:.4g}")},
    }


def sweep_run(profile: Profile, optimizer: str, fraction: float, seed: int) -> Experiment:
    """One point of figure 3a; it stops as soon as it has grokked."""
    make = profile.adaptive.adapt if optimizer.startswith("Adam") else profile.descent.descend
    p, width, settings = profile.sweep_modulus, profile.sweep_width, optimizers(profile)[optimizer]
    return make("n + m", p, width, fraction, seed, until=0, **settings)


def width_run(profile: Profile, optimizer: str, width: int, seed: int) -> Experiment:
    """One point of figure 3b."""
    make = profile.adaptive.adapt if optimizer == "AdamW" else profile.descent.descend
    return make("n + m", profile.sweep_modulus, width, profile.width_fraction, seed, until=AFTER)


def experiments(profile: Profile) -> Tree:
    seeds = profile.sweep_range
    return {
        "optimizers": {
            name: [[sweep_run(profile, name, fraction, seed) for seed in seeds] for fraction in profile.fractions]
            for name in optimizers(profile)
        },
        "widths": {
            name: [[width_run(profile, name, width, seed) for seed in seeds] for width in profile.widths]
            for name in ("GD", "AdamW")
        },
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Grokking times (null: not within the steps) and final test losses of all seeds; accuracies against width."""
    times = results(runs["optimizers"], "grokked_at")
    return {
        "modulus": profile.sweep_modulus,
        "width": profile.sweep_width,
        "seeds": profile.sweep_seeds,
        "fractions": profile.fractions,
        "steps": {name: (profile.adaptive if name.startswith("Adam") else profile.descent).steps for name in times},
        "times": times,
        "median_times": {name: [median_time(cell) for cell in cells] for name, cells in times.items()},
        "critical_fraction": {name: critical_fraction(profile.fractions, cells) for name, cells in times.items()},
        "test_accuracy": results(runs["optimizers"], "test_accuracy"),
        "settings": optimizers(profile),
        "width_fraction": profile.width_fraction,
        "by_width": _by_width(profile, runs["widths"]),
    }


def median_time(times: list[int | None]) -> float | None:
    """Median over the seeds that grokked; None where fewer than half did."""
    grokked = [time for time in times if time is not None]
    return float(np.median(grokked)) if 2 * len(grokked) >= len(times) else None


def critical_fraction(fractions: Sequence[float], times: list[list[int | None]]) -> float | None:
    """`critical_on_grid` from grokking times, None for runs that did not grok."""
    cells = zip(fractions, times, strict=True)
    return critical_on_grid({a: (sum(time is not None for time in cell), len(cell)) for a, cell in cells})


def _by_width(profile: Profile, runs: Tree) -> dict[str, Any]:
    addition = task("n + m", profile.sweep_modulus)

    def scored(**asked: Any) -> tuple[int, Score]:
        network = solve(addition, **asked)
        return network.width, score_table(network, addition.table)

    draws = range(profile.closed_seeds)
    waves = [[scored(form="waves", width=N, seed=seed)[1] for seed in draws] for N in profile.closed_widths]
    exact = [scored(form="exact", frequencies=range(1, k + 1)) for k in _exact_frequencies(profile.sweep_modulus)]
    pairs = results(runs, "test_accuracy", "test_loss")
    return {name: _series(profile.widths, cells) for name, cells in pairs.items()} | {
        "random phases": _series(profile.closed_widths, [[(s.accuracy, s.loss) for s in cell] for cell in waves]),
        "exact form": _series([width for width, _ in exact], [[(s.accuracy, s.loss)] for _, s in exact]),
    }


def _exact_frequencies(modulus: int) -> list[int]:
    """How many frequencies the exact form gets: 1, 2, 4, … and all."""
    most = modulus // 2
    return [1 << i for i in range(most.bit_length()) if 1 << i < most] + [most]


def _series(widths: Sequence[int], cells: list[list[tuple[Any, Any]]]) -> dict[str, Any]:
    accuracy, loss = ([[pair[i] for pair in cell] for cell in cells] for i in (0, 1))
    return {
        "widths": list(widths),
        "accuracy": accuracy,
        "loss": loss,
        "mean_accuracy": [mean(cell) for cell in accuracy],
        "least_accuracy": [min(cell) for cell in accuracy],
        "most_accuracy": [max(cell) for cell in accuracy],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=3.5, width_ratios=(1.25, 1))
    left, right = panels[0]
    for i, (name, times) in enumerate(n["times"].items()):
        look = {"color": SERIES[i], "marker": MARKERS[i], "label": name}
        left.plot(n["fractions"], _gaps(n["median_times"][name]), **look)
        for fraction, cell in zip(n["fractions"], times, strict=True):
            grokked = [time for time in cell if time is not None]
            left.vlines([fraction] * bool(grokked), min(grokked, default=0), max(grokked, default=0), color=SERIES[i])
    left.set_yscale("log")
    for axis in (left.yaxis.set_major_formatter, left.yaxis.set_minor_formatter):
        axis(lambda value, _: number(value) if str(int(value))[0] in "125" else "")
    left.set_xlim(n["fractions"][0] - 0.05, n["fractions"][-1] + 0.05)
    left.set_xlabel("fraction of the pairs trained on, α")
    left.set_ylabel("steps until test accuracy ≥ 99 %")
    left.legend(fontsize=6, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.08), columnspacing=1)
    draw_by_width(right, n["by_width"], ("mean_accuracy", "least_accuracy", "most_accuracy"))
    right.set_ylabel("accuracy")
    right.legend(loc="lower right")
    style.letter(panels[0], ("grokking time", "accuracy and width"))
    style.note(
        figure,
        f"n + m mod {n['modulus']}; (a) N = {n['width']}, median and range of {n['seeds']} seeds, at most "
        f"{count(max(n['steps'].values()))} steps ({count(min(n['steps'].values()))} for Adam); "
        f"(b) α = {n['width_fraction']}, mean and range",
    )
    return figure


def draw_by_width(panel: Any, found: dict[str, Any], names: tuple[str, str, str]) -> None:
    """Means with their ranges against the width, each series in its color."""
    for i, (label, series) in enumerate(found.items()):
        middle, least, most = (series[name] for name in names)
        panel.plot(series["widths"], middle, color=SERIES[i], marker=MARKERS[i], label=label)
        panel.fill_between(series["widths"], least, most, color=SERIES[i], alpha=0.15, linewidth=0)
    panel.set_xscale("log", base=2)
    panel.xaxis.set_major_formatter(lambda width, _: number(width))
    panel.set_xlabel("width N")
    panel.set_ylim(-0.03, 1.03)


def _gaps(values: list[Value]) -> list[int | float]:
    return [float("nan") if value is None else value for value in values]


STUDY = Study(
    "fig3",
    "Data and width",
    "Left: how long it takes to generalize with a growing share of the table, for eight optimizers; a curve begins at "
    "the smallest share with which at least half of the seeds grok. Right: accuracy against width of trained networks, "
    "of the paper's random phases (on all pairs), and of the exact form, which is right at any width from five neurons "
    "on.",
    numbers,
    experiments,
    draw,
)
