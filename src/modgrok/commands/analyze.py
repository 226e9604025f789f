"""`modgrok analyze`: what a trained network has become: frequencies, phases, cleaning, distance to the closed form."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from rich.table import Table

from modgrok import plot
from modgrok.commands.arguments import (
    FIGURES,
    InStore,
    check_output,
    facts,
    figure_of,
    new_table,
    out,
    parse,
    print_json,
)
from modgrok.commands.flags import Positional
from modgrok.errors import ModgrokError
from modgrok.experiments import Run, Store
from modgrok.experiments.analysis import STRONGEST, Analysis, Overview, analyze
from modgrok.experiments.group_analysis import GroupAnalysis, on_group
from modgrok.experiments.store import check_intact
from modgrok.measures.cleaning import CAUTIONS
from modgrok.measures.vectors import VECTOR_CAUTIONS
from modgrok.networks import Score
from modgrok.networks.foreign import load
from modgrok.networks.storage import StoredNetwork, read_network
from modgrok.networks.weight_files import saved_by_modgrok
from modgrok.tasks import reads_modulus
from modgrok.tasks import task as find_task
from modgrok.tasks.basis.representation import FIELDS
from modgrok.text import count, number, percent

FILES = (".safetensors", ".npz", ".pt", ".pth")
"""Suffixes of weights in files, this program's and others'."""
OPTIONS = ("activation", "parametrization", "variables")
"""Flags that say what a file of another program leaves open."""
BAR = 30
"""Length of the longest bar of the table of frequencies."""


@dataclass(frozen=True)
class Analyze(InStore):
    """Take a trained network apart: the frequency and the phases of its neurons, its accuracy after cleaning, and its
    distance to the closed form."""

    run: Annotated[str, Positional("RUN")]
    """A run's id, the beginning of it, or its name; last is the latest run. Or a file with weights: .safetensors, or
    another program's .npz or PyTorch state dict, .pt."""
    step: int | None = None
    """Analyze the weights stored at this step; by default those at the end."""
    top: int = STRONGEST
    """How many of the strongest frequencies to show, and to keep in one row of the cleaning table."""
    task: str | None = None
    """The function that the weights in a file compute, where the file does not say."""
    activation: str | None = None
    """Activation of another program's network: relu, gelu, silu, tanh, x^3 and so on; by default quadratic."""
    parametrization: Literal["mean-field", "standard"] | None = None
    """Whether another program's network has the paper's prefactors (mean-field) or none (standard), if the size of its
    outputs does not tell."""
    variables: int | None = None
    """Number of variables of another program's network, if their number of values is not the number of answers."""
    figure: Path | None = None
    """Draw curves, weights, spectrum, and phases or answers to this .png, .svg or .pdf file."""


class Subject(NamedTuple):
    """What is analyzed."""

    name: str
    found: Analysis | GroupAnalysis | Overview
    run: Run | None = None
    step: int | None = None

    def title(self, what: str) -> str:
        task, where = self.found.task, "" if self.step is None else f", step {count(self.step)}"
        modulus = f" mod {task.modulus}" if reads_modulus(task.name) else ""
        return f"{task.name}{modulus}, {what} ({self.name}{where})"


def main(argv: list[str]) -> None:
    """Load, analyze, draw, print."""
    arguments = parse(Analyze, "analyze", argv)
    check_output(arguments.figure, *FIGURES)
    subject = _from_file(arguments) if arguments.run.endswith(FILES) else _from_store(arguments)
    found = subject.found
    history = subject.run.history if subject.run and arguments.figure else None
    figure_of(lambda: plot.portrait(found, history, subject.title("network")), arguments.figure)
    if arguments.json:
        source = {"run": subject.run.id if subject.run else None, "source": subject.name, "step": subject.step}
        print_json(source | found.as_dict())
    elif isinstance(found, Analysis):
        _show(subject, found)
    elif isinstance(found, GroupAnalysis):
        _show_group(subject, found)
    else:
        _show_overview(subject, found, arguments.top)


def _show_overview(subject: Subject, found: Overview, top: int) -> None:
    """What can be said of any network on any task."""
    table = new_table("tensor", "shape", "norm", title=subject.title(found.network.architecture.name))
    for name, norm in found.norms.items():
        table.add_row(name, "×".join(map(str, found.network.tensors[name].shape)), _number(norm))
    if found.score is not None:
        out.print(f"All inputs: {_score(found.score)}")
    out.print(table)
    if found.spectrum is not None:
        strongest = np.argsort(-found.spectrum)[:top]
        basis = found.task.structure.basis if on_group(found.task) else None
        names = [str(k) if basis is None else basis.names[k] for k in range(len(found.spectrum))]
        shares = ", ".join(f"{names[k]} ({percent(float(found.spectrum[k]))})" for k in strongest)
        kind = "frequencies" if basis is None else "representations, by dimension,"
        out.print(f"Strongest {kind} of the input weights: {shares}.")


def _from_store(arguments: Analyze) -> Subject:
    for name in ("task", *OPTIONS):
        if getattr(arguments, name) is not None:
            raise ModgrokError(f"A run knows its {name}; --{name} is for files.")
    run = Store(arguments.store).find(arguments.run)
    check_intact(run)
    found, step = analyze(run, step=arguments.step, top=arguments.top), arguments.step
    if step is None:
        step = run.result["steps"] if run.result else run.snapshots[-1]
    return Subject(run.id, found, run, step)


def _from_file(arguments: Analyze) -> Subject:
    path = Path(arguments.run)
    if arguments.step is not None:
        raise ModgrokError("A file has the weights of one step; leave out --step.")
    given = {name: getattr(arguments, name) for name in OPTIONS}
    network, settings = _read(path, {name: value for name, value in given.items() if value is not None})
    text = arguments.task or settings.get("expression") or settings.get("task")
    if not isinstance(text, str):
        raise ModgrokError(f"{path} does not say which function it computes; give --task.")
    return Subject(str(path), analyze(network, find_task(text, network.modulus), top=arguments.top))


def _read(path: Path, options: dict[str, Any]) -> StoredNetwork:
    """Weights that modgrok wrote, with what it wrote beside them; or those of another program."""
    if saved_by_modgrok(path):
        if options:
            raise ModgrokError(f"{path} says how to read it; leave out {', '.join(f'--{name}' for name in options)}.")
        return read_network(path)
    return StoredNetwork(load(path, **options), {})


def _show(subject: Subject, analysis: Analysis) -> None:
    network, task, distance = analysis.network, analysis.task, analysis.distance
    ipr = f"{_number(analysis.ipr.mean)} raw"
    if analysis.task_ipr is not None:
        ipr += f", {_number(analysis.task_ipr.mean)} in the task's coordinate"
    if dead := int(analysis.ipr.dead):
        ipr += f"; {count(dead, 'neuron')} dead"
    phases = " + ".join(f"φ{s + 1}" for s in range(task.arity)) + f" − φ{task.arity + 1}"
    mean, deviation = _number(analysis.residual_mean), _number(analysis.residual_spread.deviation)
    rows = {
        "structure": task.structure.kind.replace("_", " "),
        "all inputs": _score(analysis.score),
        "IPR": ipr,
        "power in waves": f"{percent(float(analysis.power_per_frequency.sum()))} of all weights' power is in one wave "
        "per neuron",
        "phases": f"{phases}: mean {mean}, deviation {deviation} rad",
        "closed form": f"distance {_number(distance.both)} of the weights' norm (W1 {_number(distance.w_in)}, W2 "
        f"{_number(distance.w_out)}); outputs {_number(analysis.table_distance)} from one-hot",
    }
    if subject.run is None:
        rows = {"read as": f"activation {network.activation}, parametrization {network.parametrization}"} | rows
    _print(subject, rows, _frequencies(analysis), analysis, CAUTIONS)


def _show_group(subject: Subject, analysis: GroupAnalysis) -> None:
    """The same for a network on a group: representations and vectors."""
    structure, medians = analysis.task.structure, analysis.medians()
    rows = {
        "structure": f"{structure.kind.replace('_', ' ')}: {structure.group}",
        "all inputs": _score(analysis.score),
        "one representation": f"{count(int(analysis.vectors.clear.sum()), 'neuron')} with more than half of their "
        "power in one",
        "": f"{percent(medians['share'])} of all their power is in it (median)",
        "rank one": f"{percent(medians['rank_one'])} of the worst block (median)",
        "shared vectors": f"{_number(medians['agreement'])} of the worst pair (median)",
        "phases": f"{percent(medians['aligned'])} of these neurons have the sign of the closed form",
    }
    dealt = new_table("representation", "dimension", "neurons", "by d³", title="Neurons of each representation")
    for name, one, found, expected in zip(
        analysis.basis.names, analysis.basis.representations, analysis.counts, analysis.expected, strict=True
    ):
        dealt.add_row(name, f"{one.dimension}, {FIELDS[one.type]}", str(found), f"{expected:.0f}")
    _print(subject, rows, dealt, analysis, VECTOR_CAUTIONS)


def _print(
    subject: Subject,
    rows: Mapping[str, str],
    shares: Table,
    analysis: Analysis | GroupAnalysis,
    cautions: Mapping[str, str],
) -> None:
    """The facts, the shares of the neurons, and the cleaning table with what its rows cannot show."""
    cleaning = new_table("cleaned", "accuracy", "MSE", title="What is left when the network is cleaned")
    for row in analysis.cleaning:
        cleaning.add_row(row.name, percent(row.accuracy, 2), _number(row.loss))
    for part in (facts(rows, subject.title(count(analysis.network.width, "neuron"))), shares, cleaning):
        out.print(part)
        out.print()
    out.print("\n".join(f"“{name}” {caution}." for name, caution in cautions.items()), style="dim", soft_wrap=False)


def _frequencies(analysis: Analysis) -> Table:
    counts, power = analysis.neurons_per_frequency, analysis.power_per_frequency
    title = f"The strongest of {int((counts[1:] > 0).sum())} frequencies"
    if counts[0]:
        title += f"; {count(int(counts[0]), 'neuron')} without a wave"
    numbers = ("frequency", "neurons", "power")
    table = new_table(*numbers, "", title=title, right=numbers)
    largest = max((counts[k] for k in analysis.top), default=1)
    for k in analysis.top:
        table.add_row(str(k), str(counts[k]), percent(float(power[k])), "█" * max(1, round(BAR * counts[k] / largest)))
    return table


def _score(score: Score) -> str:
    name = "MSE" if score.loss_name == "mse" else score.loss_name.replace("_", " ")
    return f"accuracy {percent(score.accuracy, 2)}, loss ({name}) {_number(score.loss)}"


def _number(x: Any) -> str:
    return number(float(x))
