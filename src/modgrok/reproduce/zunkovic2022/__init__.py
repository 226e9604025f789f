"""B. Žunkovič and E. Ilievski, Grokking phase transitions in learning local rules with gradient descent (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.zunkovic2022 import exponential, rule30, two_balls
from modgrok.reproduce.zunkovic2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.zunkovic2022.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="zunkovic2022",
    title="Grokking phase transitions in learning local rules",
    reference="B. Žunkovič and E. Ilievski, *Grokking phase transitions in learning local rules with gradient descent* "
    "(arXiv 2210.15435, JMLR 2024)",
    line="two solvable models in which the test error vanishes at a finite time, and Rule 30 as a third",
    studies=members(Study, exponential, two_balls, rule30),
    claims=members(Claim, exponential, two_balls, rule30),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "half a minute on two CPU cores", "full": "1 min on two CPU cores"},
)
