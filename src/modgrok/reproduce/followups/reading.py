"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway

TAKEAWAYS = (
    Takeaway(
        "Gradient descent with cross-entropy comes near the largest margin, by single waves whose phases fit.",
        {"largest_margin": "holds", "margin_is_fourier": "holds"},
    ),
    Takeaway(
        "With wrong labels there are five phases, and weight decay makes networks forget the labels and keep the rule.",
        {"five_phases": "holds", "decay_inverts": "holds", "pruning": "holds"},
    ),
    Takeaway(
        "Machines without gradient descent grok too, when their features become circulant.",
        {"machine_groks": "holds", "features_first": "holds"},
    ),
)
DEVIATIONS = (
    Deviation(
        "moduli: margin, wrong labels, machine",
        "71, 97, 61",
        lambda s: f"{s.margin_modulus}, {s.modulus}, {s.machine_modulus}",
        "two CPU cores in the quick profile",
    ),
    Deviation("steps of the margin", "40 000", lambda s: f"{s.margin_steps} at each of the rates", "CPU time"),
    Deviation(
        "fractions and shares of wrong labels",
        "17 of each",
        lambda s: f"{len(s.fractions)}, {len(s.wrong)}",
        "every second one",
    ),
)
NOT_ATTEMPTED = (
    ("Wrong labels under dropout, BatchNorm and minibatches", "not run yet: minutes of a GPU"),
    ("Networks with transformed inputs, and a penalty on the gradient outer product", "not run yet"),
    ("Polynomials by mixtures of experts (2406.03495)", "not written yet"),
)
