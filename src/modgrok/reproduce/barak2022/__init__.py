"""B. Barak et al., Hidden progress in deep learning: SGD learns parities near the computational limit (2022)."""

from modgrok.reproduce.barak2022 import claims, studies_finite, studies_online, studies_theory
from modgrok.reproduce.barak2022.profile import FULL, QUICK, TINY
from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.paper import Paper

PAPER = Paper(
    key="barak2022",
    title="Hidden progress in deep learning",
    reference="B. Barak, B. Edelman, S. Goel, S. Kakade, E. Malach and C. Zhang, *Hidden progress in deep learning: "
    "SGD learns parities near the computational limit* (arXiv 2207.08799, 2022)",
    line="sparse parities are learnt after a plateau in which the weights already move",
    studies=(*studies_online.STUDIES, studies_theory.STUDY, studies_finite.STUDY),
    claims=claims_of(claims),
    profiles=(QUICK, FULL, TINY),
    cost={"quick": "1 min on two idle CPU cores", "full": "7 min on two CPU cores"},
)
