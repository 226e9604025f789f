"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""

from modgrok.reproduce.form import Claim, Deviation, Paper, Study, members
from modgrok.reproduce.liu2022 import circle, phases, toy
from modgrok.reproduce.liu2022.sizes import FULL, QUICK, TINY
from modgrok.text import count

PAPER = Paper(
    key="liu2022",
    title="Towards understanding grokking: an effective theory of representation learning",
    reference="Z. Liu, O. Kitouni, N. Nolte, E. Michaud, M. Tegmark and M. Williams, *Towards understanding grokking: "
    "an effective theory of representation learning* (arXiv 2205.10343, 2022)",
    line="sums are learnt when their numbers' embeddings line up; four phases of learning",
    studies=members(Study, toy, phases, circle),
    claims=members(Claim, toy, phases, circle),
    profiles=(QUICK, FULL, TINY),
    deviations=(
        Deviation(
            "steps of phase diagrams",
            "100 000 (10 000 in the authors' code)",
            lambda s: count(s.diagram_steps),
            "as the code has it",
        ),
        Deviation("lag that counts as grokking", "1 000", lambda s: count(s.lag), "two CPU cores in the quick profile"),
    ),
    not_attempted=(
        ("The phase diagram of the transformer, and dropout", "not run yet"),
        ("Circles of more than one seed", "not run yet"),
    ),
    cost={"quick": "1 min on two idle CPU cores", "full": "72 s on an H200"},
)
