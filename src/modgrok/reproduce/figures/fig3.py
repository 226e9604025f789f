"""Fig. 3: (a) grokking time against the fraction of data for eight optimizers; (b) accuracy against width."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.networks import score_table
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import adapt, descend, natural_unit
from modgrok.reproduce.values import Value, mean, plain
from modgrok.tasks import task

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
    settings = optimizers(profile)[optimizer]
    make, training = (adapt, profile.adaptive) if optimizer.startswith("Adam") else (descend, profile.descent)
    return make(training, "n + m", profile.sweep_modulus, profile.sweep_width, fraction, seed, until=0, **settings)


def width_run(profile: Profile, optimizer: str, width: int, seed: int) -> Experiment:
    """One point of figure 3b."""
    if optimizer == "AdamW":
        return adapt(profile.adaptive, "n + m", profile.sweep_modulus, width, profile.width_fraction, seed, until=AFTER)
    return descend(profile.descent, "n + m", profile.sweep_modulus, width, profile.width_fraction, seed, until=AFTER)


def experiments(profile: Profile) -> list[Experiment]:
    seeds = range(profile.sweep_seeds)
    return [
        sweep_run(profile, name, fraction, seed)
        for name in optimizers(profile)
        for fraction in profile.fractions
        for seed in seeds
    ] + [
        width_run(profile, name, width, seed) for name in ("GD", "AdamW") for width in profile.widths for seed in seeds
    ]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Grokking times (null: not within the steps) and final test losses of all seeds; accuracies against width."""
    seeds = range(profile.sweep_seeds)
    sweep = {
        name: [
            [runs.result(sweep_run(profile, name, fraction, seed)) for seed in seeds] for fraction in profile.fractions
        ]
        for name in optimizers(profile)
    }
    times = {name: [[r["grokked_at"] for r in cell] for cell in cells] for name, cells in sweep.items()}
    return plain(
        {
            "modulus": profile.sweep_modulus,
            "width": profile.sweep_width,
            "seeds": profile.sweep_seeds,
            "fractions": profile.fractions,
            "steps": {name: (profile.adaptive if name.startswith("Adam") else profile.descent).steps for name in sweep},
            "times": times,
            "median_times": {name: [median_time(cell) for cell in cells] for name, cells in times.items()},
            "critical_fraction": {name: critical_fraction(profile.fractions, cells) for name, cells in times.items()},
            "test_accuracy": {
                name: [[r["test_accuracy"] for r in cell] for cell in cells] for name, cells in sweep.items()
            },
            "settings": optimizers(profile),
            "width_fraction": profile.width_fraction,
            "by_width": _by_width(profile, runs),
        }
    )


def median_time(times: list[int | None]) -> float | None:
    """Median over the seeds that grokked; None where fewer than half did."""
    grokked = [time for time in times if time is not None]
    return float(np.median(grokked)) if 2 * len(grokked) >= len(times) else None


def critical_fraction(fractions: tuple[float, ...], times: list[list[int | None]]) -> float | None:
    """The smallest fraction from which on at least half of the seeds grok, at every larger one too."""
    found = None
    for fraction, cell in sorted(zip(fractions, times, strict=True), reverse=True):
        if median_time(cell) is None:
            break
        found = fraction
    return found


def _by_width(profile: Profile, runs: Runs) -> dict[str, Any]:
    seeds = range(profile.sweep_seeds)
    addition = task("n + m", profile.sweep_modulus)
    result: dict[str, Any] = {}
    for name in ("GD", "AdamW"):
        results = [[runs.result(width_run(profile, name, width, seed)) for seed in seeds] for width in profile.widths]
        result[name] = _series(
            profile.widths, [[(r["test_accuracy"], r["test_loss"]) for r in cell] for cell in results]
        )
    scores = [
        [
            score_table(solve(addition, "waves", width, seed=seed), addition.table)
            for seed in range(profile.closed_seeds)
        ]
        for width in profile.closed_widths
    ]
    result["random phases"] = _series(
        profile.closed_widths, [[(score.accuracy, score.loss) for score in cell] for cell in scores]
    )
    exact = [solve(addition, "exact", frequencies=range(1, k + 1)) for k in _exact_frequencies(profile.sweep_modulus)]
    scores = [[score_table(network, addition.table)] for network in exact]
    result["exact form"] = _series(
        [network.width for network in exact], [[(score.accuracy, score.loss) for score in cell] for cell in scores]
    )
    return result


def _exact_frequencies(modulus: int) -> list[int]:
    """How many frequencies the exact form gets: 1, 2, 4, … and all."""
    most = modulus // 2
    return [1 << i for i in range(most.bit_length()) if 1 << i < most] + [most]


def _series(widths: Any, cells: list[list[tuple[Any, Any]]]) -> dict[str, Any]:
    accuracy = [[a for a, _ in cell] for cell in cells]
    loss = [[b for _, b in cell] for cell in cells]
    return {
        "widths": list(widths),
        "accuracy": accuracy,
        "loss": loss,
        "mean_accuracy": [mean(cell) for cell in accuracy],
        "least_accuracy": [min(cell) for cell in accuracy],
        "most_accuracy": [max(cell) for cell in accuracy],
    }


def draw(n: Numbers) -> Any:
    figure, grid = style.axes(1, 2, height=3.4, width_ratios=(1.25, 1))
    left, right = grid[0]
    for i, (name, times) in enumerate(n["times"].items()):
        colour, marker = style.SERIES[i], style.MARKERS[i]
        left.plot(n["fractions"], _gaps(n["median_times"][name]), color=colour, marker=marker, label=name)
        for fraction, cell in zip(n["fractions"], times, strict=True):
            grokked = [time for time in cell if time is not None]
            if grokked:
                left.plot([fraction] * 2, [min(grokked), max(grokked)], color=colour, linewidth=0.8, alpha=0.6)
    left.set_yscale("log")
    left.set_xlim(n["fractions"][0] - 0.05, n["fractions"][-1] + 0.05)
    left.set_xlabel("fraction of the pairs trained on, α")
    left.set_ylabel("steps until test accuracy ≥ 99 %")
    left.legend(fontsize=6, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.08), columnspacing=1)
    for i, (name, series) in enumerate(n["by_width"].items()):
        colour, marker = (style.BLUE, style.ORANGE, style.GREEN, style.RED)[i], style.MARKERS[i]
        right.plot(series["widths"], series["mean_accuracy"], color=colour, marker=marker, label=name)
        right.fill_between(
            series["widths"], series["least_accuracy"], series["most_accuracy"], color=colour, alpha=0.15, linewidth=0
        )
    right.set_xscale("log", base=2)
    right.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    right.set_xlabel("width N")
    right.set_ylabel("accuracy")
    right.legend(loc="lower right")
    style.letter(grid[0], ("grokking time", "accuracy and width"))
    style.note(
        figure,
        f"n + m mod {n['modulus']}; (a) N = {n['width']}, median and range of {n['seeds']} seeds, at most "
        f"{max(n['steps'].values())} steps ({min(n['steps'].values())} for Adam); (b) α = {n['width_fraction']}, "
        "mean and range",
    )
    return figure


def _gaps(values: list[Value]) -> list[int | float]:
    return [float("nan") if value is None else value for value in values]


STUDY = Study(
    "fig3",
    "Data and width",
    "Left: how long it takes to generalize with a growing share of the table, for eight optimizers; a curve begins at "
    "the smallest share with which at least half of the seeds grok. Right: accuracy against width of trained networks, "
    "of the paper's random phases (on all pairs), and of the exact form, which is right at any width from five neurons "
    "on.",
    experiments,
    numbers,
    draw,
)
