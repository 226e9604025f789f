"""`modgrok analyze`: what a trained network has become: frequencies, phases, cleaning, distance to the closed form."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from rich.markup import escape
from rich.table import Table

from modgrok.commands.arguments import FIGURES, InStore, check_output, out, parse, print_json
from modgrok.commands.flags import Positional
from modgrok.errors import ModgrokError
from modgrok.experiments import Run, Store
from modgrok.experiments.analysis import STRONGEST, Analysis, Overview, analyze
from modgrok.experiments.group_analysis import GroupAnalysis, on_group
from modgrok.experiments.store import check_intact
from modgrok.measures.cleaning import CAUTIONS
from modgrok.measures.vectors import VECTOR_CAUTIONS
from modgrok.networks import Network, Score
from modgrok.networks.foreign import load
from modgrok.networks.storage import StoredNetwork, read_network
from modgrok.networks.weight_files import saved_by_modgrok
from modgrok.tasks import Task
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
    """Take a trained network apart: the frequency and the phases of its neurons, what is left of it when it is cleaned,
    and how far it is from the closed form."""

    run: Annotated[str, Positional("RUN")]
    """A run's id or the beginning of it, last for the latest, or a file with weights: a .safetensors file, or two
    matrices of another program in one, in .npz or in a PyTorch state dict, .pt."""
    step: int | None = None
    """Analyze the weights kept at this step; by default those at the end."""
    top: int = STRONGEST
    """How many of the strongest frequencies to show, and to keep alone in the cleaning table."""
    task: str | None = None
    """The function that the weights in a file compute, where the file does not say."""
    activation: str | None = None
    """The activation of another program's network: quadratic by default, or relu, gelu, silu, tanh, x^3 and so on."""
    parametrization: Literal["mean-field", "standard"] | None = None
    """With the paper's prefactors (mean-field) or without (standard): of another program's network, where the size of
    its outputs does not tell."""
    variables: int | None = None
    """How many numbers another program's network takes, where they have not as many values as there are answers."""
    figure: Path | None = None
    """Write a picture to this .png, .svg or .pdf file: curves, weights, spectrum, and phases or answers."""


class Subject(NamedTuple):
    """What is inspected."""

    name: str
    network: Network
    task: Task
    step: int | None
    run: Run | None


def main(argv: list[str]) -> None:
    """Load, analyze, draw, print."""
    arguments = parse(Analyze, "analyze", argv)
    check_output(arguments.figure, *FIGURES)
    subject = _from_file(arguments) if arguments.run.endswith(FILES) else _from_store(arguments)
    if subject.run is None:
        found = analyze(subject.network, subject.task, top=arguments.top)
    else:
        found = analyze(subject.run, step=arguments.step, top=arguments.top)
    if arguments.figure is not None:
        _draw(subject, found, arguments.figure)
    if arguments.json:
        source = {"run": subject.run.id if subject.run else None, "source": subject.name, "step": subject.step}
        print_json(source | found.as_dict())
        return
    if isinstance(found, Analysis):
        _show(subject, found)
    elif isinstance(found, GroupAnalysis):
        _show_group(subject, found)
    else:
        _show_overview(subject, found, arguments.top)
    if arguments.figure is not None:
        out.print(f"Figure: {escape(str(arguments.figure))}", highlight=False, soft_wrap=True)


def _show_overview(subject: Subject, found: Overview, top: int) -> None:
    """What can be said of a network that is not the paper's on a modular table."""
    title = f"{escape(subject.task.name)}, {found.network.architecture.name} ({escape(subject.name)})"
    table = Table("tensor", "shape", "norm", title=title, title_justify="left")
    for name, norm in found.norms.items():
        table.add_row(name, "×".join(map(str, found.network.tensors[name].shape)), _number(norm))
    if found.score is not None:
        out.print(f"All inputs: accuracy {percent(found.score.accuracy, 2)}, {_loss(found.score)}")
    out.print(table, highlight=False)
    if found.spectrum is not None:
        strongest = np.argsort(-found.spectrum)[:top]
        basis = found.task.structure.basis if on_group(found.task) else None
        names = [str(k) if basis is None else basis.names[k] for k in range(len(found.spectrum))]
        shares = ", ".join(f"{names[k]} ({percent(float(found.spectrum[k]))})" for k in strongest)
        kind = "frequencies" if basis is None else "representations, by dimension"
        out.print(f"The input weights' strongest {kind}: {shares}.", highlight=False)


def _from_store(arguments: Analyze) -> Subject:
    for name in ("task", *OPTIONS):
        if getattr(arguments, name) is not None:
            raise ModgrokError(f"A run knows its {name}; --{name} is for files.")
    run = Store(arguments.store).find(arguments.run)
    check_intact(run)
    if arguments.step is not None:
        return Subject(run.id, run.snapshot(arguments.step), run.task, arguments.step, run)
    network = run.network
    step = run.result["steps"] if run.result else run.snapshots[-1]
    return Subject(run.id, network, run.task, step, run)


def _from_file(arguments: Analyze) -> Subject:
    path = Path(arguments.run)
    if arguments.step is not None:
        raise ModgrokError("A file holds the weights of one step; leave out --step.")
    given = {name: getattr(arguments, name) for name in OPTIONS}
    network, settings = _read(path, {name: value for name, value in given.items() if value is not None})
    text = arguments.task or settings.get("expression") or settings.get("task")
    if not isinstance(text, str):
        raise ModgrokError(f"{path} does not say which function it computes; name it with --task.")
    return Subject(str(path), network, find_task(text, network.modulus), None, None)


def _read(path: Path, options: dict[str, Any]) -> StoredNetwork:
    """Weights that modgrok wrote, with what it wrote beside them; or those of another program."""
    if saved_by_modgrok(path):
        if options:
            raise ModgrokError(f"{path} says it all itself; leave out {', '.join(f'--{name}' for name in options)}.")
        return read_network(path)
    return StoredNetwork(load(path, **options), {})


def _draw(subject: Subject, analysis: Analysis | GroupAnalysis | Overview, path: Path) -> None:
    from modgrok import plot

    where = "" if subject.step is None else f", step {count(subject.step)}"
    modulus = f" mod {subject.task.modulus}" if isinstance(analysis, Analysis) else ""
    title = f"{subject.task.name}{modulus}: {subject.name}{where}"
    history = subject.run.history if subject.run else None
    plot.save(plot.portrait(analysis, history, title), path)


def _show(subject: Subject, analysis: Analysis) -> None:
    network, task = subject.network, subject.task
    where = "" if subject.step is None else f", step {count(subject.step)}"
    title = f"{escape(task.name)} mod {task.modulus}, {count(network.width, 'neuron')} ({escape(subject.name)}{where})"
    power = float(analysis.power_per_frequency.sum())
    ipr = f"{_number(analysis.ipr.mean)} raw"
    if analysis.task_ipr is not None:
        ipr += f", {_number(analysis.task_ipr.mean)} in the task's coordinate"
    dead = int(analysis.ipr.dead)
    spread = analysis.residual_spread
    table = Table(title=title, title_justify="left", show_header=False)
    if subject.run is None:
        table.add_row("read as", f"activation {network.activation}, parametrization {network.parametrization}")
    table.add_row("structure", f"{task.structure.kind.replace('_', ' ')}")
    table.add_row("all inputs", f"accuracy {percent(analysis.score.accuracy, 2)}, {_loss(analysis.score)}")
    table.add_row("IPR", ipr + (f"; {count(dead, 'neuron')} dead" if dead else ""))
    table.add_row("power in waves", f"{percent(power)} of all weights' power is in one wave for each neuron")
    table.add_row(
        "phases",
        f"{_phases(task.arity)}: mean {_number(analysis.residual_mean)}, deviation {_number(spread.deviation)} rad",
    )
    distance = analysis.distance
    table.add_row(
        "closed form",
        f"distance {_number(distance.both)} of the weights' norm (W1 {_number(distance.w_in)}, W2 "
        f"{_number(distance.w_out)}); outputs {_number(analysis.table_distance)} from one-hot",
    )
    for part in (table, _frequencies(analysis), _cleaning(analysis)):
        out.print(part, highlight=False)
        out.print()
    out.print(_cautions(CAUTIONS), style="dim", highlight=False)


def _show_group(subject: Subject, analysis: GroupAnalysis) -> None:
    """The same for a network on a group: representations and vectors."""
    network, medians = subject.network, analysis.medians()
    where = "" if subject.step is None else f", step {count(subject.step)}"
    title = f"{escape(subject.task.name)}, {count(network.width, 'neuron')} ({escape(subject.name)}{where})"
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_row("structure", f"{analysis.task.structure.kind.replace('_', ' ')}: {analysis.task.structure.group}")
    score = analysis.score
    table.add_row("all inputs", f"accuracy {percent(score.accuracy, 2)}, {_loss(score)}")
    clear = int(analysis.vectors.clear.sum())
    table.add_row("one representation", f"{count(clear, 'neuron')} with more than half of their power in one")
    table.add_row("", f"{percent(medians['share'])} of all their power is in it (median)")
    table.add_row("rank one", f"{percent(medians['rank_one'])} of the worst block (median)")
    table.add_row("shared vectors", f"{_number(medians['agreement'])} of the worst pair (median)")
    table.add_row("phases", f"{percent(medians['aligned'])} of these neurons have the sign of the closed form")
    dealt = Table("representation", "dimension", "neurons", "by d³", title="Neurons dealt", title_justify="left")
    for name, one, found, expected in zip(
        analysis.basis.names, analysis.basis.representations, analysis.counts, analysis.expected, strict=True
    ):
        dealt.add_row(name, f"{one.dimension}, {FIELDS[one.type]}", str(found), f"{expected:.0f}")
    for part in (table, dealt, _cleaning(analysis)):
        out.print(part, highlight=False)
        out.print()
    out.print(_cautions(VECTOR_CAUTIONS), style="dim", highlight=False)


def _frequencies(analysis: Analysis) -> Table:
    counts, power = analysis.neurons_per_frequency, analysis.power_per_frequency
    present = int((counts[1:] > 0).sum())
    title = f"The strongest of {present} frequencies"
    if counts[0]:
        title += f"; {count(int(counts[0]), 'neuron')} without a wave"
    table = Table("frequency", "neurons", "power", "", title=title, title_justify="left")
    for column in table.columns[:3]:
        column.justify = "right"
    largest = max((counts[k] for k in analysis.top), default=1)
    for k in analysis.top:
        table.add_row(str(k), str(counts[k]), percent(float(power[k])), "█" * max(1, round(BAR * counts[k] / largest)))
    return table


def _cleaning(analysis: Analysis | GroupAnalysis) -> Table:
    table = Table("cleaned", "accuracy", "MSE", title="What is left when the network is cleaned", title_justify="left")
    for row in analysis.cleaning:
        table.add_row(row.name, percent(row.accuracy, 2), _number(row.loss))
    return table


def _loss(score: Score) -> str:
    name = "MSE" if score.loss_name == "mse" else score.loss_name.replace("_", " ")
    return f"loss ({name}) {_number(score.loss)}"


def _cautions(cautions: Mapping[str, str]) -> str:
    """What rows of the cleaning table cannot show."""
    return "\n".join(f"“{name}” {caution}." for name, caution in cautions.items())


def _phases(arity: int) -> str:
    return " + ".join(f"φ{s + 1}" for s in range(arity)) + f" − φ{arity + 1}"


def _number(x: Any) -> str:
    return number(float(x))
