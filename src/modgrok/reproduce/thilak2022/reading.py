"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import count

TAKEAWAYS = (
    Takeaway(
        "Adam without weight decay has slingshots: the last layer grows, the loss spikes, the last layer rests.",
        {"stairs_and_spikes": "holds", "curvature_peaks": "holds"},
    ),
    Takeaway(
        "They come from rounding: with logits and loss in 64 bits, a larger ε or weight decay there are none.",
        {"precision_is_the_cause": "holds", "larger_epsilon": "holds", "decay_removes": "holds"},
    ),
    Takeaway(
        "The paper's transformer has late spikes as the perceptron does.", {"slingshots_of_the_transformer": "holds"}
    ),
    Takeaway(
        "Whether the transformer generalizes after stairs alone takes 100 000 steps or more.",
        {"generalization_after_stairs": "undecided here"},
    ),
)
DEVIATIONS = (
    Deviation("network of stairs, spikes and curvature", "transformer", lambda s: "two hidden layers of ReLU", "cheap"),
    Deviation("steps of the transformer", "up to 1 000 000", lambda s: "15 000", "device time"),
    Deviation("steps of the perceptron", "–", lambda s: count(s.steps), "spikes come soon"),
    Deviation(
        "modulus of the perceptron, of the curvature", "97", lambda s: f"{s.modulus}, 17", "followed step by step"
    ),
    Deviation("tasks", "18 tables and splits", lambda s: "n + m, and x / y by the transformer", "device time"),
)
NOT_ATTEMPTED = (
    ("Division by the transformer for 500 000 steps at ε = 1e-8 and 1e-5", "about 25 minutes of an H200; to be run"),
    ("Change of features in the transformer", "is measured on the perceptron so far"),
    ("CIFAR-10, deep linear networks, Adagrad", "not run yet"),
    ("Last-layer weights and features normalized", "no such setting yet"),
)
