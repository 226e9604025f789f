"""Fig. 6: phase diagrams. Every place is a network with its own rates, trained beside all others in batches."""

from typing import Any

from modgrok.experiments import Experiment
from modgrok.plot import style
from modgrok.plot.phase_diagram import PHASES, PhaseDiagram, patches, phase, phase_diagram
from modgrok.reproduce.liu2022.profile import EMBEDDING_RATE, PERMUTATION_PAIRS, PERMUTATIONS, Profile
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.text import count

ONE_HOT = {"task": "add:10:unordered", "loss": "cross_entropy"}
"""Diagram (c): the sums as 19 classes."""
Grid = list[list[list[Experiment]]]


def rates(profile: Profile) -> Grid:
    """(a): rows are rates of the embedding, columns rates of the decoder."""
    values = profile.diagram_rates
    return [[profile.diagram(lr=lr, embedding_lr=embedding_lr) for lr in values] for embedding_lr in values]


def decays(profile: Profile, **more: Any) -> Grid:
    """(b), (c): rows are weight decays of the decoder, columns its rates."""
    return [
        [
            profile.diagram(lr=lr, embedding_lr=EMBEDDING_RATE, weight_decay=decay, **more)
            for lr in profile.decoder_rates
        ]
        for decay in profile.decays
    ]


def permutations(profile: Profile) -> Grid:
    """(d): the same axes for products of permutations."""
    fixed: dict[str, Any] = {"pairs": PERMUTATION_PAIRS, "embedding_lr": EMBEDDING_RATE} | PERMUTATIONS
    rates, decays = profile.group_rates, profile.group_decays
    return [[profile.diagram(lr=lr, weight_decay=decay, **fixed) for lr in rates] for decay in decays]


def _classified(profile: Profile, grid: Tree, x: tuple[str, Any], y: tuple[str, Any]) -> Numbers:
    cells = [[[_phase(run, profile.lag) for run in cell] for cell in row] for row in grid]
    common = [[max(PHASES, key=cell.count) for cell in row] for row in cells]
    runs = [run for row in grid for cell in row for run in cell]
    return {
        "x": x[0],
        "y": y[0],
        "x_values": x[1],
        "y_values": y[1],
        "phases": common,
        "cells": cells,
        "counts": {name: sum(cell.count(name) for row in cells for cell in row) for name in PHASES},
        "runs": len(runs),
        "run_steps": sum(run.result["steps"] for run in runs),
    }


def _phase(run: Any, lag: int) -> str:
    return phase(run.result["memorized_at"], run.result["grokked_at"], lag)


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Diagrams (a) and (b)."""
    decoder = ("decoder learning rate", profile.decoder_rates)
    both = profile.diagram_rates
    return {
        "steps": profile.diagram_steps,
        "lag": profile.lag,
        "seeds": profile.diagram_seeds,
        "a": _classified(profile, runs["a"], ("decoder learning rate", both), ("embedding learning rate", both)),
        "b": _classified(profile, runs["b"], decoder, ("decoder weight decay", profile.decays)),
    }


def cross_entropy(profile: Profile, runs: Tree) -> Numbers:
    """Diagram (c)."""
    decoder, decay = ("decoder learning rate", profile.decoder_rates), ("decoder weight decay", profile.decays)
    found = _classified(profile, runs, decoder, decay)
    return {"steps": profile.diagram_steps, "lag": profile.lag, "seeds": profile.diagram_seeds, "c": found}


def of_permutations(profile: Profile, runs: Tree) -> Numbers:
    """Diagram (d)."""
    decoder, decay = ("decoder learning rate", profile.group_rates), ("decoder weight decay", profile.group_decays)
    found = _classified(profile, runs, decoder, decay)
    return {"steps": profile.diagram_steps, "lag": profile.lag, "seeds": profile.diagram_seeds, "d": found}


def draw(n: Numbers) -> Any:
    shown = [name for name in ("a", "b", "c", "d") if name in n]
    figure, panels = style.grid(1, len(shown), style.PAGE if len(shown) > 1 else style.COLUMN, 2.9)
    diagrams = []
    for panel, name in zip(panels[0], shown, strict=True):
        found = n[name]
        rows = tuple(tuple(row) for row in found["phases"])
        values = tuple(found["x_values"]), tuple(found["y_values"])
        diagrams.append(PhaseDiagram(found["x"], found["y"], *values, rows))
        phase_diagram(diagrams[-1], ax=panel)
        panel.get_legend().remove()
        panel.set_title(f"({name}) {TITLES[name]}")
    figure.legend(handles=patches(diagrams), loc="outside upper center", ncols=4)
    seeds = "one seed" if n["seeds"] == 1 else f"the commonest of {n['seeds']} seeds"
    steps, lag = count(n["steps"]), count(n["lag"])
    pairs = "24 of 36 pairs" if "d" in n else "45 of 55 pairs"
    style.note(figure, f"{pairs}, at most {steps} steps, {seeds}; grokking: test {lag} steps or more after training")
    return figure


TITLES = {"a": "squared error, two rates", "b": "squared error, weight decay", "c": "cross-entropy, weight decay"}
TITLES |= {"d": "products of permutations, weight decay"}
STUDIES = (
    Study(
        "fig6",
        "Comprehension, grokking, memorization, confusion",
        "What becomes of the toy, against (a) the learning rates of embedding and decoder and (b) the decoder's rate "
        "and weight decay. Comprehension: training and test accuracy above 90 % at about the same time; grokking: the "
        "test much later; memorization: training alone; confusion: neither.",
        numbers,
        lambda profile: {"a": rates(profile), "b": decays(profile)},
        draw,
    ),
    Study(
        "fig6c",
        "The phases with cross-entropy",
        "The same with the 19 sums as classes and cross-entropy.",
        cross_entropy,
        lambda profile: decays(profile, **ONE_HOT),
        draw,
    ),
    Study(
        "fig6d",
        "The phases for permutations",
        "The six permutations of three things as learnable matrices of 3 × 3, which are multiplied; all weights start "
        "as in (a) to (c), and nothing but weight decay is penalized (the paper starts at a tenth and "
        "adds an L1 term).",
        of_permutations,
        permutations,
        draw,
    ),
)
