"""V. Thilak et al., The slingshot mechanism (2022)."""

from modgrok.reproduce.form import read_paper
from modgrok.reproduce.thilak2022 import curvature, stairs, transformer
from modgrok.reproduce.thilak2022.sizes import PROFILES

PAPER = read_paper(__name__, PROFILES, stairs, transformer, curvature)
