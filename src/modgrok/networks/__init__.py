"""The paper's two-layer network: weights, activations, parametrizations, evaluation, files."""

from modgrok.networks.evaluation import Score, hidden_map, output_blocks, output_map, predictions, score, score_table
from modgrok.networks.network import (
    Network,
    Normalization,
    as_numpy,
    grid,
    hidden,
    outputs,
    parameter_norms,
    read_out,
    reparametrize,
)
from modgrok.networks.storage import load_network, save_network

__all__ = [
    "Network",
    "Normalization",
    "Score",
    "as_numpy",
    "grid",
    "hidden",
    "hidden_map",
    "load_network",
    "output_blocks",
    "output_map",
    "outputs",
    "parameter_norms",
    "predictions",
    "read_out",
    "reparametrize",
    "save_network",
    "score",
    "score_table",
]
