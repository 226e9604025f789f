"""A study for each task: every contestant's search, and the contestants at their best."""

from functools import partial
from operator import methodcaller
from typing import Any

from modgrok.measures.trials import best_trial
from modgrok.palette import BLUE, EMPTY, GRAY, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.accelerators.profile import BASELINE, KNOWN, Profile
from modgrok.reproduce.nested import Numbers, Study, Tree, median_time, results
from modgrok.text import count, number, percent

TITLES = {"figN": "n + m", "figP": "n · m", "figG": "The symmetric group"}


def numbers(study: str, profile: Profile, runs: Tree) -> Numbers:
    """Of every contestant: steps to the threshold of each trial with seed 0, and of the best trial with the others."""
    return {
        "task": profile.tasks[study],
        "steps": profile.steps,
        "contestants": {name: judge_trials(profile.trials(name), _times(some)) for name, some in runs.items()},
    }


def _times(trials: Tree) -> list[list[tuple[int | None, float]]]:
    """Steps until the test set is known, and the last test accuracy."""
    return [results(seeds, "grokked_at", "test_accuracy") for seeds in trials]


def judge_trials(trials: list[tuple[float, float]], found: list[list[tuple[int | None, float]]]) -> dict[str, Any]:
    """The first seed chooses the trial. The other seeds say how fast that is, so that nobody profits from many
    tries."""
    best = best_trial([seeds[0] for seeds in found])
    return {
        "trials": [
            {"lr": lr, "decay": decay, "time": seeds[0][0]} for (lr, decay), seeds in zip(trials, found, strict=True)
        ],
        "lr": trials[best][0],
        "decay": trials[best][1],
        "times": [time for time, _ in found[best][1:]],
        "accuracies": [accuracy for _, accuracy in found[best][1:]],
    }


def draw(n: Numbers) -> Any:
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, panels = style.grid(1, 1, style.PAGE, 2.9)
    panel, names = panels[0, 0], list(n["contestants"])
    for row, name in enumerate(names):
        found = n["contestants"][name]
        tried = [trial["time"] for trial in found["trials"] if trial["time"] is not None]
        panel.plot(tried, [row] * len(tried), "|", color=GRAY, alpha=0.6, markersize=9)
        times = [time for time in found["times"] if time is not None]
        color = VERMILLION if name == BASELINE else BLUE
        panel.plot(times, [row] * len(times), "o", color=color, markersize=4)
        missing = len(found["times"]) - len(times)
        text = f"rate {number(found['lr'])}, decay {number(found['decay'])}"
        text += f"; {missing} of {len(found['times'])} seeds never" if missing else ""
        panel.annotate(text, (1.01, row), xycoords=("axes fraction", "data"), fontsize=6.5, va="center", color=GRAY)
    base = median_time(n["contestants"][BASELINE]["times"])
    style.mark(panel, base, f"tuned {BASELINE}")
    panel.set_yticks(range(len(names)), names)
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set(xscale="log", xlabel=f"steps until the test accuracy is {percent(KNOWN, 0)}")
    panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panel.xaxis.set_major_formatter(lambda value, _: number(value))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.grid(axis="y", color=EMPTY)
    described = ", ".join(f"{key} {value}" for key, value in n["task"].items())
    style.note(
        figure,
        f"{described}; at most {count(n['steps'])} steps; lines: the trials of seed 0, of which the fastest is chosen; "
        "dots: other seeds",
    )
    return figure


STUDIES = tuple(
    Study(
        name,
        title,
        "Every contestant trains the same network, a hidden layer with the activation x² and cross-entropy, from the "
        "same weights on the same training sets. Rate and decay of each are chosen among equally many trials by one "
        "seed; other seeds are compared.",
        partial(numbers, name),
        methodcaller("experiments", name),
        draw,
    )
    for name, title in TITLES.items()
)
