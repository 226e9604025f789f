"""Fig. 2: how the phases of a neuron's three waves add up, φ1 + φ2 − φ3, after GD and AdamW and for random weights."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import NeuronWaves, circular_mean, circular_spread, kuiper, neuron_waves
from modgrok.networks import Network
from modgrok.palette import BLUE, GRAY, ORANGE
from modgrok.plot import style
from modgrok.plot.phases import angle_histogram, circle
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study
from modgrok.text import number

COLORS = {"random": GRAY, "GD": BLUE, "AdamW": ORANGE}
ZOOM = 0.5
"""Radians on either side of zero that the zoom shows."""
ZOOM_BINS = 60
CLEAR = 0.5
"""Share of a neuron's power in one wave from which it counts as a copy of that wave."""
DIRECTIONS = {"φ1": (1, 0), "φ2": (0, 1), "φ1 − φ2": (1, -1), "2φ1": (2, 0), "2φ2": (0, 2), "φ1 + φ2": (1, 1)}
"""Combinations of phases that are left in the waves of `eq_omg` other than n + m, as multiples of φ1 and φ2."""


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
        "zoom_edges": np.linspace(-ZOOM, ZOOM, ZOOM_BINS + 1),
        "kinds": {name: _kind(found) for name, found in networks.items()},
    }


def _kind(networks: list[Network]) -> dict[str, Any]:
    waves = [neuron_waves(network) for network in networks]
    pooled = np.concatenate([w.residual[~np.isnan(w.residual)] for w in waves])
    near = np.histogram(pooled, ZOOM_BINS, (-ZOOM, ZOOM))[0] / max(1, len(pooled)) * (ZOOM_BINS / (2 * ZOOM))
    return {
        "density": angle_histogram(pooled, density=True)[0],
        "zoom": near,
        "within_zoom": float((abs(pooled) <= ZOOM).mean()) if len(pooled) else None,
        "mean": circular_mean(pooled),
        "resultant": circular_spread(pooled).resultant,
        "deviation": circular_spread(pooled).deviation,
        "uniform": kuiper(pooled),
        "seeds": [
            wave_statistics(w) | {"in_waves": share_in_waves(network, w)}
            for w, network in zip(waves, networks, strict=True)
        ],
    }


def share_in_waves(network: Network, waves: NeuronWaves) -> float:
    """Share of the power of all weights that is in the one wave of each neuron."""
    power = np.square(network.w_in).sum(axis=(1, 2)) + np.square(network.w_out).sum(axis=0)
    return float((np.nan_to_num(waves.explained) * power).sum() / power.sum())


def wave_statistics(waves: NeuronWaves) -> dict[str, Any]:
    """What the neurons of one network have in common with the closed form."""
    spread = circular_spread(waves.residual)
    clear = np.nan_to_num(waves.explained) >= CLEAR
    copies = np.bincount(waves.frequency[clear], minlength=2)[1:]
    return {
        "mean": circular_mean(waves.residual),
        "resultant": spread.resultant,
        "deviation": spread.deviation,
        "explained": float(np.nanmean(waves.explained)),
        "explained_median": float(np.nanmedian(waves.explained)),
        "clear": float(clear.mean()),
        "frequencies": int((copies > 0).sum()),
        "several": int((copies > 1).sum()),
        "copies": float(copies[copies > 0].mean()) if copies.any() else 0.0,
        "uniform": {name: kuiper(waves.phases[:, :2] @ np.array(by)) for name, by in DIRECTIONS.items()},
        "moments": {
            name: circular_spread(waves.phases[:, :2] @ np.array(by)).resultant for name, by in DIRECTIONS.items()
        },
        "agreement": {name: agreement(waves, clear, by) for name, by in DIRECTIONS.items()},
    }


def agreement(waves: NeuronWaves, chosen: Any, direction: tuple[int, int]) -> float | None:
    r"""$n_k|\langle e^{i\varphi}\rangle_k|^2$ over the $n_k > 1$ chosen neurons of a frequency, averaged over them.

    1 on average for independent phases, $n_k$ for equal ones, 0 where they cancel exactly.
    """
    values = np.exp(1j * waves.phases[:, :2] @ np.array(direction))
    used = chosen & ~np.isnan(values)
    count = np.bincount(waves.frequency[used])
    sums = np.bincount(waves.frequency[used], values[used].real) + 1j * np.bincount(
        waves.frequency[used], values[used].imag
    )
    several = count > 1
    return float((abs(sums[several]) ** 2 / count[several]).mean()) if several.any() else None


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, width=7.4, height=2.6)
    for panel, (name, kind) in zip(panels[0], n["kinds"].items(), strict=True):
        circle(kind["density"], n["edges"], color=COLORS[name], ax=panel)
        panel.set_ylim(bottom=0)
        panel.set_ylabel("density per radian")
        panel.text(0.03, 0.97, _words(kind), transform=panel.transAxes, va="top", fontsize=6.5)
    top = panels[0, 0].get_ylim()[1]
    panels[0, 0].set_ylim(0, 1.5 * top)
    titles = ("random weights: any angle", "GD: around zero", "AdamW: closer to zero")
    style.letter(panels[0], titles)
    inset = panels[0, 2].inset_axes((0.68, 0.4, 0.32, 0.55))
    inset.stairs(n["kinds"]["AdamW"]["zoom"], n["zoom_edges"], fill=True, color=COLORS["AdamW"])
    inset.set_xlim(n["zoom_edges"][0], n["zoom_edges"][-1])
    inset.tick_params(labelsize=5.5, length=2)
    inset.set_xlabel("radians", fontsize=5.5, labelpad=1)
    inset.set_title("zoom", fontsize=6, pad=2)
    seeds = len(n["kinds"]["GD"]["seeds"])
    style.note(
        figure,
        f"n + m mod {n['modulus']}, all {n['width']} neurons of {seeds} seeds; circular statistics in radians; the "
        "panels have scales of their own",
    )
    return figure


def _words(kind: dict[str, Any]) -> str:
    """Mean and deviation, where the angles have a direction at all."""
    if kind["uniform"] is None or kind["uniform"] > 0.001:
        return f"no direction preferred\n(Kuiper's test: P = {number(kind['uniform'], 2)})"
    return f"mean {kind['mean']:+z.3f}\ndeviation {kind['deviation']:.3f}"


STUDY = Study(
    "fig2",
    "The phases that optimizers find",
    "Every neuron is fitted by one wave in n, one in m and one in q. In the closed form their phases obey "
    "φ1 + φ2 = φ3; at initialization φ1 + φ2 − φ3 is anything; after training it is close to zero, and more tightly so "
    "after AdamW than after gradient descent.",
    numbers,
    experiments,
    draw,
)
