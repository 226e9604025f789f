"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.nanda2023 import circuit, logits, moduli, progress, sweep
from modgrok.reproduce.nanda2023.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, progress, circuit, logits, sweep, moduli)
