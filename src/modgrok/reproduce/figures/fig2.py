"""Fig. 2: how the phases of a neuron's three waves add up, φ1 + φ2 − φ3, after GD and AdamW and for random weights."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment
from modgrok.measures import NeuronWaves, circular_mean, circular_spread, neuron_waves
from modgrok.networks import Network
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import addition_by_adamw, addition_by_gd
from modgrok.reproduce.values import plain

BINS = 60


def experiments(profile: Profile) -> list[Experiment]:
    makers = (addition_by_gd, addition_by_adamw)
    return [make(profile, seed) for make in makers for seed in profile.seed_range]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Histograms over the neurons of all seeds, and circular statistics of each seed."""
    descent = [runs[addition_by_gd(profile, seed)] for seed in profile.seed_range]
    adamw = [runs[addition_by_adamw(profile, seed)] for seed in profile.seed_range]
    networks = {
        "random": [run.snapshot(0) for run in descent],
        "GD": [run.network for run in descent],
        "AdamW": [run.network for run in adamw],
    }
    return plain(
        {
            "modulus": profile.modulus,
            "width": profile.width,
            "edges": np.linspace(-np.pi, np.pi, BINS + 1),
            "kinds": {name: _kind(found) for name, found in networks.items()},
        }
    )


def _kind(networks: list[Network]) -> dict[str, Any]:
    waves = [neuron_waves(network) for network in networks]
    pooled = np.concatenate([w.residual[~np.isnan(w.residual)] for w in waves])
    density, _ = np.histogram(pooled, BINS, (-np.pi, np.pi), density=True)
    return {
        "density": density,
        "mean": circular_mean(pooled),
        "deviation": circular_spread(pooled).deviation,
        "seeds": [wave_statistics(w) for w in waves],
    }


def wave_statistics(waves: NeuronWaves) -> dict[str, int | float]:
    """What the neurons of one network have in common with the closed form."""
    spread = circular_spread(waves.residual)
    copies = np.bincount(waves.frequency)[1:]
    return {
        "mean": circular_mean(waves.residual),
        "resultant": spread.resultant,
        "deviation": spread.deviation,
        "explained": float(np.nanmean(waves.explained)),
        "explained_median": float(np.nanmedian(waves.explained)),
        "frequencies": int((copies > 0).sum()),
        "copies": float(copies[copies > 0].mean()),
        "first_phase_resultant": circular_spread(waves.phases[:, 0]).resultant,
    }


def draw(n: Numbers) -> Any:
    figure, grid = style.axes(1, 3, height=2.3, sharey=True)
    colours = {"random": style.GREY, "GD": style.BLUE, "AdamW": style.ORANGE}
    for panel, (name, kind) in zip(grid[0], n["kinds"].items(), strict=True):
        panel.stairs(kind["density"], n["edges"], fill=True, color=colours[name])
        panel.set_xticks([-np.pi, 0, np.pi], ["−π", "0", "π"])
        panel.set_xlabel("φ₁ + φ₂ − φ₃")
        panel.set_title({"random": "random weights"}.get(name, name))
        deviation = "–" if kind["deviation"] is None else f"{kind['deviation']:.2f}"
        panel.text(
            0.03,
            0.95,
            f"mean {kind['mean']:+z.2f}\ndeviation {deviation}",
            transform=panel.transAxes,
            va="top",
            fontsize=7,
        )
    grid[0, 0].set_ylabel("density per radian")
    seeds = len(n["kinds"]["GD"]["seeds"])
    style.note(
        figure,
        f"n + m mod {n['modulus']}, all {n['width']} neurons of {seeds} seeds; circular mean and deviation in radians",
    )
    return figure


STUDY = Study(
    "fig2",
    "The phases that optimizers find",
    "Every neuron is fitted by one wave in n, one in m and one in q. In the closed form their phases obey "
    "φ1 + φ2 = φ3; at initialization the sum is anything; after training it is close to zero, and more tightly so "
    "after AdamW than after gradient descent.",
    experiments,
    numbers,
    draw,
)
