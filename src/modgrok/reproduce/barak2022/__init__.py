"""B. Barak et al., Hidden progress in deep learning: SGD learns parities near the computational limit (2022)."""

from modgrok.reproduce.barak2022 import breadth, finite, gradients, online
from modgrok.reproduce.barak2022.sizes import PROFILES
from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members

PAPER = Paper(
    key="barak2022",
    title="Hidden progress in deep learning",
    reference="B. Barak, B. Edelman, S. Goel, S. Kakade, E. Malach and C. Zhang, *Hidden progress in deep learning: "
    "SGD learns parities near the computational limit* (arXiv 2207.08799, 2022)",
    line="sparse parities are learned after a plateau in which the weights already move",
    studies=members(Study, online, breadth, gradients, finite),
    claims=members(Claim, online, breadth, gradients, finite),
    profiles=PROFILES,
    cost={"quick": "1 min on two idle CPU cores", "full": "10 min on two CPU cores"},
    takeaways=(
        Takeaway(
            "Sparse parities are learned after a plateau, in times that concentrate and grow with a power of n below "
            "k.",
            holds="plateau scaling no_luck",
        ),
        Takeaway(
            "In the plateau the weights of the parity's bits already move, if less than half of their way.",
            remark="hidden_progress",
        ),
        Takeaway(
            "Powers and sinusoids learn them too, and so do batches of four examples, networks of ten neurons, and "
            "networks whose labels are 40 % wrong; width does not buy time like lottery tickets.",
            holds="other_activations batches_and_scales width_is_no_luck label_noise",
        ),
        Takeaway(
            "From a thousand fixed examples parities are grokked, and mostly a handful of neurons remains.",
            holds="finite_grokking",
            remark="small_subnetwork",
        ),
    ),
    deviations=(
        ("runs of the histogram of times", "1 000 000", "{histogram_seeds}", "device time"),
        ("networks", "15 architectures", "ReLU, powers and sinusoids in two layers", "the others are not written"),
        (
            "seeds and label noise of the sweeps",
            "25, up to 49 %",
            "{breadth_seeds}, up to 40 % in 50 000 examples",
            "device time; fresh examples have no noise here",
        ),
        ("finite data", "sizes and decays of a figure", "1 000 examples, L2 0.01 (Merrill)", "stated there"),
    ),
    not_attempted=(
        ("Zigzags, PolyNet and the transformer", "no such architectures here"),
        ("Four rates and three kinds of initial weights at every batch", "scales of one kind at one rate instead"),
        ("Width up to 3 000 000", "does not fit; widths to 10 000 instead"),
        ("Label noise of 49 % in fresh examples", "time grows as a power of 1/(1 − 2 · noise); up to 40 % instead"),
    ),
)
