"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.power2022 import delay, minima, operations, unembedding, variants
from modgrok.reproduce.power2022.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, delay, variants, operations, unembedding, minima)
