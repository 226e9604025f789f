"""modgrok: a laboratory for grokking modular arithmetic.

    import modgrok as mg

    run = mg.train("n + m", modulus=97, lr=0.3, steps=300)
    run.grokked_at, run.history["test_accuracy"]
    mg.neuron_waves(run.network).residual

Names are imported when they are first used, and JAX when something is first trained.
"""

# ruff: noqa: F401
import importlib
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from modgrok import plot
    from modgrok.api import (
        classify,
        critical,
        landscape,
        load,
        pack,
        replay,
        reproduce_paper,
        runs,
        solve,
        sweep,
        unpack,
    )
    from modgrok.errors import Interrupted, ModgrokError
    from modgrok.experiments import Experiment, Observer, Run, Store
    from modgrok.experiments.analysis import Analysis, Overview, analyze
    from modgrok.experiments.group_analysis import GroupAnalysis
    from modgrok.experiments.sweeps import Sweep
    from modgrok.experiments.sweeps.critical import Effort
    from modgrok.experiments.sweeps.execution import run_sweep
    from modgrok.experiments.train import train, train_all
    from modgrok.measures import (
        average_ipr,
        distance_to_closed_form,
        grokked_at,
        memorized_at,
        neuron_waves,
        power_spectrum,
    )
    from modgrok.networks import Architecture, Network, Score, predictions, score, score_table, two_layer
    from modgrok.tasks import Split, Structure, Task, task
    from modgrok.training.recording import record

_HOMES = {
    "modgrok.api": "classify critical landscape load pack replay reproduce_paper runs solve sweep unpack",
    "modgrok.errors": "Interrupted ModgrokError",
    "modgrok.experiments": "Experiment Observer Run Store",
    "modgrok.experiments.analysis": "Analysis Overview analyze",
    "modgrok.experiments.group_analysis": "GroupAnalysis",
    "modgrok.experiments.sweeps": "Sweep",
    "modgrok.experiments.sweeps.critical": "Effort",
    "modgrok.experiments.sweeps.execution": "run_sweep",
    "modgrok.experiments.train": "train train_all",
    "modgrok.measures": "average_ipr distance_to_closed_form grokked_at memorized_at neuron_waves power_spectrum",
    "modgrok.networks": "Architecture Network Score predictions score score_table two_layer",
    "modgrok.training.recording": "record",
    "modgrok.tasks": "Split Structure Task task",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted([*_HOME, "plot"])


def __getattr__(name: str) -> Any:
    if name == "plot":
        return importlib.import_module("modgrok.plot")
    if name not in _HOME:
        raise AttributeError(f"module 'modgrok' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
