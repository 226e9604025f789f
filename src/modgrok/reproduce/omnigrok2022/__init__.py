"""Z. Liu, E. Michaud and M. Tegmark, Omnigrok: grokking beyond algorithmic data (2022)."""

from modgrok.reproduce.form import Paper
from modgrok.reproduce.omnigrok2022.landscape import CLAIMS, STUDIES
from modgrok.reproduce.omnigrok2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.omnigrok2022.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="omnigrok2022",
    title="Omnigrok: grokking beyond algorithmic data",
    reference="Z. Liu, E. Michaud and M. Tegmark, *Omnigrok: grokking beyond algorithmic data* (arXiv 2210.01117, "
    "2022)",
    line="training loss is an L and test loss a U of the weights' norm; time is inverse to decay",
    studies=tuple(STUDIES.values()),
    claims=CLAIMS,
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "40 s on two idle CPU cores", "full": "97 s on an H200"},
)
