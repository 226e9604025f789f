"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count

TAKEAWAYS = (
    Takeaway(
        "A toy's accuracy is what the parallelograms of its embedding imply.",
        {"accuracy_from_representation": "holds"},
    ),
    Takeaway(
        "By linear algebra 40 % of the pairs force the linear embedding; training needs about twice as many.",
        {"critical_share": "holds", "transition_in_training": "does not hold here"},
    ),
    Takeaway(
        "Times grow as the theory says, with another factor.",
        {"time_to_linear": "holds", "time_from_theory": "holds with a remark"},
    ),
    Takeaway(
        "Fast embeddings comprehend and fast decoders memorize; that grokking lies between is not seen within 10 000 "
        "steps.",
        {"phases_of_rates": "holds", "grokking_between": "undecided here"},
    ),
)
DEVIATIONS = (
    Deviation("steps of phase diagrams", "100 000", lambda s: count(s.diagram_steps), "the authors' code has 10 000"),
    Deviation("lag of grokking", "1 000 steps", lambda s: count(s.lag), "fewer steps in the quick profile"),
    Deviation("seeds of a place of a diagram", "1", lambda s: str(s.diagram_seeds), "spread"),
    Deviation(
        "permutations: start and penalty",
        "a tenth of the weights, L1 0.001",
        lambda s: "usual weights, decay alone",
        "one change at a time",
    ),
    Deviation("seeds of the transformer", "one is shown", lambda s: "1", "to be run with more"),
)
NOT_ATTEMPTED = (
    ("Circles of more than one seed", "not run yet"),
    ("Phase diagram of the transformer, and dropout in it", "not run yet: about ten minutes of a GPU"),
    ("Phases against batch size, initial scale and decay of the embedding (appendix)", "not run yet"),
    ("MNIST", "the digits of omnigrok2022 stand for it"),
)
