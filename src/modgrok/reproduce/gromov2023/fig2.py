"""Fig. 2: how the phases of a neuron's three waves add up, φ1 + φ2 − φ3, after GD and AdamW and for random weights."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import NeuronWaves, circular_mean, circular_spread, neuron_waves
from modgrok.networks import Network
from modgrok.palette import BLUE, GRAY, ORANGE
from modgrok.plot import style
from modgrok.plot.phases import angle_histogram, circle
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study

COLORS = {"random": GRAY, "GD": BLUE, "AdamW": ORANGE}


def experiments(profile: Profile) -> dict[str, list[Experiment]]:
    return {"GD": profile.addition_by_gd(), "AdamW": profile.addition_by_adamw()}


def numbers(profile: Profile, runs: dict[str, list[Run]]) -> Numbers:
    """Histograms over the neurons of all seeds, and circular statistics of each seed."""
    networks = {"random": [run.snapshot(0) for run in runs["GD"]]}
    networks |= {name: [run.network for run in found] for name, found in runs.items()}
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "edges": angle_histogram(np.zeros(0))[1],
        "kinds": {name: _kind(found) for name, found in networks.items()},
    }


def _kind(networks: list[Network]) -> dict[str, Any]:
    waves = [neuron_waves(network) for network in networks]
    pooled = np.concatenate([w.residual[~np.isnan(w.residual)] for w in waves])
    return {
        "density": angle_histogram(pooled, density=True)[0],
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
    figure, panels = style.grid(1, 3, height=2.4, sharey=True)
    for panel, (name, kind) in zip(panels[0], n["kinds"].items(), strict=True):
        circle(kind["density"], n["edges"], color=COLORS[name], ax=panel)
        panel.set_title({"random": "random weights"}.get(name, name))
        deviation = "–" if kind["deviation"] is None else f"{kind['deviation']:.2f}"
        text = f"mean {kind['mean']:+z.2f}\ndeviation {deviation}"
        panel.text(0.03, 0.95, text, transform=panel.transAxes, va="top", fontsize=7)
    panels[0, 0].set_ylabel("density per radian")
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
    numbers,
    experiments,
    draw,
)
