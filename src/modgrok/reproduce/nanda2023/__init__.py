"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.nanda2023 import circuit, progress, sweep
from modgrok.reproduce.nanda2023.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, progress, circuit, sweep)
