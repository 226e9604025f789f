"""When the vectors of neurons align, compared with when answers come; how much data, how many neurons and which
optimizer products in groups need."""

from itertools import pairwise
from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GREEN, MARKERS, PURPLE, SERIES, TEST, TRAIN, VERMILLION
from modgrok.reproduce.figures import named_lines, panels, seeds
from modgrok.reproduce.form import Ask, Line, Table, study
from modgrok.reproduce.groups.sizes import FEW_PAIRS, exact, task_of, trained, wider
from modgrok.text import count, number

MEASURES = {"representation": GREEN, "rank_one": PURPLE, "shared_vectors": VERMILLION}
CURVES = {"train_accuracy": TRAIN, "test_accuracy": TEST} | MEASURES


def course(run: Run) -> dict[str, Any]:
    """The curves, and the step at which the sharing of vectors has made half of its way."""
    history = run.history
    step, sharing = np.array(history["step"]), np.array(history["shared_vectors"], float)
    half = sharing[0] + (sharing.max() - sharing[0]) / 2
    half_aligned = {"half_aligned_at": int(step[np.argmax(sharing >= half)])}
    return {name: history[name] for name in ("step", *CURVES)} | half_aligned


alignment = study(
    "alignment",
    "Vectors align before answers come",
    "Accuracy on training and test set beside the share of power in one representation, the nearness to rank one and "
    "the sharing of vectors, means over all neurons; seed 0. All three measures are 1 in the closed form.",
    runs=lambda s: trained(s, s.swept, record=(*MEASURES,), snapshots=0),
    keep=("memorized_at", "grokked_at", course),
)
data = study(
    "data",
    "How much data a group needs",
    "Median steps to 99 % of the test set against the share of the table that is trained on, at one rate and decay for "
    "all groups; seeds that do not get there count as never.",
    runs=lambda s: trained(
        s, s.swept, fraction=list(s.swept_fractions), weight_decay=s.swept_decay, until=0, snapshots=0
    ),
    keep=("memorized_at", "grokked_at"),
)
widths = study(
    "widths",
    "How many neurons a group needs",
    "Accuracy on the test set at the end against the width in units of the exact network's.",
    runs=lambda s: wider(s, s.narrow, s.shares_of_width),
    keep=("memorized_at", "grokked_at", "test_accuracy"),
)
descent = study(
    "descent",
    "Gradient descent on groups",
    "Steps to 99 % of training and test set by full-batch gradient descent at its natural rate, without decay.",
    runs=lambda s: trained(
        s, s.descended, optimizer="gd", lr="auto", weight_decay=0.0, fraction=0.8, steps=s.descent_steps, snapshots=0
    ),
    keep=("memorized_at", "grokked_at", "test_accuracy"),
)


@alignment.figure()
def courses(t: Table) -> Any:
    firsts = t.where(seed=0)
    figure, shown = panels(*firsts["group"], height=2.6, note=f"seed 0 of {seeds(t)}", sharey=True)
    for panel, row in zip(shown, firsts, strict=True):
        for name, color in CURVES.items():
            panel.plot(row.step[1:], row[name][1:], color=color, label=name.replace("_", " "))
        panel.set(xscale="log", xlabel="step", ylim=(-0.03, 1.03))
    figure.legend(*shown[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=6)
    return figure


@data.figure(width=4.6)
def times_against_data(t: Table, panel: Any) -> str:
    named_lines(panel, medians(t))
    panel.set(yscale="log", xlabel="share of the table that is trained on", ylabel="steps to 99 % of the test set")
    panel.legend(fontsize=6)
    return f"medians of {seeds(t)}; within {count(max(t['steps']))} steps"


@widths.figure(width=4.6)
def accuracy_against_width(t: Table, panel: Any) -> str:
    for i, (group, cell) in enumerate(t.by("group").items()):
        line = cell.median("test_accuracy", "share")
        panel.plot(list(line), line.y, color=SERIES[i], label=f"{group}, exact width {exact(group)}")
        panel.scatter(cell["share"], cell["test_accuracy"], color=SERIES[i], marker=MARKERS[i], s=10)
    panel.set(xscale="log", xlabel="width / exact width", ylabel="test accuracy", ylim=(0, 1.03))
    panel.set_xticks(shares := t["share"].distinct(), [f"{share:g}" for share in shares])
    panel.minorticks_off()
    panel.legend(fontsize=6)
    return f"lines: medians, marks: {seeds(t)}, after {count(max(t['steps']))} steps"


def medians(t: Table) -> dict[str, Line]:
    """Median steps of each group at the fractions at which most seeds grok."""
    return {group: cell.median("grokked_at", "fraction").known() for group, cell in t.by("group").items()}


@alignment.claim("order of events")
def vectors_first(t: Table, ask: Ask) -> None:
    """Vectors align before the answers come."""
    judged = t.where("grokked_at > 0", lambda row: task_of(row.group).modulus ** 2 > FEW_PAIRS)
    ask.possible("some network groks", judged)
    cells = judged.by("group").items()
    times = {group: cell["half_aligned_at"] / cell["grokked_at"] for group, cell in cells}
    early = [value for some in times.values() for value in some]
    ask.that("in every network the sharing of vectors is half way up before the test set is known", max(early) < 1)
    ask.remark("in most at less than half of that time", 2 * sum(value < 0.5 for value in early) > len(early))
    ask.show({f"half aligned, in units of the time to 99 % of the test set, {g}": some for g, some in times.items()})


@data.claim("data")
def more_data_is_faster(t: Table, ask: Ask) -> None:
    """More data groks sooner, and too little never, as for Z_p."""
    lines = medians(t)
    ask.possible("two fractions grok in every group", all(len(line) >= 2 for line in lines.values()))
    rising = any(b > 1.1 * a for line in lines.values() for a, b in pairwise(line.y))
    ask.that("median times nowhere rise by more than a tenth with more data", not rising)
    never = [group for group, line in lines.items() if len(line) < len(t["fraction"].distinct())]
    ask.remark("every group has a fraction at which most seeds do not grok", len(never) == len(lines))
    for group, line in lines.items():
        ask.show({f"median steps, {group}": ", ".join(f"{x:g}: {number(y)}" for x, y in line.items())})


@data.claim("data")
def order_is_not_all(t: Table, ask: Ask) -> None:
    """Groups of the same order need different amounts of data: S4 more than D12, whose representations are smaller."""
    least = {group: min(line) for group, line in medians(t).items() if line}
    ask.possible("most seeds grok on both S4 and D12 at some fraction", {"S4", "D12"} <= set(least))
    ask.that("the least fraction at which most seeds grok is larger for S4", least["S4"] > least["D12"])
    ask.show({f"least fraction, {group}": number(value) for group, value in least.items()})


@widths.claim("width")
def exact_width_is_enough(t: Table, ask: Ask) -> None:
    """Training needs no more neurons than the exact network has."""
    at = t.where(share=1.0)
    ask.that("at the exact width every seed of every group groks", at["grokked_at"].whole())
    half = t.where(share=0.5)
    ask.show({"seeds that grok at the exact width": f"{len(at['grokked_at'].known())} of {len(at)}"})
    if half:
        ask.show({"seeds that grok at half of it": f"{len(half['grokked_at'].known())} of {len(half)}"})
    for (group, share), cell in t.by("group", "share").items():
        ask.show({f"accuracy, {group} at {share:g} of it": cell["test_accuracy"]}, number)
    ask.remark("with half as many some do not", not half or not half["grokked_at"].whole())


@descent.claim("optimizer")
def descent_too(t: Table, ask: Ask) -> None:
    """Gradient descent without decay groks groups too."""
    cells = t.by("group")
    most = all(2 * len(cell["grokked_at"].known()) > len(cell) for cell in cells.values())
    ask.that("most seeds of every group know 99 % of the test set", most)
    for group, cell in cells.items():
        ask.show({f"steps to 99 % of the test set, {group}": cell["grokked_at"]})
        ask.show({f"test accuracy at the end, {group}": cell["test_accuracy"]})
