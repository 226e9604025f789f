"""B. Barak et al., Hidden progress in deep learning: SGD learns parities near the computational limit (2022)."""

from modgrok.reproduce.barak2022 import finite, gradients, online
from modgrok.reproduce.barak2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.barak2022.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import Claim, Paper, Study, members

PAPER = Paper(
    key="barak2022",
    title="Hidden progress in deep learning",
    reference="B. Barak, B. Edelman, S. Goel, S. Kakade, E. Malach and C. Zhang, *Hidden progress in deep learning: "
    "SGD learns parities near the computational limit* (arXiv 2207.08799, 2022)",
    line="sparse parities are learnt after a plateau in which the weights already move",
    studies=members(Study, online, gradients, finite),
    claims=members(Claim, online, gradients, finite),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "1 min on two idle CPU cores", "full": "7 min on two CPU cores"},
)
