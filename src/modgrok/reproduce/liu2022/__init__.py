"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members
from modgrok.reproduce.liu2022 import phases, toy, transformer
from modgrok.reproduce.liu2022.sizes import PROFILES

PAPER = Paper(
    key="liu2022",
    title="Towards understanding grokking: an effective theory of representation learning",
    reference="Z. Liu, O. Kitouni, N. Nolte, E. Michaud, M. Tegmark and M. Williams, *Towards understanding grokking: "
    "an effective theory of representation learning* (arXiv 2205.10343, 2022)",
    line="sums are learned when their numbers' embeddings line up; four phases of learning",
    studies=members(Study, toy, phases, transformer),
    claims=members(Claim, toy, phases, transformer),
    profiles=PROFILES,
    implied=(("grokking_between", "phases_of_rates"),),
    cost={"quick": "1 min on two idle CPU cores", "full": "5 min on an H200"},
    takeaways=(
        Takeaway(
            "A toy's accuracy is what the parallelograms of its embedding imply.", holds="accuracy_from_representation"
        ),
        Takeaway(
            "By linear algebra 40 % of the pairs force the linear embedding; training needs about twice as many.",
            holds="critical_share",
            fails="transition_in_training",
        ),
        Takeaway(
            "Times grow as the theory says, with another factor.", holds="time_to_linear", remark="time_from_theory"
        ),
        Takeaway(
            "Fast embeddings comprehend, fast decoders memorize, and the strongest weight decay confuses them.",
            holds="phases_of_rates phases_of_decay",
            remark="corners",
        ),
        Takeaway(
            "In a transformer grokking lies between memorization and comprehension; in the toy, at the paper's 100 000 "
            "steps, it does not. Dropout 0.5 leaves a fifth of the transformer's delay, and none removes it; its "
            "embedding is no circle.",
            holds="phases_of_the_transformer",
            fails="grokking_between dropout_removes_the_delay circle",
        ),
    ),
    deviations=(
        ("steps of diagrams (a) and (b)", "100 000", "{diagram_steps}", "two CPU cores in the quick profile"),
        ("steps of (c) and (d)", "100 000", "{other_steps}", "the authors' code has 10 000"),
        ("lag of grokking", "1 000 steps", "{lag}", "fewer steps in the quick profile"),
        (
            "seeds of a place of a diagram",
            "1",
            "{diagram_seeds} in (a) and (b), {other_seeds} in (c) and (d)",
            "spread",
        ),
        ("corners of the diagrams", "in the diagrams", "networks of their own, on two CPU cores", "device time"),
        (
            "permutations: start and penalty",
            "a tenth of the weights, L1 0.001",
            "usual weights, decay alone",
            "one change at a time",
        ),
        (
            "transformer",
            "reads n m, one head, LayerNorm",
            "reads n m =; in the phase diagram four heads and no LayerNorm",
            "the network of nanda2023",
        ),
        ("seeds of the transformer", "1 to 3", "{transformer_seeds}; {circle_seeds} for the circle", "spread"),
    ),
    not_attempted=(
        ("Phases against batch size, initial scale and decay of the embedding (appendix)", "not run yet"),
        ("MNIST", "the digits of omnigrok2022 stand for it"),
    ),
)
