"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.liu2022 import circle, phases, toy
from modgrok.reproduce.liu2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.liu2022.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="liu2022",
    title="Towards understanding grokking: an effective theory of representation learning",
    reference="Z. Liu, O. Kitouni, N. Nolte, E. Michaud, M. Tegmark and M. Williams, *Towards understanding grokking: "
    "an effective theory of representation learning* (arXiv 2205.10343, 2022)",
    line="sums are learnt when their numbers' embeddings line up; four phases of learning",
    studies=members(Study, toy, phases, circle),
    claims=members(Claim, toy, phases, circle),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    implied=(("grokking_between", "phases_of_rates"),),
    cost={"quick": "1 min on two idle CPU cores", "full": "72 s on an H200"},
)
