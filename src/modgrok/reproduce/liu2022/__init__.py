"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.liu2022 import phases, toy, transformer
from modgrok.reproduce.liu2022.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, toy, phases, transformer)
