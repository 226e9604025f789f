"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count

TAKEAWAYS = (
    Takeaway(
        "Beside AdamW that is tuned by the same search Grokfast, Muon and StableMax are not faster in this network.",
        {
            "grokfast_tuned": "does not hold here",
            "muon_tuned": "does not hold here",
            "stablemax_tuned": "does not hold here",
        },
    ),
    Takeaway(
        "⊥Grad needs half of the steps on sums and products, and three times as many on S5.",
        {"orthogonal_gradient_tuned": "holds with a remark"},
    ),
    Takeaway(
        "What the authors say of their own networks is not decided: this one has no delay once AdamW is tuned.",
        {"grokfast": "undecided here", "muon": "undecided here", "without_decay": "undecided here"},
    ),
)
DEVIATIONS = (
    Deviation(
        "network of Grokfast", "two-layer transformer, x · y", lambda s: f"{s.width} hidden squares", "one for all"
    ),
    Deviation(
        "network of ⊥Grad and StableMax",
        "200-200 ReLU, p = 113, 40 %, no decay",
        lambda s: f"{s.width} hidden squares",
        "one for all",
    ),
    Deviation(
        "Muon", "2-D weights inside, AdamW for the rest", lambda s: "all matrices, signs for vectors", "as it is here"
    ),
    Deviation("steps", "39 890 for Adam, 80 000 for StableMax", lambda s: count(s.steps), "tuned AdamW is done in 20"),
    Deviation(
        "rate and decay", "one of each", lambda s: f"{len(s.rates) * len(s.decays)} trials of each", "same search"
    ),
)
NOT_ATTEMPTED = (
    ("Grokfast on x · y by the two-layer transformer", "to be run: its authors' own setting comes first"),
    ("⊥Grad and StableMax without decay at p = 113", "to be run"),
    ("Jordan's Muon, with its factor for shapes and AdamW for embeddings", "is not written yet"),
)
