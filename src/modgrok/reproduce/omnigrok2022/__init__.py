"""Z. Liu, E. Michaud and M. Tegmark, Omnigrok: grokking beyond algorithmic data (2022)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.omnigrok2022 import landscape
from modgrok.reproduce.omnigrok2022.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, landscape)
