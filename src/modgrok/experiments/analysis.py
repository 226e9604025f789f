"""What a trained network has become: its waves, its phases, what is left of it when cleaned, how far from theory."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.group_analysis import GroupAnalysis, analyze_group, on_group
from modgrok.experiments.run import Run
from modgrok.experiments.stored_json import finite
from modgrok.measures import (
    AverageIPR,
    CircularSpread,
    CleaningRow,
    ClosedFormDistance,
    NeuronWaves,
    average_ipr,
    circular_mean,
    circular_spread,
    cleaning_table,
    distance_to_closed_form,
    distance_to_table,
    frequency_power,
    keep_frequencies,
    neuron_waves,
    top_frequencies,
)
from modgrok.measures.progress_measures import key_frequencies_of, network_progress
from modgrok.measures.vectors import on_elements, representation_power
from modgrok.networks import Network, Score, as_numpy, grid, score_table
from modgrok.networks.scoring import blocks
from modgrok.shapes import Float, Integer
from modgrok.tasks import Basis, Task, usual_modulus
from modgrok.tasks import task as find_task
from modgrok.text import abridged, number, percent
from modgrok.training.losses import LOSSES, Objective

STRONGEST = 8
"""How many of the strongest frequencies are named and kept unless another number is asked for."""


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """All measures of one network on one task, in the task's own coordinate (the raw index where it has none)."""

    task: Task
    network: Network
    waves: NeuronWaves
    top: tuple[int, ...]
    """The strongest frequencies, strongest first."""
    score: Score
    """On the whole table."""
    ipr: AverageIPR
    """In the raw index."""
    task_ipr: AverageIPR | None
    """In the task's own coordinate, where it has one."""
    residual_mean: float
    """Circular mean of φ1 + φ2 − φ3 over the neurons, 0 in the closed form; NaN where no neuron has one."""
    residual_spread: CircularSpread
    cleaning: tuple[CleaningRow, ...]
    distance: ClosedFormDistance
    table_distance: float
    """Distance of the outputs from the one-hot table, relative to the table's norm."""

    def __repr__(self) -> str:
        found = f"accuracy {percent(self.score.accuracy)}, loss {number(self.score.loss)}"
        waves = f"IPR {number(float(self.ipr.mean))}, frequencies {', '.join(map(str, self.top))}"
        return f"Analysis({self.task.name} mod {self.task.modulus}: {found}, {waves})"

    def neurons(self, frequency: int) -> Integer[np.ndarray, "neuron"]:
        """Indices of the neurons whose wave has this frequency."""
        return np.flatnonzero(self.waves.frequency == frequency)

    @property
    def coordinate(self) -> Basis | None:
        return self.task.structure.coordinate

    @property
    def frequency_count(self) -> int:
        """⌊L/2⌋, the number of frequencies that a neuron may have."""
        return (self.task.modulus if self.coordinate is None else self.coordinate.length) // 2

    @property
    def neurons_per_frequency(self) -> Integer[np.ndarray, "k"]:
        """Number of neurons at each frequency 0 … ⌊L/2⌋; those without a wave are at 0."""
        return np.bincount(self.waves.frequency, minlength=self.frequency_count + 1)

    @property
    def power_per_frequency(self) -> Float[np.ndarray, "k"]:
        """Share of all weights' power in the waves of the neurons at each frequency 0 … ⌊L/2⌋."""
        w_in, w_out = (np.square(np.abs(w.astype(np.float64))) for w in (self.network.w_in, self.network.w_out))
        power = w_in.sum(axis=(1, 2)) + w_out.sum(axis=0)
        total = power.sum()
        explained = np.nan_to_num(self.waves.explained) * power / (total if total > 0 else 1.0)
        return np.bincount(self.waves.frequency, weights=explained, minlength=self.frequency_count + 1)

    def as_dict(self) -> dict[str, Any]:
        """The numbers as JSON values; null where one does not exist."""
        counts, power = self.neurons_per_frequency, self.power_per_frequency
        return {
            "task": self.task.name,
            "modulus": self.task.modulus,
            "structure": self.task.structure.kind,
            "width": self.network.width,
            "accuracy": self.score.accuracy,
            "loss": finite(self.score.loss),
            "loss_name": self.score.loss_name,
            "ipr": finite(self.ipr.mean),
            "task_ipr": None if self.task_ipr is None else finite(self.task_ipr.mean),
            "dead_neurons": int(self.ipr.dead),
            "explained": finite(power.sum()),
            "frequencies": [
                {"frequency": k, "neurons": int(counts[k]), "power": float(power[k])}
                for k in np.flatnonzero(counts).tolist()
                if k > 0
            ],
            "top_frequencies": list(self.top),
            "neurons_without_wave": int(counts[0]),
            "residual": {
                "mean": finite(self.residual_mean),
                "deviation": finite(self.residual_spread.deviation),
                "resultant": finite(self.residual_spread.resultant),
            },
            "cleaning": [{"name": r.name, "loss": finite(r.loss), "accuracy": r.accuracy} for r in self.cleaning],
            "distance_to_closed_form": {name: finite(x) for name, x in self.distance._asdict().items()},
            "distance_to_table": finite(self.table_distance),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Overview:
    """Measures that apply to any network: its accuracy, the size of its weights, and the frequencies or representations
    in its input weights."""

    task: Task
    network: Network
    score: Score | None
    """On the whole table, where there is one of answers."""
    norms: dict[str, float]
    """Of every tensor."""
    weights: Float[np.ndarray, "N S p"] | None
    """Those that read the inputs, for tasks on numbers modulo p: the embedding's, or the first layer's."""
    spectrum: Float[np.ndarray, "k"] | None
    """Share of their power at the frequencies 0 … ⌊L/2⌋ of the task's coordinate, or in its group's representations."""

    @property
    def coordinate(self) -> Basis | None:
        """Along which the spectrum is taken; None for the raw index."""
        return self.task.structure.coordinate

    def __repr__(self) -> str:
        score = "" if self.score is None else f": accuracy {percent(self.score.accuracy)}"
        return f"Overview({self.task.name}, {self.network.architecture.name}{score})"

    def as_dict(self) -> dict[str, Any]:
        """The numbers as JSON values; null where one does not exist."""
        return {
            "task": self.task.name,
            "network": self.network.architecture.name,
            "accuracy": None if self.score is None else self.score.accuracy,
            "loss": None if self.score is None else finite(self.score.loss),
            "loss_name": None if self.score is None else self.score.loss_name,
            "norms": self.norms,
            "spectrum": None if self.spectrum is None else self.spectrum.tolist(),
        }


def analyze(
    subject: Run | Network, task: str | Task | None = None, *, step: int | None = None, top: int = STRONGEST
) -> Analysis | GroupAnalysis | Overview:
    """Takes a network apart: waves and phases for a two-layer network on a modular table, representations and vectors
    on a group, and an overview for any other network.

    For a run, `step` selects one of its snapshots. For a network, give the task, such as `"n + m"`. `top` is the number
    of strongest frequencies to name, and to keep in one row of the cleaning table.
    """
    network, found = subject_of(subject, task, step)
    analysis = _analyzed(network, found, top)
    if not isinstance(subject, Run) or analysis.score is None or subject.experiment.loss in (None, "mse"):
        return analysis
    return dataclasses.replace(analysis, score=_trained_score(subject, network, analysis.score))


def _trained_score(run: Run, network: Network, score: Score) -> Score:
    """The score with the loss that a run was trained with, over all inputs."""
    import jax.numpy as jnp

    e, total, answers = run.experiment, 0.0, run.task.table.reshape(-1)
    assert e.loss is not None
    own = tuple((one.name, getattr(e, one.name)) for one in LOSSES[e.loss].settings)
    objective = Objective(e.loss, "float32", settings=own)
    for part in blocks(network, answers.size):
        there = answers[part] >= 0
        inputs, right = grid(run.task.table.shape, part.start, part.stop)[there], answers[part][there]
        out = network.architecture.apply(network.parameters, inputs, network.signature)
        losses = objective.losses(jnp.asarray(out, jnp.float32), jnp.asarray(right, jnp.int32), None)
        total += float(losses.sum())
    return Score(total / int((answers >= 0).sum()), score.accuracy, e.loss)


def _analyzed(network: Network, found: Task, top: int) -> Analysis | GroupAnalysis | Overview:
    if network.architecture.has_waves and found.is_modular:
        if (network.modulus, network.arity) != (found.modulus, found.arity):
            raise ModgrokError(
                f"The network has {network.arity} variables modulo {network.modulus}, and the task {found.name!r} has "
                f"{found.arity} modulo {found.modulus}; name the task that it was trained on."
            )
        return analyze_group(network, found) if on_group(found) else _analyze_waves(network, found, top)
    return _look(network, found)


def subject_of(subject: Any, given: Any = None, step: int | None = None) -> tuple[Network, Task]:
    """Network and task of a run, or of a network with the task that it is told."""
    if isinstance(subject, Run):
        if given is not None:
            raise ModgrokError(f"Run {subject.id} knows its task; leave the task out.")
        return subject.network if step is None else subject.snapshot(step), subject.task
    if not isinstance(subject, Network):
        raise ModgrokError(f"A run or a network is analyzed, not {abridged(subject)}.")
    if step is not None:
        raise ModgrokError("A network has the weights of one step; leave out step, or give the run.")
    if given is None:
        raise ModgrokError('A network does not say what it computes; name its task, for example analyze(net, "n + m").')
    return subject, given if isinstance(given, Task) else find_task(given, usual_modulus(given, subject.modulus))


def _look(network: Network, task: Task) -> Overview:
    if network.signature != task.signature:
        raise ModgrokError(
            f"The network was made for other inputs and outputs than those of {task.name!r}; name the task that it was "
            f"trained on."
        )
    network = as_numpy(network, np.float64)
    known = task.enumerable and task.codes is None and task.vectors is None
    norms = {name: float(np.sqrt(np.square(tensor).sum())) for name, tensor in network.tensors.items()}
    weights = network.architecture.input_weights(network.parameters, network.signature) if task.is_modular else None
    spectrum = None
    if weights is not None:
        weights = np.broadcast_to(weights, (len(weights), task.arity, task.modulus))
        power = _power(weights, task)
        spectrum = None if power is None else power / power.sum()
    return Overview(task, network, score_table(network, task.table) if known else None, norms, weights, spectrum)


def _power(weights: Float[np.ndarray, "N S p"], task: Task) -> Float[np.ndarray, "k"] | None:
    """Along the frequencies, in the representations of a group, or None in a product that is no group's."""
    if not on_group(task):
        return frequency_power(weights, task.structure.coordinate)
    basis = task.structure.basis
    if basis is None or not all(one.support.all() for one in basis.representations):
        return None
    return representation_power(on_elements(weights, basis), basis).sum(axis=(0, 1))


def progress_of(run: Run) -> dict[str, Any]:
    """The progress measures of a run at its kept steps, with the key frequencies of the end and the run's own loss."""
    table, networks = run.task.table, [run.snapshot(step) for step in run.snapshots]
    if not networks or table is None or table.ndim != 2:
        raise ModgrokError(f"Run {run.id} has kept no weights on its way, or answers no pairs; train with snapshots.")
    trained = np.zeros(table.size, bool)
    trained[run.experiment.split.divide(run.task)[0]] = True
    keys = key_frequencies_of(networks[-1])
    rows = [
        network_progress(one, table, trained.reshape(table.shape), keys, run.experiment.loss or "mse")
        for one in networks
    ]
    measured = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return {"step": np.array(run.snapshots), "frequencies": keys} | measured


def _analyze_waves(network: Network, task: Task, top: int) -> Analysis:
    network = as_numpy(network, np.complex128 if network.dtype.kind == "c" else np.float64)
    coordinate = task.structure.coordinate
    waves = neuron_waves(network, coordinate)
    strongest = top_frequencies(network, coordinate, top)
    return Analysis(
        task=task,
        network=network,
        waves=waves,
        top=strongest,
        score=score_table(network, task.table),
        ipr=average_ipr(network.w_in),
        task_ipr=None if coordinate is None else average_ipr(network.w_in, coordinate),
        residual_mean=circular_mean(waves.residual),
        residual_spread=circular_spread(waves.residual),
        cleaning=_cleaning(network, task, coordinate, strongest),
        distance=distance_to_closed_form(network, coordinate),
        table_distance=distance_to_table(network, task.table),
    )


def _cleaning(
    network: Network, task: Task, coordinate: Basis | None, strongest: tuple[int, ...]
) -> tuple[CleaningRow, ...]:
    """The table of the measures, with a row for the strongest frequencies where it has none of that number."""
    rows = cleaning_table(network, task.table, coordinate)
    names, count = [row.name for row in rows], len(strongest)
    name = f"top {count} frequencies only"
    if count > 1 and name not in names:
        kept = score_table(keep_frequencies(network, coordinate, strongest), task.table)
        smaller = (count - 1).bit_length()  # the rows of 1, 2, 4, … frequencies below it
        rows.insert(names.index("top frequency only") + smaller, CleaningRow.of(name, kept))
    return tuple(rows)
