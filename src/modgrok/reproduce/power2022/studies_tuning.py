"""Fig. 2 left once more: every variant at the best of the same rates and decays."""

from typing import Any

from modgrok.measures.trials import best_trial
from modgrok.palette import EMPTY, GRAY, MARKERS, TEST, TRAIN
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, edges, results
from modgrok.reproduce.power2022.profile import Profile
from modgrok.reproduce.power2022.studies_data import best
from modgrok.text import count, number, percent

KINDS = {"without": TRAIN, "with": TEST}
"""Of trials: without decay and with some."""


def _numbers(profile: Profile, runs: Tree) -> Numbers:
    """Of every variant all trials, and the best of those without and of those with decay."""
    first = next(iter(runs.values()))[0][0].experiment
    return {
        "what": profile.studied_name,
        "fraction": profile.tuned_fraction,
        "steps": first.steps,
        "seeds": profile.seeds,
        "variants": {name: _chosen(some) for name, some in runs.items()},
    }


def _chosen(runs: Tree) -> Numbers:
    """A trial counts as its worst seed does."""
    settings = [(seeds[0].experiment.lr, seeds[0].experiment.weight_decay) for seeds in runs]
    trials: list[Numbers] = [
        {"lr": lr, "decay": decay, "best": min(accuracies), "grokked_at": None if None in times else max(times)}
        for (lr, decay), accuracies, times in zip(settings, map(best, runs), results(runs, "grokked_at"), strict=True)
    ]
    found: Numbers = {"trials": trials}
    for kind in KINDS:
        some = [trial for trial in trials if (trial["decay"] > 0) == (kind == "with")]
        chosen = some[best_trial([(trial["grokked_at"], trial["best"]) for trial in some])]
        found[kind] = chosen | {"edge": edges(chosen, some)}
    return found


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, style.PAGE, 2.6, sharey=True)
    names = list(n["variants"])
    for row, found in enumerate(n["variants"].values()):
        for kind, color in KINDS.items():
            some = [trial for trial in found["trials"] if (trial["decay"] > 0) == (kind == "with")]
            for panel, measure in zip(panels[0], ("best", "grokked_at"), strict=True):
                reached = [trial[measure] for trial in some if trial[measure] is not None]
                panel.plot(reached, [row] * len(reached), "|", color=color, alpha=0.5)
                if (chosen := found[kind][measure]) is not None:
                    look = {"marker": MARKERS[kind == "without"], "linestyle": "none", "markersize": 4}
                    panel.plot(chosen, row, color=color, label=None if row else f"best {kind} decay", **look)
        text = f"rate {number(found['with']['lr'])}, decay {number(found['with']['decay'])}"
        place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "va": "center"}
        panels[0, 1].annotate(text, (1, row), (4, 0), fontsize=6, color=GRAY, **place)
    panels[0, 0].set_yticks(
        range(len(names)), [name.removeprefix("Adam, ").replace("AdamW", "decay") for name in names]
    )
    panels[0, 0].set(ylim=(len(names) - 0.5, -0.5), xlabel="best test accuracy", xlim=(-0.02, 1.02))
    panels[0, 1].set(xlabel="steps to 99 % of the test set", xlim=(0, n["steps"]))
    panels[0, 1].locator_params(axis="x", nbins=5)
    panels[0, 1].xaxis.set_major_formatter(lambda value, _: number(value))
    for panel in panels[0]:
        panel.grid(axis="y", color=EMPTY)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    trials = count(len(n["variants"][names[0]]["trials"]), "trial")
    what = f"{n['what']}, {percent(n['fraction'], 0)} of the table, at most {count(n['steps'])} steps, "
    what += f"the worst of {count(n['seeds'], 'seed')}" if n["seeds"] > 1 else "one seed"
    style.note(figure, f"{what}; lines: its {trials}; beside: the best with decay")
    return figure


STUDIES = (
    Study(
        "fig2t",
        "Every variant at its best rate and decay",
        "The same variants, each with the same learning rates and weight decays, without decay among them: no variant "
        "is compared at settings that suit another better. A trial counts as its worst seed does; of the trials the "
        "first counts that knows 99 % of the test set or, where none does, the one with the best accuracy. Strengths "
        "of dropout and noise are the paper's.",
        _numbers,
        lambda profile: profile.tuned_runs(),
        draw,
    ),
    Study(
        "fig2u",
        "Decay to zero and to the start, for longer",
        "Minibatches once more, with decay that leads to zero and with decay that leads to the initial weights: each "
        "at the best of the same rates and decays, and for as long as the times are studied. A trial counts as its "
        "worst seed does.",
        _numbers,
        lambda profile: profile.center_runs(),
        draw,
    ),
)
