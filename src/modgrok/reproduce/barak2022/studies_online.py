"""Figs. 1 to 3: parities from fresh examples: plateau and drop, time against size, what moves in the meantime."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GRAY, GREEN, MARKERS, SERIES, TEST, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.barak2022.profile import Profile
from modgrok.reproduce.study import Numbers, Study, Tree
from modgrok.text import number

K = 3
"""Bits in the parity of the curves; they are the first ones."""
PLATEAU = 0.55
"""Test accuracy up to which nothing is to be seen."""


def progress(profile: Profile, runs: list[Run]) -> Numbers:
    """Error and loss on the way, and from kept weights how far the first layer has moved."""
    return {"bits": profile.bits, "k": K, "runs": [_progress(run) for run in runs]}


def _progress(run: Run) -> dict[str, Any]:
    history, steps = run.history, run.snapshots
    layers = [np.asarray(run.snapshot(step).parameters["layers.0.weight"], np.float64) for step in steps]
    moved = np.array([np.abs(layer - layers[0]).max() for layer in layers])
    size = [np.abs(layer).mean(axis=0) for layer in layers]
    solved = run.result["grokked_at"]
    out: dict[str, Any] = {
        "step": history["step"],
        "error": 1 - history["test_accuracy"],
        "loss": history["test_loss"],
        "kept": steps,
        "moved": moved,
        "relevant": [one[:K].mean() for one in size],
        "others": [one[K:].mean() for one in size],
        "solved_at": solved,
    }
    plateau = history["step"][history["test_accuracy"] > PLATEAU]
    out["plateau_until"] = plateau[0] if len(plateau) else None
    if solved is not None:
        at = np.interp([solved / 2, solved], steps, moved)
        out["moved_at_half"] = at[0] / at[1]
        out["error_at_half"] = np.interp(solved / 2, history["step"], 1 - history["test_accuracy"])
        out["ratio_at_half"] = np.interp(solved / 2, steps, np.array(out["relevant"]) / np.array(out["others"]))
    return out


def times(profile: Profile, runs: Tree) -> Numbers:
    """Steps until the parity is known, and the slope of their median against n, both logarithmic."""
    found = {}
    for k, sizes in runs.items():
        cells = {n: [run.result["grokked_at"] for run in some] for n, some in sizes.items()}
        medians = {n: _median(cell) for n, cell in cells.items()}
        known = [(n, time) for n, time in medians.items() if time is not None]
        slope = np.polyfit(*np.log(np.array(known, dtype=float)).T, 1)[0] if len(known) > 1 else None
        found[k] = {"times": cells, "median": medians, "exponent": slope}
    return {"seeds": profile.scaling_seeds, "k": found}


def _median(times: list[int | None]) -> float | None:
    known = [time for time in times if time is not None]
    return float(np.median(known)) if 2 * len(known) > len(times) else None


def histogram(profile: Profile, runs: list[Run]) -> Numbers:
    """The times of many seeds; a random search without memory would have a standard deviation equal to its mean."""
    found = [run.result["grokked_at"] for run in runs]
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
    for i, run in enumerate(n["runs"]):
        look = {"alpha": 1 if i == 0 else 0.4, "linewidth": 1.3 if i == 0 else 0.8}
        panels[0, 0].plot(run["step"], run["error"], color=TEST, **look)
        panels[0, 1].plot(run["kept"], run["moved"], color=VERMILLION, **look)
        for name, color, label in (("relevant", GREEN, "bits of the parity"), ("others", GRAY, "other bits")):
            panels[0, 2].plot(run["kept"], run[name], color=color, label=label if i == 0 else None, **look)
    for panel in panels[0]:
        panel.set_xlabel("step")
        style.mark(panel, n["runs"][0]["solved_at"])
    panels[0, 0].set(ylabel="test error", ylim=(-0.02, 0.56))
    panels[0, 1].set_ylabel("$\\rho = \\max |w(t) - w(0)|$")
    panels[0, 2].set_ylabel("mean |w|")
    panels[0, 2].legend(loc="upper left")
    style.letter(panels[0], ("plateau, then a drop", "but weights move steadily", "those that matter"))
    note = f"parity of {n['k']} of {n['bits']} bits, fresh batches of 32, SGD with rate 0.1; bold: seed 0"
    style.note(figure, note + ", dotted: 99 % right")
    return figure


def draw_times(n: Numbers) -> Any:
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
    panel.minorticks_off()
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
        "The test error stays at one half and then drops at once. All the while the first layer moves steadily, and "
        "the weights of the bits that the parity is made of grow past the others long before any answer is right.",
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
