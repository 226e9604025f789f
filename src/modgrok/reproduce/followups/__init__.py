"""What was found later about networks like the paper's: margins, wrong labels, and machines that learn features."""

from modgrok.reproduce.followups import corruption, features, margin
from modgrok.reproduce.followups.sizes import PROFILES
from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members

PAPER = Paper(
    key="followups",
    title="What came after",
    reference="D. Morwani et al., *Feature emergence via margin maximization* (arXiv 2311.07568); D. Doshi, A. Das, T. "
    "He and A. Gromov, *To grok or not to grok* (arXiv 2310.13061); N. Mallinar et al., *Emergence in non-neural "
    "models* (arXiv 2407.20199)",
    line="largest margins, wrong labels and recursive feature machines on the paper's network and task",
    studies=members(Study, margin, corruption, features),
    claims=members(Claim, margin, corruption, features),
    profiles=PROFILES,
    cost={"quick": "40 s on two idle CPU cores", "full": "2 min on an H200 with CPU cores beside it"},
    takeaways=(
        Takeaway(
            "Gradient descent with cross-entropy comes near the largest margin, by single waves whose phases fit.",
            holds="largest_margin margin_is_fourier",
        ),
        Takeaway(
            "With wrong labels there are five phases, and weight decay makes networks forget the labels and keep the "
            "rule.",
            holds="five_phases decay_inverts pruning",
        ),
        Takeaway(
            "Machines without gradient descent grok too, when their features become circulant.",
            holds="machine_groks features_first",
        ),
    ),
    deviations=(
        (
            "moduli: margin, wrong labels, machine",
            "71, 97, 61",
            "{margin_modulus}, {modulus}, {machine_modulus}",
            "two CPU cores in the quick profile",
        ),
        ("steps of the margin", "40 000", "{margin_steps} at each of the rates", "CPU time"),
        ("fractions and shares of wrong labels", "17 of each", "{fractions:#}, {wrong:#}", "every second one"),
    ),
    not_attempted=(
        ("Wrong labels under dropout, BatchNorm and minibatches", "not run yet: minutes of a GPU"),
        ("Networks with transformed inputs, and a penalty on the gradient outer product", "not run yet"),
        ("Polynomials by mixtures of experts (2406.03495)", "not written yet"),
    ),
)
