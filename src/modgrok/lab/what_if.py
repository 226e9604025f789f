"""What if: a network with neurons, frequencies or phases changed, each change a short text such as `frequency:12`.

| text | change |
|---|---|
| `neuron:K` | without neuron K |
| `frequency:K` | without the neurons of frequency K |
| `top:K` | only the neurons of the K strongest frequencies |
| `waves` | every neuron replaced by its best-fitting waves |
| `representation:K` | without the neurons of representation K of a group |
| `alone:K` | only these neurons |
| `snap` | readout phases turned to φ3 = φ1 + φ2 |
| `nearest` | every neuron replaced by the nearest closed-form neuron |
| `closed:waves`, `closed:exact` | the whole network replaced by a closed form |
| `closed:one` | the same with a single frequency: five neurons for n + m |
"""

from collections.abc import Callable
from typing import Literal

from modgrok.closed_form import solve
from modgrok.errors import ModgrokError
from modgrok.experiments.group_analysis import on_group
from modgrok.lab.limits import CHANGES
from modgrok.measures import (
    ablate_frequency,
    ablate_neuron,
    ablate_representation,
    keep_frequencies,
    nearest_closed_form,
    snap_phases,
    top_frequencies,
    waves_only,
)
from modgrok.networks import Network
from modgrok.tasks import Task
from modgrok.tasks.basis import Basis

PLAIN: dict[str, Callable[[Network, Basis | None], Network]] = {
    "waves": waves_only,
    "snap": snap_phases,
    "nearest": nearest_closed_form,
}
FORMS = ("waves", "exact", "one")
COUNTED = ("neuron", "frequency", "top", "representation", "alone")


def change(network: Network, task: Task, coordinate: Basis | None, changes: list[str]) -> Network:
    """The network after all changes, in their order."""
    if len(changes) > CHANGES:
        raise ModgrokError(f"A network takes at most {CHANGES} changes, not {len(changes)}.")
    for text in changes:
        name, _, argument = text.partition(":")
        if name in PLAIN and not argument:
            network = PLAIN[name](network, coordinate)
        elif name == "closed" and argument in FORMS:
            network = closed_form(task, argument, network)
        elif name in COUNTED and argument.isascii() and argument.isdigit() and len(argument) < 9:
            network = _counted(network, task, coordinate, name, int(argument))
        else:
            raise ModgrokError(f"There is no change {text[:40]!r}; see the list of the what-if panel.")
    return network


def closed_form(task: Task, form: str, like: Network) -> Network:
    """The closed form of a task with the trained network's activation, and its width where it can be chosen."""
    width = like.width if form == "waves" else None
    frequencies = (1,) if form == "one" else None
    name: Literal["waves", "exact"] = "waves" if form == "waves" else "exact"
    return solve(
        task,
        name,
        width=width,
        frequencies=frequencies,
        activation=like.activation,
        parametrization=like.parametrization,
    )


def _counted(network: Network, task: Task, coordinate: Basis | None, name: str, number: int) -> Network:
    if name in ("representation", "alone"):
        basis = task.structure.basis if on_group(task) else None
        if basis is None or not network.architecture.has_waves:
            raise ModgrokError("Only neurons of a two-layer network on a noncyclic group have representations.")
        return ablate_representation(network, basis, number, alone=name == "alone")
    if name == "neuron":
        return ablate_neuron(network, number)
    if name == "frequency":
        return ablate_frequency(network, coordinate, number)
    return keep_frequencies(network, coordinate, top_frequencies(network, coordinate, number))
