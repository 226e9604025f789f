"""B. Žunkovič and E. Ilievski, Grokking phase transitions in learning local rules with gradient descent (2022)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.zunkovic2022 import exponential, rule30, trained, two_balls
from modgrok.reproduce.zunkovic2022.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, exponential, two_balls, rule30, trained)
