"""How fast this machine trains, against its own matrix products, measured side by side."""

from modgrok.experiments.bench.comparison import compare
from modgrok.experiments.bench.workload import Workload

__all__ = ["Workload", "compare"]
