"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count

TAKEAWAYS = (
    Takeaway(
        "In two solvable models the test error vanishes at a finite time, with the exponents, probabilities and times "
        "of the formulas, once misprints are mended.",
        {
            "linear_transition": "holds",
            "ball_exponent": "holds",
            "ball_probability": "holds with a remark",
            "ball_times": "holds with a remark",
        },
    ),
    Takeaway("L1 groks where L2 hardly does.", {"sparse_weights": "holds"}),
    Takeaway(
        "For Rule 30 three bits are not enough in all of the paper's examples, and its exponents cannot be compared "
        "without the range of their fit.",
        {"local_rule": "does not hold here", "rule_exponents": "undecided here"},
    ),
)
DEVIATIONS = (
    Deviation("random matrices of Rule 30", "20 000", lambda s: count(s.pairs), "time"),
    Deviation(
        "start and range of the exponents' fit", "not given", lambda s: f"{s.starts} normal starts", "chosen here"
    ),
)
NOT_ATTEMPTED = (
    ("Trained tensor networks (d = 10, 20, 40, about 1 000 starts)", "no such architecture yet"),
    ("Exponents against the range of the fit, and rings that are not normalized", "the paper states neither"),
)
