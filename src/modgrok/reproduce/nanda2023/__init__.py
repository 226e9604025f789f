"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.nanda2023 import circuit, progress, sweep
from modgrok.reproduce.nanda2023.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.nanda2023.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="nanda2023",
    title="Progress measures for grokking via mechanistic interpretability",
    reference="N. Nanda, L. Chan, T. Lieberum, J. Smith and J. Steinhardt, *Progress measures for grokking via "
    "mechanistic interpretability* (arXiv 2301.05217, 2023)",
    line="a transformer adds by a few frequencies, and measures of that circuit grow before the test loss falls",
    studies=members(Study, progress, circuit, sweep),
    claims=members(Claim, progress, circuit, sweep),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    implied=(("parts_of_the_circuit", "restriction_helps"),),
    cost={"quick": "90 s on two idle CPU cores", "full": "3 min on an H200"},
)
