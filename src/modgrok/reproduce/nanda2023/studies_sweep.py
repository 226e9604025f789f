"""Appendix: which shares of the data and which weight decays grok."""

from typing import Any

from modgrok.palette import MARKERS, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nanda2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study, Tree, results
from modgrok.text import count


def experiments(profile: Profile) -> Tree:
    """Every fraction at the usual decay, every decay at the usual fraction."""
    return {
        "fractions": {fraction: profile.swept(fraction=fraction) for fraction in profile.fractions},
        "decays": {decay: profile.swept(weight_decay=decay) for decay in profile.decays},
    }


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Steps to 99 % on training and test set, of every seed."""
    found: Numbers = {"modulus": profile.modulus, "steps": profile.sweep_steps, "seeds": profile.sweep_seeds}
    found |= {"fraction": profile.fraction, "decay": profile.decay}
    for name, cells in runs.items():
        found[name] = {
            value: {key: results(cell, key) for key in ("memorized_at", "grokked_at", "test_accuracy")}
            for value, cell in cells.items()
        }
    return found


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.8)
    for panel, name in zip(panels[0], ("fractions", "decays"), strict=True):
        for kind, color, marker in (("memorized_at", TRAIN, MARKERS[1]), ("grokked_at", TEST, MARKERS[0])):
            points = [(float(v), t) for v, cell in n[name].items() for t in cell[kind] if t is not None]
            panel.scatter(*zip(*points, strict=True) if points else ([], []), color=color, marker=marker, s=14)
        never = [float(value) for value, cell in n[name].items() if None in cell["grokked_at"]]
        panel.scatter(never, [n["steps"]] * len(never), color=TEST, marker="x", s=18)
        panel.set(yscale="log", ylabel="steps to 99 %")
    panels[0, 0].set(xlabel="share of the pairs that is trained on")
    panels[0, 1].set(xlabel="weight decay")
    style.letter(panels[0], (f"weight decay {n['decay']:g}", f"{100 * n['fraction']:g} % of the pairs"))
    note = f"n + m mod {n['modulus']}, {count(n['seeds'], 'seed')}; squares: training set, dots: test set"
    style.note(figure, f"{note}, crosses: some seed not within {count(n['steps'])} steps")
    return figure


STUDY = Study(
    "figA",
    "Which fractions and decays grok",
    "Steps until 99 % of the training set and of the test set are answered right, against the share of the pairs and "
    "against weight decay.",
    numbers,
    experiments,
    draw,
)
