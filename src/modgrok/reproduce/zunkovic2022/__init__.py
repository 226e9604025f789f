"""B. Žunkovič and E. Ilievski, Grokking phase transitions in learning local rules with gradient descent (2022)."""

from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.paper import Paper
from modgrok.reproduce.zunkovic2022 import claims, studies_ball, studies_exponential, studies_rule30
from modgrok.reproduce.zunkovic2022.profile import FULL, QUICK, TINY

PAPER = Paper(
    key="zunkovic2022",
    title="Grokking phase transitions in learning local rules",
    reference="B. Žunkovič and E. Ilievski, *Grokking phase transitions in learning local rules with gradient descent* "
    "(arXiv 2210.15435, JMLR 2024)",
    line="two solvable models in which the test error vanishes at a finite time, and Rule 30 as a third",
    studies=(*studies_exponential.STUDIES, *studies_ball.STUDIES, *studies_rule30.STUDIES),
    claims=claims_of(claims),
    profiles=(QUICK, FULL, TINY),
    cost={"quick": "half a minute on two CPU cores", "full": "1 min on two CPU cores"},
)
