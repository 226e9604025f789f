"""What learns: architectures, networks, activations, evaluation, files."""

# ruff: noqa: F401
from modgrok.networks import embedding_mlp, mlp, transformer  # known by their names from here on
from modgrok.networks.architecture import ARCHITECTURES, Architecture, Cost, Noise, architecture_named, register
from modgrok.networks.network import Network, as_numpy, grid, outputs
from modgrok.networks.scoring import Score, hidden_map, output_blocks, output_map, predictions, score, score_table
from modgrok.networks.taps import tap
from modgrok.networks.two_layer import Normalization, TwoLayer, hidden, two_layer
from modgrok.setting import setting

OWN_ARCHITECTURES = dict(ARCHITECTURES)
"""Those that modgrok brings."""
