"""Fig. 1: one answer, its Fourier image and one neuron over all pairs: random, trained, written down."""

from typing import Any

import numpy as np
from jaxtyping import Float

from modgrok.closed_form import solve
from modgrok.experiments import Experiment
from modgrok.networks import Network, hidden_map, output_map
from modgrok.reproduce import style
from modgrok.reproduce.figures.preactivations import clearest_neuron
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import addition_by_gd
from modgrok.reproduce.values import plain
from modgrok.tasks import task

ANSWER = 6
NEURON = 30
"""Neuron of the closed forms; of the trained network, before and after, the one that a single wave explains best."""
FAMILIES = {"n + m": (1, 1), "n − m": (1, -1), "2n": (2, 0), "2m": (0, 2)}
"""The waves of `eq_omg` by their direction in the plane of frequencies (of n, of m)."""


def experiments(profile: Profile) -> list[Experiment]:
    return [addition_by_gd(profile, seed) for seed in profile.seed_range]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """The maps of seed 0 and the closed forms, and for every seed how the power of the Fourier image is shared out."""
    addition = task("n + m", profile.modulus)
    found = [runs[experiment] for experiment in experiments(profile)]
    columns = {
        "initialization": found[0].snapshot(0),
        "gradient descent": found[0].network,
        "closed form": solve(addition, "waves", profile.width),
        "exact form": solve(addition, "exact"),
    }
    clearest = clearest_neuron(found[0].network, addition)
    neurons = {name: min(NEURON, network.width - 1) for name, network in columns.items()}
    neurons |= {"initialization": clearest, "gradient descent": clearest}
    closed = [solve(addition, "waves", profile.width, seed=seed) for seed in range(len(found))]
    return plain(
        {
            "modulus": profile.modulus,
            "width": profile.width,
            "answer": ANSWER,
            "widths": {name: network.width for name, network in columns.items()},
            "neurons": neurons,
            "columns": {name: _maps(network, neurons[name]) for name, network in columns.items()},
            "shares": {
                "initialization": [wave_shares(run.snapshot(0)) for run in found],
                "gradient descent": [wave_shares(run.network) for run in found],
                "closed form": [wave_shares(network) for network in closed],
                "exact form": [wave_shares(columns["exact form"])],
            },
        },
        digits=4,
    )


def _maps(network: Network, neuron: int) -> dict[str, np.ndarray]:
    answer = output_map(network, ANSWER)
    return {
        "answer": answer,
        "fourier": fourier_image(answer),
        "neuron": hidden_map(network, neuron),
    }


def fourier_image(answer: Float[np.ndarray, "p p"]) -> Float[np.ndarray, "p p"]:
    r"""$|\tilde h(\mu, \nu)|$ of a map over (n, m) less its mean, largest value 1, frequency 0 in the middle."""
    image = np.abs(np.fft.fftshift(np.fft.fft2(answer - answer.mean())))
    return image / image.max()


def wave_shares(network: Network, answer: int = ANSWER) -> dict[str, float]:
    """Share of the power of an answer's Fourier image (without its mean) in each family of waves, and elsewhere."""
    image = np.abs(np.fft.fft2(output_map(network, answer))) ** 2
    image[0, 0] = 0
    k = np.arange(1, len(image))
    shares = {name: image[a * k % len(image), b * k % len(image)].sum() for name, (a, b) in FAMILIES.items()}
    total = image.sum()
    return {name: float(power / total) for name, power in shares.items()} | {
        "elsewhere": float(1 - sum(shares.values()) / total)
    }


def draw(n: Numbers) -> Any:
    columns = list(n["columns"])
    figure, grid = style.axes(3, len(columns), height=5.4)
    for column, name in enumerate(columns):
        for row, key in enumerate(("answer", "fourier", "neuron")):
            panel = grid[row, column]
            half = n["modulus"] // 2
            extent = (-half - 0.5, half + 0.5, -half - 0.5, half + 0.5) if key == "fourier" else None
            colours = {"cmap": "magma", "vmax": 0.6} if key == "fourier" else {}
            panel.imshow(n["columns"][name][key], origin="lower", extent=extent, **colours)
            panel.spines[["top", "right"]].set_visible(True)
            if column:
                panel.set_yticklabels([])
            panel.set_xlabel("frequency of $m$" if key == "fourier" else "$m$", labelpad=1)
        grid[2, column].set_title(f"k = {n['neurons'][name]}", loc="center", fontsize=7, pad=3)
        grid[0, column].set_title(f"{name}\nN = {n['widths'][name]}", loc="center")
    grid[0, 0].set_ylabel(f"$h^{{(2)}}_{{{n['answer']}}}(n, m)$\n$n$")
    grid[1, 0].set_ylabel(f"Fourier image of $h^{{(2)}}_{{{n['answer']}}}$\nfrequency of $n$")
    grid[2, 0].set_ylabel("$h^{(1)}_k(n, m)$\n$n$")
    style.note(figure, f"n + m mod {n['modulus']}; colours of each panel by its own range")
    return figure


STUDY = Study(
    "fig1",
    "Preactivations: random, trained, written down",
    "Top: the output for one answer over all pairs. Middle: its Fourier image, in which n + m = q is the diagonal. "
    "Bottom: one hidden neuron. Gradient descent finds one diagonal and nothing else; the paper's closed form has the "
    "same diagonal and, faintly, the waves that its random phases do not quite cancel: 2n (vertical axis), "
    "2m (horizontal axis) and n − m (the other diagonal). The exact form of finite width, which the paper does not "
    "have, cancels them to rounding error.",
    experiments,
    numbers,
    draw,
)
