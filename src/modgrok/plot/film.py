"""A run as an animated picture: the table while it fills, and below it both accuracies with the time that passes."""

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.palette import EMPTY
from modgrok.plot import style
from modgrok.plot.answers import STATES, answer_states
from modgrok.plot.curves import curves
from modgrok.text import count

if TYPE_CHECKING:
    from modgrok.experiments import Run

FORMATS = {".gif": "GIF", ".webp": "WEBP", ".png": "PNG"}
RATE = 12
"""Pictures a second."""
REST = 1500
"""Milliseconds on the last picture before it begins again."""
COLORS = 32


def film(run: "Run", kind: str = ".gif", seconds: float = 8.0) -> bytes:
    """The film of a run that kept its weights, as a file of that suffix; a step's place in time is logarithmic."""
    if kind not in FORMATS:
        raise ModgrokError(f"A film is a {', '.join(FORMATS)} file, not {kind}.")
    if not run.snapshots:
        raise ModgrokError(f"Run {run.id} has kept no weights on its way; train it with --snapshots 60.")
    if not 0 < seconds <= 120:
        raise ModgrokError(f"A film takes more than 0 and at most 120 seconds, not {seconds:g}.")
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


def _pictures(run: "Run", steps: list[int]) -> list[Any]:
    """One picture for each step. Pictures of the same step are drawn once, as they differ in nothing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.colors import ListedColormap
    from PIL import Image

    train = run.experiment.split.divide(run.task)[0]
    states = {step: answer_states(run.snapshot(step), run.task, train) for step in dict.fromkeys(steps)}
    modulus = run.experiment.modulus
    name = run.task.name if modulus is None else f"{run.task.name} mod {modulus}"
    drawn = {}
    with style.context():
        figure, panels = style.grid(2, 1, 4.0, 5.2, height_ratios=(4, 1))
        canvas = FigureCanvasAgg(figure)
        table, below = panels[:, 0]
        colors = ListedColormap([EMPTY, *STATES.values()])
        image = table.imshow(states[steps[0]], cmap=colors, vmin=-1.5, vmax=len(STATES) - 0.5)
        table.set_axis_off()
        curves(run, ax=below)
        below.set_title("")
        now = below.axvline(0, color="black", linewidth=1)
        for step, state in states.items():
            image.set_data(state)
            now.set_xdata([step, step])
            table.set_title(f"{name}   step {count(step)}", fontfamily="monospace")
            canvas.draw()
            picture = Image.frombytes("RGBA", canvas.get_width_height(), bytes(canvas.buffer_rgba())).convert("RGB")
            drawn[step] = picture.quantize(COLORS, dither=Image.Dither.NONE)
    return [drawn[step] for step in steps]
