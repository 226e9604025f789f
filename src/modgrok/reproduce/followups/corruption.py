"""Wrong labels in the training set: what is learned by heart, what is understood, by which neurons (Doshi et al.)."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures.ipr import ipr
from modgrok.measures.spectrum import power_spectrum
from modgrok.networks import outputs, two_layer
from modgrok.palette import GRAY, GREEN, ORANGE, SKY, TEST, TRAIN, VERMILLION
from modgrok.plot import style
from modgrok.plot.phase_diagram import patches
from modgrok.reproduce.figures import modular, phase_map, seeds
from modgrok.reproduce.form import Ask, Settings, Sizes, Table, runs, study
from modgrok.text import count, number, percent

PHASES = {
    "coexistence": GREEN,
    "partial inversion": SKY,
    "full inversion": TEST,
    "memorization": ORANGE,
    "forgetting": GRAY,
}
KNOWN, KILLED, FORGOTTEN = 0.9, 0.5, 0.25
SLACK = 0.05
"""The share of the training set above that of its right labels from which wrong ones count as learned."""
SHARES = tuple(np.round(np.linspace(0, 0.95, 20), 2).tolist())
"""Of the neurons, taken away."""


def corrupted(s: Sizes) -> Settings:
    """As Doshi et al. train: no prefactors, AdamW with rate 0.01."""
    network = {"task": "n + m", "modulus": s.modulus, "width": s.width, "parametrization": "standard"}
    return network | {"optimizer": "adamw", "lr": 0.01, "steps": s.steps, "evaluations": 20, "snapshots": 0}


def phase(train: float, test: float, wrong: float) -> str:
    """The phase by the accuracies on the training set, wrong labels included, and on the test set."""
    if test < KNOWN:
        return "memorization" if train >= KNOWN else "forgetting"
    if train >= KNOWN and train >= 1 + SLACK - wrong:
        return "coexistence"
    return "partial inversion" if train >= 1 + SLACK - wrong else "full inversion"


def phase_of(run: Run) -> dict[str, str]:
    train, test = (float(run.history[name][-1]) for name in ("train_accuracy", "test_accuracy"))
    return {"phase": phase(train, test, run.experiment.wrong_labels or 0.0)}


def without_neurons(run: Run) -> dict[str, Any]:
    """Accuracies on the training set, on the test set and on the wrong labels alone after shares of the neurons are
    taken away, those with the least IPR first (`low`) and those with the most (`high`)."""
    network, examples = run.network, run.experiment.split.examples_of(run.task)
    w_in, w_out = np.asarray(network.w_in), np.asarray(network.w_out)
    blocks = np.concatenate([w_in, w_out.T[:, None]], axis=1)
    ratios = np.mean([np.nan_to_num(ipr(power_spectrum(blocks[:, [i]]))) for i in range(blocks.shape[1])], axis=0)
    wrong = examples.trained & (examples.labels != run.task.table.ravel())

    def accuracies(kept: np.ndarray) -> list[float]:
        some = two_layer(w_in[kept], w_out[:, kept], parametrization="standard")
        right = np.asarray(outputs(some, examples.inputs)).argmax(axis=1) == examples.labels
        return [float(right[chosen].mean()) for chosen in (examples.trained, ~examples.trained, wrong)]

    orders = {"low": np.argsort(ratios), "high": np.argsort(-ratios)}
    left = {first: [np.sort(order[int(share * len(order)) :]) for share in SHARES] for first, order in orders.items()}
    return {first: [*map(accuracies, some)] for first, some in left.items()}


diagram = study(
    "figC",
    "Wrong labels: five phases",
    "How networks end up when a share of the training labels is wrong. Coexistence: the wrong labels are memorized "
    "and the rule is learned; inversion: the rule alone, so that the training set is answered worse than the test set; "
    "memorization: labels alone; forgetting: neither. The rule counts as learned from a test accuracy of 90 % on; "
    "inversion is full where the training accuracy is below 1.05 minus the share of wrong labels, else partial where "
    "it is below 90 %. (With a tenth of wrong labels both definitions of the authors apply to 90 to 95 %; here that "
    "is full inversion.)",
    runs=lambda s: runs(corrupted(s), weight_decay=[*s.decays], fraction=[*s.fractions], wrong_labels=[*s.wrong]),
    keep=("train_accuracy", "test_accuracy", phase_of),
)
pruned = study(
    "figP",
    "Which neurons know what",
    "Accuracy on the training set, on its wrong labels alone and on the test set after neurons are removed in order "
    "of their IPR.",
    runs=lambda s: runs(corrupted(s) | s.pruned, seed=range(s.seeds)),
    keep=without_neurons,
)


@diagram.figure()
def phases_by_decay(t: Table) -> Any:
    figure, grid = style.grid(1, len(t["weight_decay"].distinct()), height=2.4, sharey=True)
    drawn = []
    for panel, (decay, some) in zip(grid[0], t.by("weight_decay").items(), strict=True):
        drawn.append(phase_map(panel, some, ("wrong_labels", "wrong labels"), ("fraction", ""), PHASES))
        panel.set_title(f"weight decay {number(decay)}")
    grid[0, 0].set_ylabel("fraction trained on, α")
    figure.legend(handles=patches(drawn, PHASES), loc="outside upper center", ncols=len(PHASES))
    sizes = f"N = {t.one('width')}, {count(t.one('steps'))} steps"
    style.note(figure, f"{modular(t)}, {sizes} of AdamW, no prefactors")
    return figure


@pruned.figure("least IPR first", "largest IPR first", height=2.7, sharey=True)
def accuracies_of_the_rest(t: Table, *shown: Any) -> str:
    wrong, first = t.one("wrong_labels"), t.first
    described = f"{percent(wrong, 0)} wrong labels, α = {number(first.fraction)}, weight decay "
    curves = {"training set": TRAIN, "test set": TEST, "wrong labels": VERMILLION}
    for panel, order in zip(shown, ("low", "high"), strict=True):
        for row in t:
            for (label, color), curve in zip(curves.items(), zip(*row[order], strict=True), strict=True):
                panel.plot(SHARES, curve, color=color, label=None if row.seed else label)
        panel.axhline(1 - wrong, color=TRAIN, linestyle=":", linewidth=0.8, label="share of right labels")
        panel.set(xlabel="share of the neurons taken away", ylim=(-0.02, 1.04))
    shown[0].set_ylabel("accuracy")
    shown[0].figure.legend(*shown[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
    return f"{modular(t)}, N = {first.width}; {described}{number(first.weight_decay or 0)}; {seeds(t)}"


@diagram.claim("2310.13061")
def five_phases(t: Table, ask: Ask) -> None:
    """With wrong labels there are five phases: coexistence, partial and full inversion, memorization, forgetting."""
    counts = {name: t["phase"].count(name) for name in PHASES}
    for name, found in counts.items():
        ask.that(f"some network shows {name}", found)
    ask.remark("every phase occurs more than once", min(counts.values()) > 1)
    ask.yes("All five occur.")
    ask.show({f"networks, {name}": str(found) for name, found in counts.items()})


@diagram.claim("2310.13061")
def decay_inverts(t: Table, ask: Ask) -> None:
    """Weight decay makes the network forget wrong labels and keep the rule."""
    shares = {}
    for decay, some in t.by("weight_decay").items():
        inverted = len(some.where(phase=("partial inversion", "full inversion")))
        shares[decay] = inverted, inverted + some["phase"].count("coexistence")
    without, *_ = found = [*shares.values()]
    most = next((share for share in reversed(found) if share[1]), (0, 0))
    ask.yes(
        f"Of the networks that know the test set, {without[0]} of {without[1]} are inverted without decay, and "
        f"{most[0]} of {most[1]} at the largest that leaves any."
    )
    more = without[1] and most[1] and most[0] / most[1] - without[0] / without[1] >= 0.2
    ask.that("most that know the test set are inverted at the largest decay at which any does", 2 * most[0] > most[1])
    ask.that("at least a fifth more of them than without decay", more)
    for decay, (inverted, of) in shares.items():
        ask.show({f"inverted of those that know the test set, decay {decay}": f"{inverted} of {of}"})


@pruned.claim("2310.13061")
def pruning(t: Table, ask: Ask) -> None:
    """Neurons of one frequency know the rule, the others the wrong labels: taking these away inverts the network."""
    whole = "; ".join(", ".join(map(percent, row.low[0])) for row in t)
    ask.show({"whole networks: training set, test set, wrong labels": whole})
    some = t.where(lambda r: r.low[0][2] >= KILLED)
    ask.possible(f"some network knows {KILLED} of its wrong labels or more", some)
    inverts = some.each(
        lambda r: any(wrong <= FORGOTTEN and test >= KNOWN and test > train for train, test, wrong in r.low)
    )
    kills = some.each(lambda r: any(test < KILLED < train for train, test, _ in r.high))
    ask.that(
        f"in most networks that know {KILLED} of their wrong labels, without some share of the neurons of least IPR at "
        f"most {FORGOTTEN} of these labels are known and the test accuracy is {KNOWN} or more and above the training "
        f"accuracy, and without some share of those of largest IPR the test accuracy is below {KILLED}, the training "
        "accuracy above",
        2 * sum(a and b for a, b in zip(inverts, kills, strict=True)) > len(some),
    )
    ask.show({"seeds that are inverted": f"{sum(inverts)} of {len(some)}"})
    ask.show({"seeds that lose the test set first": f"{sum(kills)} of {len(some)}"})
    left = some.each(lambda r: min((wrong for _, test, wrong in r.low if test >= KNOWN), default=None))
    ask.show({"least share of wrong labels known while 90 % of the test set is": left}, percent)
