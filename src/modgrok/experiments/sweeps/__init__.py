"""Sweeps: a base experiment and axes, trained on an engine, as one table; and what is learned from many runs."""

from modgrok.experiments.sweeps.sweep import Sweep
from modgrok.experiments.sweeps.table import Table

__all__ = ["Sweep", "Table"]
