"""What was found later about networks like the paper's: margins, wrong labels, and machines that learn features."""

from modgrok.reproduce.followups import corruption, features, margin
from modgrok.reproduce.followups.sizes import PROFILES
from modgrok.reproduce.form import read_paper

PAPER = read_paper(__name__, PROFILES, margin, corruption, features)
