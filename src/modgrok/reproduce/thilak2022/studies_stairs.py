"""Figs. 2 and 4: norms that grow in stairs, spikes of the loss, and what does away with both."""

from typing import Any

from modgrok.experiments import Run
from modgrok.palette import GRAY, SERIES
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.reproduce.thilak2022.profile import DOUBLE, EPSILONS, FIRST, Profile
from modgrok.reproduce.thilak2022.spikes import FLOOR, RISE, growth, spikes
from modgrok.text import count

SHOWN = (FIRST, f"ε = {EPSILONS[-1]:g}", DOUBLE)
"""Variants whose curves are drawn."""
POINTS = 600
"""Of a curve, at most; spikes are counted in all."""


def shown(profile: Profile) -> Tree:
    return {name: some for name, some in profile.variants().items() if name in SHOWN}


def curves(profile: Profile, runs: Tree) -> Numbers:
    """Of every variant that is drawn: loss and norm of the last layer, spikes, and how much it grew in them."""
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "variants": {name: [_run(run) for run in some] for name, some in runs.items()},
    }


def _run(run: Run) -> dict[str, Any]:
    h = run.history
    thinned = slice(None, None, max(1, len(h["step"]) // POINTS))
    names = ("step", "train_loss", "last_layer", "test_accuracy")
    grown = growth(h["step"], h["train_loss"], h["last_layer"])
    return {
        "curves": {name: h[name][thinned] for name in names},
        "spikes": spikes(h["step"], h["train_loss"]),
        "test_accuracy": results(run, "test_accuracy"),
        **grown,
    }


def counts(profile: Profile, runs: Tree) -> Numbers:
    """For every variant the number of spikes of each seed, and where training ended."""
    return {
        "modulus": profile.modulus,
        "steps": profile.steps,
        "variants": {name: [_counted(run) for run in some] for name, some in runs.items()},
    }


def _counted(run: Run) -> dict[str, Any]:
    h = run.history
    return {
        "spikes": len(spikes(h["step"], h["train_loss"])),
        "train_accuracy": results(run, "train_accuracy"),
        "test_accuracy": results(run, "test_accuracy"),
        "last_layer": h["last_layer"][-1],
    }


def transformer(profile: Profile, runs: Tree) -> Numbers:
    """Curves and counts of the transformer."""
    return {
        "modulus": 97,
        "width": 128,
        "steps": profile.transformer_steps,
        "variants": {name: [_run(run) | _counted(run) for run in some] for name, some in runs.items()},
    }


def draw_curves(n: Numbers) -> Any:
    drawn = [name for name in SHOWN if name in n["variants"]]
    figure, panels = style.grid(2, len(drawn), height=3.8, sharex=True, sharey="row")
    for column, name in zip(panels.T, drawn, strict=True):
        for i, run in enumerate(n["variants"][name]):
            look = {"color": SERIES[i % 8], "linewidth": 0.9}
            h = run["curves"]
            column[0].plot(h["step"], [max(value, FLOOR / 10) for value in h["train_loss"]], **look)
            column[1].plot(h["step"], h["last_layer"], label=f"seed {i}", **look)
        column[0].set_yscale("log")
        column[0].set_title(name)
        column[1].set_xlabel("step")
    panels[0, 0].set_ylabel("training loss")
    panels[1, 0].set_ylabel("norm of the last layer")
    panels[1, 0].legend(loc="lower right")
    style.note(figure, f"modulo {n['modulus']}, cross-entropy; losses below {FLOOR / 10:g} are drawn there")
    return figure


def draw_counts(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 3.2)
    panel, names = panels[0, 0], list(n["variants"])
    for row, name in enumerate(names):
        found = [one["spikes"] for one in n["variants"][name]]
        panel.plot(found, [row] * len(found), "o", color=SERIES[0] if any(found) else GRAY, alpha=0.6)
    panel.set_yticks(range(len(names)), names)
    panel.invert_yaxis()
    panel.set(xlabel=f"spikes in {count(n['steps'])} steps, a mark for each seed")
    panel.xaxis.get_major_locator().set_params(integer=True)
    panel.grid(axis="y", linewidth=0.3)
    style.note(figure, f"a spike: the training loss rises to {RISE} times its least value so far")
    return figure


STUDIES = (
    Study(
        "fig2",
        "Stairs of the norm, spikes of the loss",
        "Long after the training set is learnt, Adam's last layer grows in stairs, and at the end of each the loss "
        "shoots up: the slingshot. With a larger ε, or with logits and loss in 64 bits, it does not.",
        curves,
        shown,
        draw_curves,
    ),
    Study(
        "fig4",
        "What has spikes and what has none",
        "Spikes of the training loss for Adam with three ε, with logits and loss in 64 bits, for other optimizers, and "
        "with weight decay.",
        counts,
        lambda profile: profile.variants(),
        draw_counts,
    ),
    Study(
        "figT",
        "The transformer of the paper",
        "Division modulo 97 by the transformer of Power et al., in batches of 512.",
        transformer,
        lambda profile: profile.transformers(),
        draw_curves,
    ),
)
