"""Figs. 1 center, 2 and 6: how much data it takes, for every operation, for variants of training, with wrong labels."""

from typing import Any

import numpy as np

from modgrok.palette import MARKERS, SERIES, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.reproduce.power2022.operations import OPERATIONS
from modgrok.reproduce.power2022.profile import Profile
from modgrok.text import count

KNOWN = 0.95
"""Best test accuracy, in the mean over seeds, from which on a fraction is enough."""


def best(runs: Tree) -> list[float]:
    """The best test accuracy of every run."""
    return [float(run.history["test_accuracy"].max()) for run in runs]


def _against_data(cells: Tree) -> Numbers:
    """For every fraction the best accuracies and the times; and the mean accuracy over fractions."""
    found: Numbers = {
        fraction: {"best": best(runs), "mean": float(np.mean(best(runs)))}
        | {name: results(runs, name) for name in ("memorized_at", "grokked_at")}
        for fraction, runs in cells.items()
    }
    area = float(np.mean([cell["mean"] for cell in found.values()]))
    known = [float(fraction) for fraction, cell in found.items() if cell["mean"] >= KNOWN]
    return {"fractions": found, "area": area, "needs": min(known) if known else None}


def operations(profile: Profile, runs: Tree) -> Numbers:
    """Every operation against data."""
    found = {name: _against_data(cells) for name, cells in runs.items()}
    sizes = {"modulus": profile.modulus, "group": profile.group, "steps": profile.steps, "seeds": profile.seeds}
    return sizes | {"operations": found}


def variants(profile: Profile, runs: Tree) -> Numbers:
    """Every variant against data."""
    found = {name: _against_data(cells) for name, cells in runs.items()}
    return {"what": profile.studied_name, "steps": profile.steps, "seeds": profile.variant_seeds, "variants": found}


def times(profile: Profile, runs: Tree) -> Numbers:
    """Times of the operation that is studied against data."""
    found = _against_data(runs)
    return {"what": profile.studied_name, "steps": profile.long_steps, "seeds": profile.seeds} | found


def wrong_labels(profile: Profile, runs: Tree) -> Numbers:
    """Best test accuracy against the share of wrong labels."""
    found = {
        share: {"labels": round(float(share) * (some[0].experiment.examples or 0)), "best": best(some)}
        for share, some in runs.items()
    }
    return {
        "what": profile.studied_name,
        "fraction": profile.wrong_fraction,
        "steps": profile.long_steps,
        "wrong": found,
    }


def draw_operations(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.PAGE, 3.4)
    _accuracies(panels[0, 0], n["operations"])
    grouped = any(OPERATIONS[name].of_group for name in n["operations"])
    where = f"modulo {n['modulus']}" + (f", and ∘ in {n['group']}" if grouped else "")
    note = f"{where}; {count(n['steps'])} steps, mean of {count(n['seeds'], 'seed')}"
    style.note(figure, note)
    return figure


def draw_variants(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.PAGE, 3.2)
    _accuracies(panels[0, 0], n["variants"])
    note = f"{n['what']}, {count(n['steps'])} steps, mean of {count(n['seeds'], 'seed')}"
    style.note(figure, note)
    return figure


def _accuracies(panel: Any, curves: Numbers) -> None:
    for i, (name, found) in enumerate(curves.items()):
        points = [(float(fraction), cell["mean"]) for fraction, cell in found["fractions"].items()]
        look = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)]}
        panel.plot(*zip(*points, strict=True), label=name, linestyle="-" if i < len(SERIES) else "--", **look)
    panel.set(xlabel="share of the table that is trained on", ylabel="best test accuracy", ylim=(-0.02, 1.02))
    panel.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=6, handlelength=4)


def draw_times(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.8)
    panel = panels[0, 0]
    for name, color, marker, label in (
        ("memorized_at", TRAIN, MARKERS[1], "training set"),
        ("grokked_at", TEST, MARKERS[0], "test set"),
    ):
        points = [(float(f), t) for f, cell in n["fractions"].items() for t in cell[name] if t is not None]
        panel.scatter(*zip(*points, strict=True) if points else ([], []), color=color, marker=marker, s=14, label=label)
    never = [float(fraction) for fraction, cell in n["fractions"].items() if None in cell["grokked_at"]]
    panel.scatter(
        never, [n["steps"]] * len(never), color=TEST, marker="x", s=18, label="some seed not within the steps"
    )
    panel.set(xlabel="share of the table that is trained on", ylabel="steps to 99 %", yscale="log")
    panel.legend()
    style.note(figure, f"{n['what']}, at most {count(n['steps'])} steps, {count(n['seeds'], 'seed')}")
    return figure


def draw_wrong(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.6)
    panel = panels[0, 0]
    points = [(cell["labels"], accuracy) for cell in n["wrong"].values() for accuracy in cell["best"]]
    panel.scatter(*zip(*points, strict=True), color=TEST, s=14)
    panel.set(xlabel="wrong training labels", ylabel="best test accuracy", ylim=(-0.02, 1.02))
    panel.set_xscale("symlog", linthresh=10)
    panel.set_xlim(-2, 2 * max(labels for labels, _ in points))
    style.note(figure, f"{n['what']}, {100 * n['fraction']:g} % of the table, {count(n['steps'])} steps")
    return figure


STUDIES = (
    Study(
        "fig1b",
        "Less data takes longer",
        "Steps until 99 % of the training set and of the test set are right, against the share of the table. Each run "
        "ends there.",
        times,
        lambda profile: profile.time_runs(),
        draw_times,
    ),
    Study(
        "fig2",
        "Variants of training",
        "Best test accuracy within the steps, for one operation, under variants of the optimizer, at the rates that "
        "the paper gives. Below each has its best rate and decay.",
        variants,
        lambda profile: profile.variant_runs(),
        draw_variants,
    ),
    Study(
        "fig2b",
        "All operations",
        "Best test accuracy within the steps for every operation, against the share of its table that is trained on.",
        operations,
        lambda profile: profile.operation_runs(),
        draw_operations,
    ),
    Study(
        "fig6",
        "Wrong labels",
        "Best accuracy on the rightly labeled test set when some of the training labels are replaced by wrong ones. A "
        "run ends at 99 %.",
        wrong_labels,
        lambda profile: profile.wrong_runs(),
        draw_wrong,
    ),
)
