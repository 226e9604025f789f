"""How fast this machine trains, against its own matrix products and against PyTorch, all measured side by side."""

from modgrok.experiments.bench.comparison import compare
from modgrok.experiments.bench.transformer_speed import TransformerWorkload, compare_transformers
from modgrok.experiments.bench.workload import Workload

__all__ = ["TransformerWorkload", "Workload", "compare", "compare_transformers"]
