"""Z. Liu, E. Michaud and M. Tegmark, Omnigrok: grokking beyond algorithmic data (2022)."""

from modgrok.reproduce.form import Paper, Takeaway
from modgrok.reproduce.omnigrok2022.landscape import CLAIMS, STUDIES
from modgrok.reproduce.omnigrok2022.sizes import PROFILES

PAPER = Paper(
    key="omnigrok2022",
    title="Omnigrok: grokking beyond algorithmic data",
    reference="Z. Liu, E. Michaud and M. Tegmark, *Omnigrok: grokking beyond algorithmic data* (arXiv 2210.01117, "
    "2022)",
    line="training loss is an L and test loss a U of the weights' norm; time is inverse to decay",
    studies=tuple(STUDIES.values()),
    claims=CLAIMS,
    profiles=PROFILES,
    cost={"quick": "40 s on two idle CPU cores", "full": "97 s on an H200"},
    takeaways=(
        Takeaway(
            "Held at a norm where the test loss is small, teachers' students, digits and transformers learn without "
            "delay.",
            holds="no_delay_teacher no_delay_digits no_delay_transformer",
        ),
        Takeaway(
            "Against the norm the test loss, or error, is a U and the training loss an L in all three.",
            holds="landscape_teacher landscape_digits landscape_transformer",
        ),
        Takeaway(
            "The time to generalization is inverse to the weight decay for students and transformers. For digits it "
            "falls less: under strong decay the test set is known almost as soon as the training set.",
            holds="inverse_decay_teacher",
            remark="inverse_decay_transformer",
            fails="inverse_decay_digits",
        ),
        Takeaway(
            "None of it is so for the network of Gromov, which groks by another way than losing norm.",
            fails="no_delay_addition inverse_decay_addition",
        ),
    ),
    deviations=(
        ("images", "MNIST", "the 8 × 8 digits of scikit-learn", "come without a download"),
        (
            "steps of free runs",
            "100 000",
            "{teacher.free.steps}, images {digits.free.steps}",
            "two CPU cores in the quick profile",
        ),
        ("precision", "float64", "float32, transformer's loss float64", "speed"),
        ("norms of the images' landscape", "21", "{digits.held.scales:#}", "device time"),
    ),
    not_attempted=(
        ("IMDb by an LSTM, molecules by a graph network", "data that has to be downloaded"),
        ("h and θ of the time (5.1) apart", "only h tan θ is found, as what the measured time leaves"),
        ("Phase diagram of digits against decay and the last layer's rate", "not run yet: minutes of a GPU"),
        ("The landscape of representations (w, m) for addition", "not run yet"),
    ),
)
