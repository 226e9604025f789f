"""Fig. 4: inverse participation ratio beside accuracy under AdamW, in four fitted regimes."""

from typing import Any

import numpy as np

from modgrok.closed_form import solve
from modgrok.experiments import Experiment, Run
from modgrok.measures import average_ipr
from modgrok.reproduce import style
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.regimes import fit_regimes
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.trained import addition_by_adamw
from modgrok.reproduce.values import plain
from modgrok.tasks import task


def experiments(profile: Profile) -> list[Experiment]:
    return [addition_by_adamw(profile, seed) for seed in profile.seed_range]


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Curves, the broken line fitted to the ratio, and where accuracy rises, for every seed."""
    found = [runs[experiment] for experiment in experiments(profile)]
    closed = solve(task("n + m", profile.modulus), "waves", profile.width)
    return plain(
        {
            "modulus": profile.modulus,
            "width": profile.width,
            "fraction": found[0].experiment.fraction,
            "learning_rate": found[0].experiment.lr,
            "weight_decay": found[0].experiment.weight_decay,
            "closed_form_ipr": float(average_ipr(closed.w_in).mean),
            "runs": [_run(run, runs.result(run.experiment)) for run in found],
        }
    )


def _run(run: Run, result: dict[str, Any]) -> dict[str, Any]:
    history = run.history
    step = history["step"].astype(np.float64)
    regimes = fit_regimes(step, history["ipr"])
    return {
        "curves": {name: history[name] for name in ("step", "ipr", "train_accuracy", "test_accuracy")},
        "memorized_at": result["memorized_at"],
        "grokked_at": result["grokked_at"],
        "bends": np.concatenate([step[:1], regimes.breaks, step[-1:]]),
        "bend_values": regimes.values,
        "slopes": regimes.slopes,
        "fit_error": regimes.error,
        "start": history["ipr"][0],
        "end": history["ipr"][-1],
        "test_accuracy_end": history["test_accuracy"][-1],
    }


def draw(n: Numbers) -> Any:
    figure, grid = style.axes(2, 1, height=4.2, sharex=True, height_ratios=(1.6, 1))
    above, below = grid[:, 0]
    first = n["runs"][0]
    for i, run in enumerate(n["runs"]):
        c = run["curves"]
        faint = {} if i == 0 else {"alpha": 0.3, "linewidth": 0.8}
        above.plot(c["step"], c["ipr"], color=style.PURPLE, label="network" if i == 0 else None, **faint)
        for name, colour in (("train", style.TRAIN), ("test", style.TEST)):
            below.plot(c["step"], c[f"{name}_accuracy"], color=colour, label=name if i == 0 else None, **faint)
    above.plot(first["bends"], first["bend_values"], color="black", linewidth=0.9, marker=".", label="fitted regimes")
    above.axhline(n["closed_form_ipr"], color=style.GREEN, linestyle="--", label="closed form")
    for name, left, right in zip(("i", "ii", "iii", "iv"), first["bends"][:-1], first["bends"][1:], strict=True):
        for panel in (above, below):
            if left:
                panel.axvline(left, color=style.GREY, linewidth=0.6, linestyle=":")
        above.annotate(
            f"({name})", ((left + right) / 2, 0.9), xycoords=("data", "axes fraction"), ha="center", color=style.GREY
        )
    above.set_ylabel("average IPR")
    above.legend(loc="center right")
    below.legend(loc="center right")
    below.set_ylabel("accuracy")
    below.set_xlabel("step")
    below.set_xlim(left=0)
    style.letter((above, below), ("inverse participation ratio of $W^{(1)}$", "accuracy"))
    style.note(
        figure,
        f"n + m mod {n['modulus']}, N = {n['width']}, α = {n['fraction']}, AdamW with rate "
        f"{n['learning_rate']}, weight decay "
        f"{n['weight_decay']}; bold: seed 0, faint: {len(n['runs']) - 1} more",
    )
    return figure


STUDY = Study(
    "fig4",
    "How periodic the weights are",
    "The average inverse participation ratio of the first layer's Fourier transform, about 1/p for random weights and "
    "1/4 for a pure real wave in both halves of a row. The dashed line is the closed form. The four regimes "
    "(slow, transition, fast, "
    "saturated) are the pieces of the best continuous broken line, not drawn by hand.",
    experiments,
    numbers,
    draw,
)
