"""Wrong labels in the training set: what is learnt by heart, what is understood, by which neurons (Doshi et al.)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.ipr import ipr
from modgrok.measures.spectrum import power_spectrum
from modgrok.networks import outputs, two_layer
from modgrok.palette import GRAY, GREEN, ORANGE, SKY, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.plot.phase_diagram import PhaseDiagram, patches, phase_diagram
from modgrok.reproduce.followups.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.text import count, number, percent

PHASES = {
    "coexistence": GREEN,
    "partial inversion": SKY,
    "full inversion": TEST,
    "memorization": ORANGE,
    "forgetting": GRAY,
}
KNOWN = 0.9
SLACK = 0.05
"""The share of the training set above that of its right labels from which wrong ones count as learnt."""
SHARES = tuple(np.round(np.linspace(0, 0.95, 20), 2).tolist())
"""Of the neurons, taken away."""


def phase(train: float, test: float, wrong: float) -> str:
    """The phase by the accuracies on the training set, wrong labels included, and on the test set."""
    if test < KNOWN:
        return "memorization" if train >= KNOWN else "forgetting"
    if train >= KNOWN and train >= 1 + SLACK - wrong:
        return "coexistence"
    return "partial inversion" if train >= 1 + SLACK - wrong else "full inversion"


def grid(profile: Profile) -> Tree:
    """By decay, fraction and share of wrong labels."""
    return [
        [[profile.corrupted(fraction, wrong, decay) for wrong in profile.wrong] for fraction in profile.fractions]
        for decay in profile.decays
    ]


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Accuracies and phases."""
    found = results(runs, "train_accuracy", "test_accuracy")
    phases = [
        [[phase(train, test, wrong) for (train, test), wrong in zip(row, profile.wrong, strict=True)] for row in rows]
        for rows in found
    ]
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "steps": profile.steps,
        "fractions": profile.fractions,
        "wrong": profile.wrong,
        "decays": profile.decays,
        "accuracies": found,
        "phases": phases,
        "counts": {
            str(decay): {name: sum(row.count(name) for row in rows) for name in PHASES}
            for decay, rows in zip(profile.decays, phases, strict=True)
        },
    }


def pruned(profile: Profile) -> Tree:
    return [profile.corrupted(*profile.pruned, seed=seed) for seed in range(profile.seeds)]


def pruning(profile: Profile, runs: list[Run]) -> Numbers:
    """Accuracies after a share of the neurons is taken away, those with the least IPR first and those with the most."""
    fraction, wrong, decay = profile.pruned
    return {
        "modulus": profile.modulus,
        "width": profile.width,
        "fraction": fraction,
        "wrong": wrong,
        "decay": decay,
        "shares": SHARES,
        "seeds": [{first: _pruned(run, first) for first in ("low", "high")} for run in runs],
    }


def _pruned(run: Run, first: str) -> list[tuple[float, ...]]:
    """Accuracies on the training set, on the test set, and on the wrong labels alone."""
    network, examples = run.network, run.experiment.split.examples_of(run.task)
    w_in, w_out = np.asarray(network.w_in), np.asarray(network.w_out)
    blocks = np.concatenate([w_in, w_out.T[:, None]], axis=1)
    ratios = np.mean([np.nan_to_num(ipr(power_spectrum(blocks[:, [i]]))) for i in range(blocks.shape[1])], axis=0)
    order = np.argsort(ratios if first == "low" else -ratios)
    wrong = examples.trained & (examples.labels != run.task.table.ravel())
    found = []
    for share in SHARES:
        kept = np.sort(order[int(share * len(order)) :])
        some = two_layer(w_in[kept], w_out[:, kept], parametrization="standard")
        right = np.asarray(outputs(some, examples.inputs)).argmax(axis=1) == examples.labels
        found.append(tuple(float(right[chosen].mean()) for chosen in (examples.trained, ~examples.trained, wrong)))
    return found


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, len(n["decays"]), height=2.4, sharey=True)
    diagrams = []
    for panel, decay, rows in zip(panels[0], n["decays"], n["phases"], strict=True):
        named = tuple(tuple(row) for row in rows)
        diagrams.append(PhaseDiagram("wrong labels", "", tuple(n["wrong"]), tuple(n["fractions"]), named))
        phase_diagram(diagrams[-1], ax=panel, phases=PHASES)
        panel.get_legend().remove()
        panel.set_title(f"weight decay {number(decay)}")
    panels[0, 0].set_ylabel("fraction trained on, α")
    figure.legend(handles=patches(diagrams, PHASES), loc="outside upper center", ncols=len(PHASES))
    style.note(figure, f"n + m mod {n['modulus']}, N = {n['width']}, {count(n['steps'])} steps of AdamW, no prefactors")
    return figure


def draw_pruning(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7, sharey=True)
    for panel, first in zip(panels[0], ("low", "high"), strict=True):
        for i, found in enumerate(n["seeds"]):
            for place, (color, label) in enumerate(
                ((TRAIN, "training set"), (TEST, "test set"), (VERMILLION, "wrong labels"))
            ):
                curve = [cell[place] for cell in found[first]]
                panel.plot(n["shares"], curve, color=color, label=None if i else label)
        panel.axhline(1 - n["wrong"], color=TRAIN, linestyle=":", linewidth=0.8, label="share of right labels")
        panel.set(xlabel="share of the neurons taken away", ylim=(-0.02, 1.04))
    style.letter(panels[0], ("least IPR first", "largest IPR first"))
    panels[0, 0].set_ylabel("accuracy")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    described = f"{percent(n['wrong'], 0)} wrong labels, α = {number(n['fraction'])}, weight decay {number(n['decay'])}"
    style.note(figure, f"n + m mod {n['modulus']}, N = {n['width']}; {described}; {count(len(n['seeds']), 'seed')}")
    return figure


STUDIES = (
    Study(
        "figC",
        "Wrong labels: five phases",
        "What becomes of networks with a share of wrong labels in the training set. Coexistence: they are learnt by "
        "heart and the rule is understood; inversion: the rule alone, so that the training set is answered worse than "
        "the test set; memorization: labels alone; forgetting: neither. The rule counts as understood from a test "
        "accuracy of 90 % on; inversion is full where the training accuracy is below 1.05 less the share of wrong "
        "labels, partial where it is not but below 90 %. (With a tenth of wrong labels both definitions of the authors "
        "apply to 90 to 95 %; here that is full inversion.)",
        numbers,
        grid,
        draw,
    ),
    Study(
        "figP",
        "Which neurons know what",
        "Accuracies on the training set, on its wrong labels alone and on the test set after neurons are taken away, "
        "in the order of their IPR.",
        pruning,
        pruned,
        draw_pruning,
    ),
)
