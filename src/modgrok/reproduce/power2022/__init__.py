"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""

from operator import attrgetter

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.power2022 import delay, minima, operations, unembedding, variants
from modgrok.reproduce.power2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.power2022.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="power2022",
    title="Grokking: generalization beyond overfitting on small algorithmic datasets",
    reference="A. Power, Y. Burda, H. Edwards, I. Babuschkin and V. Misra, *Grokking: generalization beyond "
    "overfitting on small algorithmic datasets* (arXiv 2201.02177, 2022)",
    line="a transformer learns tables of operations by heart, and understands them much later",
    studies=tuple(sorted(members(Study, delay, variants, operations, unembedding, minima), key=attrgetter("name"))),
    claims=(*members(Claim, delay, variants, operations, unembedding), minima.flat_minima),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "4 min on two idle CPU cores", "full": "about 37 min on an H200 (13, 5, 12 and 7, in four calls)"},
)
