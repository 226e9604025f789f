"""B. Žunkovič and E. Ilievski, Grokking phase transitions in learning local rules with gradient descent (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members
from modgrok.reproduce.zunkovic2022 import exponential, rule30, two_balls
from modgrok.reproduce.zunkovic2022.sizes import PROFILES

PAPER = Paper(
    key="zunkovic2022",
    title="Grokking phase transitions in learning local rules",
    reference="B. Žunkovič and E. Ilievski, *Grokking phase transitions in learning local rules with gradient descent* "
    "(arXiv 2210.15435, JMLR 2024)",
    line="two solvable models in which the test error vanishes at a finite time, and Rule 30 as a third",
    studies=members(Study, exponential, two_balls, rule30),
    claims=members(Claim, exponential, two_balls, rule30),
    profiles=PROFILES,
    cost={"quick": "half a minute on two CPU cores", "full": "1 min on two CPU cores"},
    takeaways=(
        Takeaway(
            "In two solvable models the test error vanishes at a finite time, with the exponents, probabilities and "
            "times of the formulas, once misprints are mended.",
            holds="linear_transition ball_exponent",
            remark="ball_probability ball_times",
        ),
        Takeaway("L1 groks where L2 hardly does.", holds="sparse_weights"),
        Takeaway(
            "For Rule 30 three bits are not enough in all of the paper's examples, and its exponents cannot be "
            "compared without the range of their fit.",
            fails="local_rule",
            undecided="rule_exponents",
        ),
    ),
    deviations=(
        ("random matrices of Rule 30", "20 000", "{pairs}", "time"),
        ("start and range of the exponents' fit", "not given", "{starts} normal starts", "chosen here"),
    ),
    not_attempted=(
        ("Trained tensor networks (d = 10, 20, 40, about 1 000 starts)", "no such architecture yet"),
        ("Exponents against the range of the fit, and rings that are not normalized", "the paper states neither"),
    ),
)
