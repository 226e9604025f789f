"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.text import number

TAKEAWAYS = (
    Takeaway(
        "Held at a norm where the test loss is small, teachers' students, digits and transformers learn without delay.",
        {"no_delay_teacher": "holds", "no_delay_digits": "holds", "no_delay_transformer": "holds"},
    ),
    Takeaway(
        "The time to generalization is inverse to the weight decay in all three.",
        {
            "inverse_decay_teacher": "holds",
            "inverse_decay_digits": "holds",
            "inverse_decay_transformer": "holds with a remark",
        },
    ),
    Takeaway(
        "None of it is so for the network of Gromov, which groks by another way than losing norm.",
        {"no_delay_addition": "does not hold here", "inverse_decay_addition": "does not hold here"},
    ),
)
DEVIATIONS = (
    Deviation("images", "MNIST", lambda s: "the 8 × 8 digits of scikit-learn", "come without a download"),
    Deviation("batches of images", "200, and 100 for the landscape", lambda s: "the whole training set", "one program"),
    Deviation("β2 of Adam, students and digits", "0.999", lambda s: "0.98", "the default here; to be rerun with 0.999"),
    Deviation("precision", "float64", lambda s: "float32, transformer's loss float64", "speed"),
    Deviation(
        "weight decays of the digits",
        "0.1 to 1, and 0.01",
        lambda s: ", ".join(map(number, s.digits.free.decays)),
        "device time",
    ),
)
NOT_ATTEMPTED = (
    ("IMDb by an LSTM, molecules by a graph network", "data that has to be downloaded"),
    ("The second term h tan θ of the time (5.1)", "the landscape's slope was not measured"),
    ("Phase diagram of digits against decay and the last layer's rate", "not run yet: minutes of a GPU"),
    ("The landscape of representations (w, m) for addition", "not run yet"),
)
