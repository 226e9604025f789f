"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""

from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.liu2022 import claims, studies_circle, studies_phases, studies_toy
from modgrok.reproduce.liu2022.profile import FULL, QUICK, TINY
from modgrok.reproduce.paper import Paper

PAPER = Paper(
    key="liu2022",
    title="Towards understanding grokking: an effective theory of representation learning",
    reference="Z. Liu, O. Kitouni, N. Nolte, E. Michaud, M. Tegmark and M. Williams, *Towards understanding grokking: "
    "an effective theory of representation learning* (arXiv 2205.10343, 2022)",
    line="sums are learnt when their numbers' embeddings line up; four phases of learning",
    studies=(*studies_toy.STUDIES, *studies_phases.STUDIES, studies_circle.STUDY),
    claims=claims_of(claims),
    profiles=(QUICK, FULL, TINY),
    cost={"quick": "1 min on two idle CPU cores", "full": "72 s on an H200"},
)
