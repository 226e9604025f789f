"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.gromov2023.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES)
