"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""

from operator import attrgetter

from modgrok.reproduce.form import Claim, Deviation, Paper, Study, members
from modgrok.reproduce.power2022 import delay, minima, operations, unembedding, variants
from modgrok.reproduce.power2022.sizes import FULL, QUICK, TINY
from modgrok.text import count

PAPER = Paper(
    key="power2022",
    title="Grokking: generalization beyond overfitting on small algorithmic datasets",
    reference="A. Power, Y. Burda, H. Edwards, I. Babuschkin and V. Misra, *Grokking: generalization beyond "
    "overfitting on small algorithmic datasets* (arXiv 2201.02177, 2022)",
    line="a transformer learns tables of operations by heart, and understands them much later",
    studies=tuple(sorted(members(Study, delay, variants, operations, unembedding, minima), key=attrgetter("name"))),
    claims=(*members(Claim, delay, variants, operations, unembedding), minima.flat_minima),
    profiles=(QUICK, FULL, TINY),
    deviations=(
        Deviation("p", "97", lambda s: str(s.modulus), "two CPU cores in the quick profile"),
        Deviation("steps", "100 000", lambda s: count(s.steps), "device time"),
        Deviation("steps of division without decay", "1 000 000", lambda s: count(s.plain_steps), "device time"),
        Deviation("seeds", "3", lambda s: str(s.seeds), "device time"),
    ),
    not_attempted=(
        ("Shares of 25 to 30 % with five seeds in the times against data", "not run yet"),
        ("Twenty seeds of one setting for flat minima", "not run yet"),
        ("A million steps of division without decay", "device time"),
    ),
    cost={"quick": "4 min on two idle CPU cores", "full": "about 37 min on an H200 (13, 5, 12 and 7, in four calls)"},
)
