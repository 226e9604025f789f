"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members
from modgrok.reproduce.nanda2023 import circuit, progress, sweep
from modgrok.reproduce.nanda2023.sizes import PROFILES

PAPER = Paper(
    key="nanda2023",
    title="Progress measures for grokking via mechanistic interpretability",
    reference="N. Nanda, L. Chan, T. Lieberum, J. Smith and J. Steinhardt, *Progress measures for grokking via "
    "mechanistic interpretability* (arXiv 2301.05217, 2023)",
    line="a transformer adds by a few frequencies, and measures of that circuit grow before the test loss falls",
    studies=members(Study, progress, circuit, sweep),
    claims=members(Claim, progress, circuit, sweep),
    profiles=PROFILES,
    implied=(("parts_of_the_circuit", "restriction_helps"),),
    cost={
        "quick": "90 s on two idle CPU cores",
        "full": "7 min on an H200",
    },
    takeaways=(
        Takeaway(
            "A one-layer transformer groks modular addition, with a handful of frequencies that carry the sum.",
            holds="grokking key_frequencies",
        ),
        Takeaway(
            "The circuit forms before the test loss falls: the excluded loss rises and the restricted loss falls "
            "first, and weights are cleaned up last.",
            holds="excluded_rises_first restricted_falls_first clean_up",
        ),
        Takeaway(
            "The waves of the sum alone answer better than the whole network, and in two dimensions the logits are "
            "products of waves of the same few frequencies.",
            holds="restriction_helps parts_of_the_circuit sparse_logits",
        ),
        Takeaway(
            "After the paper's 40 000 steps most neurons are waves of one frequency: 71 to 97 % of them, 85 % in the "
            "paper.",
            remark="trigonometric_circuit",
        ),
        Takeaway(
            "The weakest key frequency is chosen late: when clean-up begins, frequencies that vanish later are "
            "stronger.",
            fails="chosen_while_forming",
        ),
        Takeaway(
            "With 20 % of the pairs of p = 113 nothing groks in 40 000 steps. The paper's network of p = 401 learns "
            "from so many at once; here one seed of three groks within 8 000 steps, nine times those to memorize.",
            holds="too_little_data",
            fails="other_moduli",
        ),
    ),
    deviations=(
        ("steps", "40 000", "{steps}", "two CPU cores in the quick profile"),
        ("modulus, vectors", "113, 128", "{modulus}, {width}", "two CPU cores in the quick profile"),
        ("fraction, weight decay", "0.3, 1", "{fraction}, {decay}", "small tables need more of both"),
        ("seeds", "1, and others for frequencies", "{seeds} of weights and of the split", "spread"),
    ),
    not_attempted=(
        ("p = 401 with 5 and 10 % of the pairs, which never grok", "a minute of a GPU for every network"),
        ("Dropout and ℓ1 in the place of weight decay; two layers, other widths", "not run yet"),
        (
            "Attention linearized; skip connections averaged instead of set to zero",
            "the ablations here set parts to zero",
        ),
    ),
)
