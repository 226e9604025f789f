"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count, number

TAKEAWAYS = (
    Takeaway(
        "A one-layer transformer groks modular addition, with a handful of frequencies that carry the sum.",
        {"grokking": "holds", "key_frequencies": "holds"},
    ),
    Takeaway(
        "The circuit forms before the test loss falls: the excluded loss rises and the restricted loss falls first, "
        "and weights are cleaned up last.",
        {"excluded_rises_first": "holds", "restricted_falls_first": "holds", "clean_up": "holds"},
    ),
    Takeaway(
        "The waves of the sum alone answer better than the whole network.",
        {"restriction_helps": "holds", "parts_of_the_circuit": "holds"},
    ),
    Takeaway(
        "Whether as many neurons are single waves, and whether 20 % of the pairs never grok, takes the paper's 40 000 "
        "steps.",
        {"trigonometric_circuit": "undecided here", "too_little_data": "undecided here"},
    ),
)
DEVIATIONS = (
    Deviation("steps", "40 000", lambda s: count(s.steps), "device time"),
    Deviation(
        "modulus, vectors", "113, 128", lambda s: f"{s.modulus}, {s.width}", "two CPU cores in the quick profile"
    ),
    Deviation(
        "fraction, weight decay",
        "0.3, 1",
        lambda s: f"{number(s.fraction)}, {number(s.decay)}",
        "small tables need more of both",
    ),
    Deviation("seeds", "1, and others for frequencies", lambda s: f"{s.seeds} of weights and of the split", "spread"),
)
NOT_ATTEMPTED = (
    ("Two-dimensional Fourier transform of the logits, and its coefficients over time", "no figure yet; cheap to add"),
    ("p = 53, 109 and 401", "not run yet: minutes on a GPU"),
    ("Dropout and ℓ1 in the place of weight decay; two layers, other widths", "not run yet"),
    ("Attention linearized; skip connections averaged instead of set to zero", "the ablations here set parts to zero"),
)
