"""Ways to grok sooner: each in its authors' arena, and all of them tuned by the same search."""

from modgrok.reproduce.accelerators import arenas, contest
from modgrok.reproduce.accelerators.sizes import PROFILES
from modgrok.reproduce.form import read_paper

PAPER = read_paper(__name__, PROFILES, arenas, contest)
