"""Fig. 1: one answer, its Fourier image and one neuron over all pairs: random, trained, written down."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Run
from modgrok.networks import Network, hidden_map, output_map
from modgrok.plot import style
from modgrok.plot.answers import over_inputs
from modgrok.reproduce.gromov2023.figA2 import FREQUENCY, few_digits, nearest_frequency, neuron_of
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.nested import Numbers, Study
from modgrok.shapes import Float
from modgrok.tasks import task

ANSWER = 6
FAMILIES = {"n + m": (1, 1), "n − m": (1, -1), "2n": (2, 0), "2m": (0, 2)}
"""The waves of `eq_omg` by their direction in the plane of frequencies (of n, of m)."""


def numbers(profile: Profile, runs: list[Run]) -> Numbers:
    """The maps of seed 0 and the closed forms, and for every seed how the power of the Fourier image is shared out."""
    addition = task("n + m", profile.modulus)
    networks = {
        "initialization": [run.snapshot(0) for run in runs],
        "gradient descent": [run.network for run in runs],
        "closed form": [solve(addition, "waves", profile.width, seed=seed) for seed in range(len(runs))],
        "exact form": [solve(addition, "exact")],
    }
    columns = {name: some[0] for name, some in networks.items()}
    frequency = nearest_frequency(columns["gradient descent"], FREQUENCY)
    neurons = {name: neuron_of(network, frequency) for name, network in columns.items()}
    neurons["initialization"] = neurons["gradient descent"]
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "answer": ANSWER,
        "widths": {name: network.width for name, network in columns.items()},
        "neurons": neurons,
        "frequency": frequency,
        "columns": {name: _maps(network, neurons[name]) for name, network in columns.items()},
        "shares": {name: [wave_shares(network) for network in some] for name, some in networks.items()},
    }


def _maps(network: Network, neuron: int) -> dict[str, np.ndarray]:
    answer = output_map(network, ANSWER)
    maps = {"answer": answer, "fourier": fourier_image(answer), "neuron": hidden_map(network, neuron)}
    return {name: few_digits(values) for name, values in maps.items()}


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
    figure, panels = style.grid(3, len(n["columns"]), width=7.6, height=5.6)
    half = n["modulus"] // 2
    centered = {"extent": (-half - 0.5, half + 0.5) * 2, "vmin": 0, "vmax": 1}
    for column, (name, maps) in enumerate(n["columns"].items()):
        for panel, (key, values) in zip(panels[:, column], maps.items(), strict=True):
            over_inputs(values, ax=panel, **centered if key == "fourier" else {})
            style.color_bar(panel)
            panel.tick_params(labelleft=column == 0)
        panels[0, column].set_title(f"{name}\nN = {n['widths'][name]}", loc="center")
        panels[1, column].set_xlabel("frequency of $m$", labelpad=1)
        panels[2, column].set_title(f"neuron {n['neurons'][name]}", loc="center", fontsize=7, pad=3)
    output = f"$h^{{(2)}}_{{{n['answer']}}}$"
    texts = (
        f"{output}$(n, m)$\n$n$",
        f"Fourier image of {output}\nfrequency of $n$",
        "$h^{(1)}(n, m)$ of a neuron\n$n$",
    )
    for panel, text in zip(panels[:, 0], texts, strict=True):
        panel.set_ylabel(text)
    style.note(
        figure,
        f"n + m mod {n['modulus']}; Fourier images: amplitudes without the mean, over the largest of each; neurons: "
        f"frequency {n['frequency']}, the trained one also before training",
    )
    return figure


STUDY = Study(
    "fig1",
    "Preactivations: random, trained, written down",
    "Top: the output for one answer over all pairs. Middle: its Fourier image, in which n + m = q is the diagonal. "
    "Bottom: a hidden neuron of the same frequency in each network. Gradient descent finds one diagonal and nothing "
    "else; the paper's closed form has the same diagonal and, faintly, the waves that its random phases do not quite "
    "cancel: 2n (vertical axis), 2m (horizontal axis) and n − m (the other diagonal). The exact form of finite width, "
    "which the paper does not have, cancels them to rounding error.",
    numbers,
    Profile.addition_by_gd,
    draw,
    digits=3,
)
