"""Four findings of this laboratory that no paper reports, each with its controls. A report of our own."""

from modgrok.reproduce.findings import alignment, alignment_claims, dealing, few_neurons, large_steps
from modgrok.reproduce.findings.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import read_paper

PAPER = read_paper(__name__, (QUICK, FULL, TINY), dealing, alignment, alignment_claims, large_steps, few_neurons)
