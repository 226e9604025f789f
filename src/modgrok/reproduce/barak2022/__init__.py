"""B. Barak et al., Hidden progress in deep learning: SGD learns parities near the computational limit (2022)."""

from modgrok.reproduce.barak2022 import breadth, finite, gradients, online
from modgrok.reproduce.barak2022.sizes import PROFILES
from modgrok.reproduce.form import read_paper

PAPER = read_paper(__name__, PROFILES, online, breadth, gradients, finite)
