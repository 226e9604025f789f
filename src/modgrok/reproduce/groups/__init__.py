"""Every finite group: what the paper does for Z_p, found again in trained networks. A report of our own."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.groups import dealing, neurons, sweeps, written
from modgrok.reproduce.groups.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, written, neurons, dealing, sweeps)
