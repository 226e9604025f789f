"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway

TAKEAWAYS = (
    Takeaway(
        "Sparse parities are learnt after a plateau, in times that concentrate and grow with a power of n below k.",
        {"plateau": "holds", "scaling": "holds", "no_luck": "holds"},
    ),
    Takeaway(
        "In the plateau the weights of the parity's bits already move, if less than half of their way.",
        {"hidden_progress": "holds with a remark"},
    ),
    Takeaway(
        "From a thousand fixed examples parities are grokked, and mostly a handful of neurons remains.",
        {"finite_grokking": "holds", "small_subnetwork": "holds with a remark"},
    ),
)
DEVIATIONS = (
    Deviation("runs of the histogram of times", "1 000 000", lambda s: str(s.histogram_seeds), "device time"),
    Deviation("networks", "15 architectures, k-zigzag and transformers among them", lambda s: "100 ReLU", "the first"),
    Deviation(
        "finite data", "sizes and decays of a figure", lambda s: "1 000 examples, L2 0.01 (Merrill)", "stated there"
    ),
)
NOT_ATTEMPTED = (
    ("Other activations (z^k, sinusoid, zigzag), PolyNet, the transformer", "not run yet: minutes for each"),
    ("Batch sizes 1 to 1 024 against three initializations and four rates", "not run yet"),
    ("Width up to 3 000 000", "does not fit; widths to 10 000 would take minutes"),
    ("Label noise up to 49 %", "not run yet"),
)
