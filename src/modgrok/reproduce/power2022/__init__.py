"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""

from operator import attrgetter

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members
from modgrok.reproduce.power2022 import delay, minima, operations, unembedding, variants
from modgrok.reproduce.power2022.sizes import PROFILES

PARTS = (delay, variants, operations, unembedding, minima)
PAPER = Paper(
    key="power2022",
    title="Grokking: generalization beyond overfitting on small algorithmic datasets",
    reference="A. Power, Y. Burda, H. Edwards, I. Babuschkin and V. Misra, *Grokking: generalization beyond "
    "overfitting on small algorithmic datasets* (arXiv 2201.02177, 2022)",
    line="a transformer learns tables of operations by heart, and understands them much later",
    studies=tuple(sorted(members(Study, *PARTS), key=attrgetter("name"))),
    claims=members(Claim, *PARTS),
    profiles=PROFILES,
    cost={"quick": "4 min on two idle CPU cores", "full": "41 min on an H200"},
    takeaways=(
        Takeaway(
            "A transformer knows the training part of x / y long before the test part, and without weight decay much "
            "later still.",
            holds="division second_descent",
        ),
        Takeaway(
            "Operations that are symmetric in x and y need less data than their counterparts.",
            holds="symmetric_operations subtraction_as_division",
        ),
        Takeaway(
            "Weight decay is what matters most, and it helps more toward zero than toward the initial weights at the "
            "paper's rate; with other rates it does not.",
            holds="decay_to_the_start",
            remark="decay_is_best",
            fails="decay_to_the_start_when_tuned",
        ),
        Takeaway(
            "Without weight decay the test accuracy of division rises only after 100 000 steps, and 500 000 do not "
            "bring it to 99 %.",
            undecided="division_without_decay",
        ),
        Takeaway(
            "With less data the test set of x / y takes longer and the training set does not; networks that know S5 "
            "keep cosets together, and flat minima generalize.",
            holds="structure_of_answers flat_minima",
            remark="time_against_data",
        ),
    ),
    deviations=(
        ("modulus and group", "97, S5", "{modulus}, {group}", "two CPU cores in the quick profile"),
        ("steps", "100 000", "{steps}, {long_steps} for times, {paper_steps} where a claim needs them", "device time"),
        ("steps of division without decay", "1 000 000", "{lasting_steps}", "device time"),
        ("operation of the times that are judged", "x ∘ y", "x / y", "S5 at 30 % takes more than 40 000 steps"),
        ("seeds", "3", "{seeds}, {scarce_seeds} for the times that are judged", "device time"),
        ("weight decay of AdamW", "1", "{decay}", "small tables grok sooner with more"),
        (
            "networks of the sharpness",
            "20 seeds at 70 % of the table",
            "{minima_seeds} seeds at {minima_fraction}, step {minima_steps}",
            "with weight decay both networks tried knew the rest at 70 %",
        ),
    ),
    not_attempted=(
        ("A million steps of division without decay", "device time; half of them are run"),
        ("Times of S5 at 25 to 30 % of the table", "each run takes 100 000 steps or more"),
        ("x³ + xy² + y for 100 000 steps at less than 70 % of the table", "less data does not make it easier"),
        ("x + y with lists, copies and reversals (the authors' code has them)", "no figure of the paper shows them"),
        ("Three rates of Adam without decay for 100 000 steps", "device time; 10 000 are too few to compare them"),
    ),
)
