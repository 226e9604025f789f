"""When the vectors of neurons align, compared with when answers come."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import GREEN, PURPLE, TEST, TRAIN, VERMILLION
from modgrok.reproduce.figures import panels, seeds
from modgrok.reproduce.form import Ask, Table, study
from modgrok.reproduce.groups.sizes import FEW_PAIRS, task_of, trained

MEASURES = ("representation", "rank_one", "shared_vectors")


def course(run: Run) -> dict[str, Any]:
    """The curves, and the step at which the sharing of vectors has made half of its way."""
    history = run.history
    step, sharing = np.array(history["step"]), np.array(history["shared_vectors"], float)
    half = sharing[0] + (sharing.max() - sharing[0]) / 2
    names = ("step", "train_accuracy", "test_accuracy", *MEASURES)
    return {name: history[name] for name in names} | {"half_aligned_at": int(step[np.argmax(sharing >= half)])}


alignment = study(
    "alignment",
    "Vectors align before answers come",
    "Accuracy on training and test set beside the share of power in one representation, the nearness to rank one and "
    "the sharing of vectors, means over all neurons; seed 0. All three measures are 1 in the closed form.",
    runs=lambda s: trained(s, s.swept, record=MEASURES, snapshots=0),
    keep=("memorized_at", "grokked_at", course),
)


@alignment.figure()
def courses(t: Table) -> Any:
    firsts = t.where(seed=0)
    figure, shown = panels(*firsts["group"], height=2.6, note=f"seed 0 of {seeds(t)}", sharey=True)
    for panel, row in zip(shown, firsts, strict=True):
        for name, color in zip(
            ("train_accuracy", "test_accuracy", *MEASURES), (TRAIN, TEST, GREEN, PURPLE, VERMILLION), strict=True
        ):
            panel.plot(row.step[1:], row[name][1:], color=color, label=name.replace("_", " "))
        panel.set(xscale="log", xlabel="step", ylim=(-0.03, 1.03))
    figure.legend(*shown[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=6)
    return figure


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
