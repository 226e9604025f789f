"""One experiment as a value, the store of runs, and the training of many at once."""

from modgrok.experiments.experiment import Experiment
from modgrok.experiments.observer import Observer
from modgrok.experiments.run import Run
from modgrok.experiments.store import Store

__all__ = ["Experiment", "Observer", "Run", "Store"]
