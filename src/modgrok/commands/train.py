"""`modgrok train`: one network from its settings to its run in the store, watched."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.commands.arguments import InStore, err, facts, out, parse, print_json, typed_flags
from modgrok.commands.chart import accuracy_chart
from modgrok.errors import Damaged, Interrupted
from modgrok.experiments import Experiment, Run, Store
from modgrok.experiments.divergence import rate_hint, why_diverged
from modgrok.experiments.experiment import known_settings
from modgrok.experiments.given_settings import chosen_settings, is_settings_file, read_settings_file, starting_settings
from modgrok.experiments.progress import LiveProgress
from modgrok.experiments.store import check_intact
from modgrok.experiments.train import train_all
from modgrok.text import count, duration, number, percent, steps_between

LABELS = {"ipr": "IPR", "task_ipr": "IPR in the task's coordinate"}
"""What measures are called; others by their names."""


@dataclass(frozen=True)
class Train(InStore):
    """Train a network on a task and store the run; the default network is the paper's. Rerun the command to resume a
    stopped run; a finished run is returned at once. Instead of EXPR you may give a .toml or .json file of settings,
    such as the experiment.json of a run; flags override it."""

    settings: dict[str, Any]
    start: Path | None = None
    """Start from the weights in this file: one that solve --save wrote, or any file that analyze reads."""


def main(argv: list[str]) -> None:
    """Train, print the outcome."""
    arguments = parse(Train, "train", argv, chosen_settings())
    store, settings = Store(arguments.store), arguments.settings
    if is_settings_file(settings["task"]):
        typed = {name: value for name, value in settings.items() if name in typed_flags(argv)}
        settings = read_settings_file(Path(settings["task"])) | typed
    if arguments.start is not None:
        named = {name: value for name, value in settings.items() if value != known_settings()[name].default}
        settings = starting_settings(arguments.start, named, store)
    experiment = Experiment(**settings)
    run = store.add(experiment)
    known = _has_ended(run)
    if not known:
        if hint := rate_hint(store.resolve(experiment)):
            err.print(hint, style="yellow")
        run = _train(experiment, store)
    result = run.result
    assert result is not None
    if known:
        err.print(f"Run {run.id} is already in the store.")
    if arguments.json:
        print_json(dict(result))
    else:
        show_run(run)
        out.print(_next(run, arguments.store))
    if sentence := explanation(run.experiment, result):
        err.print(sentence, style="yellow")


def _has_ended(run: Run) -> bool:
    """Whether there is nothing to train; a damaged run is trained afresh."""
    try:
        check_intact(run)
        return run.result is not None
    except Damaged:
        return False


def _train(experiment: Experiment, store: Store) -> Run:
    """The trained run, or the end of the program where it was stopped: 130 for Ctrl-C, 143 for SIGTERM."""
    with LiveProgress(err) as progress:
        try:
            return train_all([experiment], store, progress)[0]
        except Interrupted as stop:
            sentence = str(stop)
        except KeyboardInterrupt:
            sentence = "Stopped before the first step; rerun the command to start again."
    err.print(f"modgrok: {sentence}")
    raise SystemExit(progress.exit_code)


def explanation(experiment: Experiment, result: Mapping[str, Any]) -> str | None:
    """Why a run ended badly, and what to do; None for one that did not."""
    decay, rate = number(experiment.weight_decay, 4), number(_rate(experiment), 4)
    if result["status"] == "collapsed":
        return (
            f"The weights shrank to zero by step {count(result['steps'])}: the weight decay {decay} is too strong for "
            f"the learning rate {rate}. Try a tenth of it."
        )
    if result["status"] == "diverged":
        return f"The loss was no longer finite at step {count(result['diverged_at'])}: {why_diverged(experiment)}"
    return None


def show_run(run: Run) -> None:
    """Chart and table of a run that has ended."""
    experiment, result, history = run.experiment, run.result, run.history
    assert result is not None
    curves = history["step"], history["train_accuracy"], history["test_accuracy"]
    out.print(accuracy_chart(*curves, width=min(out.width, 100)))
    out.print()
    share = f", α = {number(experiment.fraction, 4)}" if run.task.enumerable and experiment.examples is None else ""
    rows = {
        "run": run.id,
        "status": f"{result['status']} after {count(result['steps'], 'step')} in {duration(result['seconds'])}",
        "optimizer": f"{experiment.optimizer}, learning rate {number(_rate(experiment), 4)}",
        "accuracy": f"train {percent(result['train_accuracy'], 2)}, test {percent(result['test_accuracy'], 2)}",
        f"loss ({experiment.loss})": f"train {number(result['train_loss'])}, test {number(result['test_loss'])}",
    }
    for name in ("memorized", "grokked"):
        rows[f"{name} at step"] = steps_between(result[f"{name}_after"], result[f"{name}_at"])
    rows |= {LABELS.get(name, name.replace("_", " ")): number(value) for name, value in result.measures.items()}
    out.print(facts(rows, f"{run.title}, {experiment.network}, N = {experiment.width}{share}"))


def _next(run: Run, store: Path | None) -> str:
    where = "" if store is None else f" --store {shlex.quote(str(store))}"
    assert run.result is not None
    memorized, grokked = (run.result[name] is not None for name in ("memorized_at", "grokked_at"))
    hint = (
        "Not grokked yet: more steps (--steps) or more data (--fraction) may do it. "
        if memorized and not grokked
        else ""
    )
    return f"{hint}Next: modgrok analyze {run.id}{where}"


def _rate(experiment: Experiment) -> float:
    assert isinstance(experiment.lr, float)
    return experiment.lr
