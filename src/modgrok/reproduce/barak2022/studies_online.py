"""Figs. 1 to 3: parities from fresh examples: plateau and drop, time against size, what moves in the meantime."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.barak2022.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, median_time, results
from modgrok.text import number

K = 3
"""Bits in the parity of the curves; they are the first ones."""
PLATEAU = 0.55
"""Test accuracy up to which nothing is to be seen."""


def progress(profile: Profile, runs: Tree) -> Numbers:
    """Error on the way, and from kept weights how far the first layer has moved; for each size of batch."""
    return {
        "bits": profile.bits,
        "k": K,
        "batches": {batch: [_progress(run) for run in some] for batch, some in runs.items()},
    }


def _progress(run: Run) -> dict[str, Any]:
    history, steps, solved = run.history, run.snapshots, results(run, "grokked_at")
    layers = [np.asarray(run.snapshot(step).parameters["layers.0.weight"], np.float64) for step in steps]
    moved = [np.abs(layer - layers[0]) for layer in layers]
    largest = np.array([one.max() for one in moved])
    ratio = np.array([one[:, :K].mean() / max(one[:, K:].mean(), 1e-12) for one in moved])
    error = 1 - history["test_accuracy"]
    left = history["step"][history["test_accuracy"] > PLATEAU]
    found = {
        "step": history["step"],
        "error": error,
        "kept": steps[1:],
        "moved": largest[1:],
        "ratio": ratio[1:],
        "solved_at": solved,
        "plateau_until": left[0] if len(left) else None,
    }
    if solved is None:
        return found
    quarters = np.interp(solved * np.array([0.25, 0.5, 1]), steps, largest)
    return found | {
        "moved_at": quarters,
        "error_at_half": np.interp(solved / 2, history["step"], error),
        "ratio_at_half": np.interp(solved / 2, steps[1:], ratio[1:]),
    }


def times(profile: Profile, runs: Tree) -> Numbers:
    """Steps until the parity is known, and the slope of their median against n, both logarithmic."""
    found = {}
    for k, sizes in runs.items():
        cells = results(sizes, "grokked_at")
        medians = {n: median_time(cell) for n, cell in cells.items()}
        known = [(n, time) for n, time in medians.items() if time is not None]
        slope = _slope(known) if len(known) > 1 else None
        found[k] = {"times": cells, "median": medians, "exponent": slope}
    return {"seeds": profile.scaling_seeds, "k": found}


def _slope(points: list[tuple[int, float]]) -> float:
    n, time = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(n, time, 1)[0])


def histogram(profile: Profile, runs: list[Run]) -> Numbers:
    """The times of many seeds; a random search without memory would have a standard deviation equal to its mean."""
    found = results(runs, "grokked_at")
    known = np.array([time for time in found if time is not None], dtype=float)
    return {
        "bits": profile.histogram_bits,
        "steps": profile.histogram_steps,
        "times": found,
        "mean": known.mean() if len(known) else None,
        "variation": known.std() / known.mean() if len(known) else None,
        "least": known.min() if len(known) else None,
    }


def draw_progress(n: Numbers) -> Any:
    figure, panels = style.grid(1, 3, height=2.7)
    for color, (batch, runs) in zip(SERIES, n["batches"].items(), strict=False):
        for i, run in enumerate(runs):
            look = {"color": color, "alpha": 1 if i == 0 else 0.4, "linewidth": 1.3 if i == 0 else 0.8}
            label = f"batches of {batch}" if i == 0 else None
            panels[0, 0].plot(run["step"], run["error"], label=label, **look)
            panels[0, 1].plot(run["kept"], run["moved"], **look)
            panels[0, 2].plot(run["kept"], run["ratio"], **look)
        for panel in panels[0, 1:]:
            panel.axvline(runs[0]["plateau_until"] or 0, color=color, linewidth=0.7, linestyle=":")
    for panel in panels[0]:
        panel.set_xlabel("step")
    panels[0, 0].set(ylabel="test error", ylim=(-0.02, 0.56))
    panels[0, 0].legend(loc="center right", fontsize=6)
    panels[0, 1].set(ylabel="$\\rho = \\max |w(t) - w(0)|$", yscale="log")
    panels[0, 2].set(ylabel="parity's bits / other bits", ylim=(0, None))
    style.letter(panels[0], ("plateau, then a drop", "weights move before", "where they move"))
    note = f"parity of {n['k']} of {n['bits']} bits, fresh batches, SGD with rate 0.1; bold: seed 0"
    style.note(figure, f"{note}; dotted: where its error leaves the plateau")
    return figure


def draw_times(n: Numbers) -> Any:
    from matplotlib.ticker import NullLocator

    figure, panels = style.grid(1, 1, style.COLUMN, 2.9)
    panel = panels[0, 0]
    for i, (k, found) in enumerate(n["k"].items()):
        known = {int(size): time for size, time in found["median"].items() if time is not None}
        slope = "" if found["exponent"] is None else f": slope {found['exponent']:.2f}"
        panel.loglog(list(known), list(known.values()), color=SERIES[i], marker=MARKERS[i], label=f"k = {k}{slope}")
        for size, cell in found["times"].items():
            reached = [time for time in cell if time is not None]
            panel.vlines([int(size)] * bool(reached), min(reached, default=1), max(reached, default=1), color=SERIES[i])
    sizes = sorted({int(size) for found in n["k"].values() for size in found["times"]})
    panel.set_xticks(sizes, [str(size) for size in sizes])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.yaxis.set_major_formatter(lambda value, _: number(value))
    panel.yaxis.set_minor_formatter(lambda value, _: number(value) if str(int(value))[0] in "25" else "")
    panel.set(xlabel="bits n", ylabel="steps until 99 % right")
    panel.legend()
    style.note(figure, f"median and range of {n['seeds']} seeds; 100 ReLU, fresh batches of 32, SGD with rate 1")
    return figure


def draw_histogram(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.6)
    panel = panels[0, 0]
    known = [time for time in n["times"] if time is not None]
    panel.hist(known, bins=np.linspace(0, n["steps"], 41), color=SERIES[0], alpha=0.6)
    if n["mean"]:
        t = np.linspace(0, n["steps"], 200)
        width = n["steps"] / 40
        panel.plot(
            t, len(known) * width / n["mean"] * np.exp(-t / n["mean"]), color=GRAY, label="a search without memory"
        )
        panel.legend()
    panel.set(xlabel="steps until 99 % right", ylabel="runs", xlim=(0, n["steps"]))
    style.note(figure, f"parity of 3 of {n['bits']} bits, {len(n['times'])} seeds, SGD with rate {number(0.1)}")
    return figure


STUDIES = (
    Study(
        "fig3",
        "Plateau and hidden progress",
        "The test error stays at one half and then drops at once. Meanwhile the first layer moves. In large batches "
        "the movement has a direction: the weights of the bits that the parity is made of move farther than others "
        "long before any answer is right. In small batches the noise of the gradient moves all weights alike for most "
        "of the plateau.",
        progress,
        lambda profile: profile.plateau(),
        draw_progress,
    ),
    Study(
        "fig1",
        "Time against the number of bits",
        "Steps until a parity of k bits is known, against the number n of all bits. A search over all sets of k bits "
        "would take of the order of n^k.",
        times,
        lambda profile: profile.times(),
        draw_times,
    ),
    Study(
        "fig2",
        "No luck: the distribution of times",
        "If networks stumbled on the parity by chance, some would do so at once and the times would fall off "
        "exponentially. None does.",
        histogram,
        lambda profile: profile.histogram(),
        draw_histogram,
    ),
)
