"""A run as an animated picture: its weights, its table of answers, and both accuracies with the time that passes."""

import io
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments import Run
from modgrok.experiments.analysis import Analysis, analyze
from modgrok.networks import Network
from modgrok.palette import EMPTY, PURPLE
from modgrok.plot import style
from modgrok.plot.answers import STATES, answer_states
from modgrok.plot.curves import curves
from modgrok.shapes import Float, Int
from modgrok.text import count

FORMATS = {".gif": "GIF", ".webp": "WEBP", ".png": "PNG"}
RATE = 10
"""Pictures a second."""
REST = 2000
"""Milliseconds on the last picture before it begins again."""
COLORS = 24
NEURONS = 6
"""How many are shown: the strongest one of each of the lowest frequencies."""
SIZE, SHARES = (7.6, 2.4), (1.1, 1.0, 1.3)
"""Inches of the picture, and how its width is shared by weights, answers and curves."""


def film(run: Run, kind: str = ".gif", seconds: float = 8.0) -> bytes:
    """The film of a run with snapshots, as a file of that suffix; time is logarithmic in the step."""
    if kind not in FORMATS:
        raise ModgrokError(f"A film is written to a {', '.join(FORMATS)} file, not to {kind}.")
    if not run.snapshots:
        raise ModgrokError(f"Run {run.id} kept no weights while it trained; train it with --snapshots 60.")
    if not 0 < seconds <= 120:
        raise ModgrokError(f"seconds must be positive and at most 120, not {seconds:g}.")
    pictures = _pictures(run, film_steps(run.snapshots, max(2, round(RATE * seconds))))
    drawn = io.BytesIO()
    durations = [round(1000 / RATE)] * (len(pictures) - 1) + [REST]
    how: dict[str, Any] = {"lossless": True} if kind == ".webp" else {"optimize": True}
    more = {"append_images": pictures[1:], "duration": durations, "loop": 0} | how
    pictures[0].save(drawn, FORMATS[kind], save_all=True, **more)
    return drawn.getvalue()


def film_steps(kept: list[int], count: int) -> list[int]:
    """The kept step before each of `count` times that are evenly spread in the logarithm of the step."""
    times = np.expm1(np.linspace(0, np.log1p(kept[-1]), count))
    places = np.searchsorted(kept, times + 1e-6, side="right") - 1
    return [kept[max(0, int(place))] for place in places]


def _pictures(run: Run, steps: list[int]) -> list[Any]:
    """One picture for each step. Pictures of the same step are drawn once, as they differ in nothing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import ListedColormap
    from PIL import Image

    train = run.experiment.split.divide(run.task)[0]
    networks = {step: run.snapshot(step) for step in dict.fromkeys(steps)}
    states = {step: answer_states(network, run.task, train) for step, network in networks.items()}
    neurons = _neurons(run)
    modulus = run.experiment.modulus
    name = run.task.name if modulus is None else f"{run.task.name} mod {modulus}"
    drawn = {}
    with style.context():
        shares = SHARES if neurons is not None else SHARES[1:]
        figure, panels = style.grid(1, len(shares), *SIZE, width_ratios=shares)
        canvas = FigureCanvasAgg(figure)
        *_, table, beside = panels[0]
        colors = ListedColormap([EMPTY, *STATES.values()])
        image = table.imshow(states[steps[0]], cmap=colors, vmin=-1.5, vmax=len(STATES) - 0.5)
        table.set_title(f"answers: {name}")
        if neurons is not None:
            waves = panels[0, 0].plot(_rows(networks[steps[0]], neurons).T, color=PURPLE)
            panels[0, 0].set_ylim(0.4 - len(waves), 0.6)
            panels[0, 0].set_title(f"weights of {count(len(waves), 'neuron')}")
        for panel in panels[0, :-1]:
            panel.set_xticks([])
            panel.set_yticks([])
            panel.spines[:].set_visible(False)
        curves(run, ax=beside)
        now = beside.axvline(0, color="black", linewidth=1)
        for step, state in states.items():
            image.set_data(state)
            if neurons is not None:
                for wave, row in zip(waves, _rows(networks[step], neurons), strict=True):
                    wave.set_ydata(row)
            now.set_xdata([step, step])
            beside.set_title(f"step {count(step)}", fontfamily="monospace")
            canvas.draw()
            drawn[step] = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba())).convert("RGB")
    # All in one palette, so that what does not change from one picture to the next takes no bytes.
    first, last = drawn[steps[0]], drawn[steps[-1]]
    both = Image.new("RGB", (first.width, 2 * first.height))
    both.paste(first)
    both.paste(last, (0, first.height))
    palette = both.quantize(COLORS, kmeans=2)
    few = {step: picture.quantize(palette=palette, dither=Image.Dither.NONE) for step, picture in drawn.items()}
    return [few[step] for step in steps]


def _neurons(run: Run) -> tuple[Int[np.ndarray, "neuron"], Int[np.ndarray, "p"]] | None:
    """Neurons whose last waves are slow, and values along the task's coordinate; None without waves."""
    found = analyze(run)
    if not isinstance(found, Analysis):
        return None
    strength = np.linalg.norm(found.network.w_in, axis=(1, 2))
    slowest = np.unique(found.waves.frequency[found.waves.frequency > 0])[:NEURONS]
    shown = np.array([np.where(found.waves.frequency == k, strength, -1).argmax() for k in slowest])
    index = np.arange(found.task.sizes[0]) if found.coordinate is None else found.coordinate.index[0]
    return shown, np.argsort(index, kind="stable")


def _rows(network: Network, shown: tuple[Any, Any]) -> Float[np.ndarray, "neuron p"]:
    """Weights of the first variable as lines below each other, each neuron's over its largest."""
    neurons, values = shown
    rows = np.asarray(network.w_in).real[neurons, 0][:, values]
    size = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-12)
    return 0.42 * rows / size - np.arange(len(rows))[:, None]
