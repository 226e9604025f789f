"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count, number

TAKEAWAYS = (
    Takeaway(
        "A transformer knows the training part of x / y long before the test part, and without weight decay much "
        "later still.",
        {"division": "holds", "second_descent": "holds"},
    ),
    Takeaway(
        "Operations that are symmetric in x and y need less data than their counterparts.",
        {"symmetric_operations": "holds", "subtraction_as_division": "holds"},
    ),
    Takeaway(
        "Weight decay is what matters most, and it helps more toward zero than toward the initial weights at the "
        "paper's rate; with other rates it does not.",
        {
            "decay_is_best": "holds with a remark",
            "decay_to_the_start": "holds",
            "decay_to_the_start_when_tuned": "does not hold here",
        },
    ),
    Takeaway(
        "How time grows where data is scarce, what is never learnt, cosets and flat minima are not decided: too few "
        "steps or seeds.",
        {
            "time_against_data": "undecided here",
            "never_learnt": "undecided here",
            "structure_of_answers": "undecided here",
            "flat_minima": "undecided here",
        },
    ),
)
DEVIATIONS = (
    Deviation("modulus and group", "97, S5", lambda s: f"{s.modulus}, {s.group}", "two CPU cores in the quick profile"),
    Deviation("steps", "100 000", lambda s: f"{count(s.steps)}, {count(s.long_steps)} for times", "device time"),
    Deviation("steps of division without decay", "1 000 000", lambda s: count(s.plain_steps), "device time"),
    Deviation("seeds", "3", lambda s: str(s.seeds), "device time"),
    Deviation("weight decay of AdamW", "1", lambda s: number(s.decay), "small tables grok sooner with more"),
    Deviation(
        "networks of the sharpness", "20 seeds of one setting", lambda s: "one seed of each setting", "to be run"
    ),
)
NOT_ATTEMPTED = (
    ("A million steps of division without decay", "device time"),
    ("Twenty seeds of one setting for flat minima", "not run yet"),
    ("Times of S5 at 25 to 30 % of the table", "each run takes 100 000 steps or more"),
    ("x + y with lists, copies and reversals (the authors' code has them)", "no figure of the paper shows them"),
    ("Cosets over 16 networks of S5, of S4 and of A4", "one network was looked into; the runs are listed to be made"),
)
