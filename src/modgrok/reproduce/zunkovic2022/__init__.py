"""B. Žunkovič and E. Ilievski, Grokking phase transitions in learning local rules with gradient descent (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members, sizes
from modgrok.reproduce.zunkovic2022 import exponential, rule30, trained, two_balls

PROFILES = sizes(
    sets=(3_000, 20_000, 100),  # random training sets for each point of a probability
    time_sets=(200_000, 2_000_000, 5_000),  # random training sets for each distribution of grokking times
    points=(100_000, 1_000_000, 2_000),  # test points for each sampled test error
    starts=(20, 60, 3),  # of a flow for each setting
    length=(12, 14, 6),  # bits of the longest ring on which Rule 30 is tested, all of them
    pairs=(2_000, 10_000, 20),  # random pairs of matrices
    bond=((4,), (5, 10), (2,)),  # d of networks that are trained whole
    networks=(6, 16, 2),
    network_steps=(600, 2_000, 20),
)
PAPER = Paper(
    key="zunkovic2022",
    title="Grokking phase transitions in learning local rules",
    reference="B. Žunkovič and E. Ilievski, *Grokking phase transitions in learning local rules with gradient descent* "
    "(arXiv 2210.15435, JMLR 2024)",
    line="two solvable models in which the test error vanishes at a finite time, and Rule 30 as a third",
    studies=members(Study, exponential, two_balls, rule30, trained),
    claims=members(Claim, exponential, two_balls, rule30, trained),
    profiles=PROFILES,
    cost={"quick": "1 min on two CPU cores", "full": "8 min on two CPU cores"},
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
        (
            "networks trained whole: d, starts, test strings",
            "10, 20, 40; about 1 000; not given",
            "{bond}; {networks}; 512 of 14 bits",
            "CPU time",
        ),
    ),
    not_attempted=(("Exponents and effective dimensions of networks trained whole", "they need about 1 000 starts"),),
)
