"""Ways to grok sooner: each in its authors' arena, and all of them tuned by the same search."""

from modgrok.reproduce.accelerators import arenas, contest
from modgrok.reproduce.accelerators.sizes import PROFILES
from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members

PAPER = Paper(
    key="accelerators",
    title="Ways to grok sooner",
    reference="Lee et al., *Grokfast* (arXiv 2405.20233); Prieto et al., *Grokking at the edge of numerical stability* "
    "(arXiv 2501.04697); Tveit et al., *Muon optimizer accelerates grokking* (arXiv 2504.16041); and Lion (arXiv "
    "2302.06675): each in its authors' arena, and all beside AdamW, tuned by the same search",
    line="Grokfast, ⊥Grad, StableMax and Muon in their authors' arenas, and with Lion and AdamW tuned by one search",
    studies=(*members(Study, arenas), *contest.STUDIES),
    claims=(*members(Claim, arenas), *contest.CLAIMS),
    profiles=PROFILES,
    cost={
        "quick": "3 min on two idle CPU cores",
        "full": "14 min on an H200 and 43 on two busy CPU cores",
    },
    takeaways=(
        Takeaway(
            "In their authors' network, without weight decay, ⊥Grad generalizes after 99 steps (409 at half the rate) "
            "and StableMax after 60 000, as medians of three seeds; AdamW does not within 80 000.",
            holds="orthogonal_gradient without_decay",
            remark="stablemax",
        ),
        Takeaway(
            "Beside AdamW tuned by the same search, Grokfast, Muon and StableMax are not faster in a network of one "
            "hidden layer.",
            fails="grokfast_tuned muon_tuned stablemax_tuned",
        ),
        Takeaway(
            "⊥Grad needs half of the steps on sums and products there, and three times as many on S5.",
            remark="orthogonal_gradient_tuned",
        ),
        Takeaway(
            "Inside a transformer Muon takes a third of AdamW's steps on sums and quotients, each at its authors' "
            "rate, and 41 % on products, where AdamW is less than five times as late as on its training set.",
            remark="muon",
        ),
        Takeaway(
            "In their authors' transformer Grokfast's two filters with weight decay need 45 and 16 times fewer steps "
            "than Adam without it, and 23 and 17 times fewer than Adam with the same decay (medians of three seeds).",
            holds="grokfast_beside_decay",
            remark="grokfast",
        ),
    ),
    deviations=(
        ("steps of Adam without decay", "39 890 to 95 %", "{filter_steps} at most", "device time"),
        (
            "Grokfast's transformer",
            "LayerNorm on the residual itself; biases in attention",
            "before each part; none",
            "one transformer for all papers",
        ),
        ("Grokfast's data", "x · y with y ≠ 0, read with its operator", "all pairs, without it", "as above"),
        (
            "modulus, width and batch of transformers",
            "97, 128, 512",
            "{own_modulus}, {own_width}, {own_batch}",
            "two CPU cores in the quick profile",
        ),
        ("modulus and width of ⊥Grad and StableMax", "113, 200-200", "{edge_modulus}, {edge_width} twice", "as above"),
        ("steps of ⊥Grad and StableMax", "300 or 500, 80 000", "{edge_steps}", "all get as many"),
        (
            "β2 of ⊥Grad",
            "0.99, of which the code makes 0.999",
            "0.99 at the lower rate, 0.999 at the other",
            "as AdamW beside it",
        ),
        ("seeds", "1", "{own_seeds}, {inner_seeds} for Muon", "equal runs differ"),
        (
            "Muon's transformer",
            "rotary positions, RMSNorm; rates and decay are not stated",
            "Power's; Muon 0.02, AdamW 0.001, every weight decays by 0.001 a step",
            "no such network here",
        ),
        ("Muon's tasks", "seven, 50 to 80 % of the data", "x + y, x · y and x / y at {own_fraction}", "device time"),
        ("network of the common search", "each author's own", "{width} hidden squares", "one for all"),
        (
            "Muon in the common search",
            "2-D weights inside, AdamW for the rest",
            "all matrices, signs for vectors",
            "a network of one hidden layer has none inside",
        ),
        ("rate and decay in the common search", "one of each", "{rates:#} × {decays:#} trials of each", "same search"),
    ),
    not_attempted=(
        ("Grokfast on images, reviews and molecules", "other tasks than arithmetic"),
        ("⊥Grad on a transformer and by gradient descent, the softmax in 16 and 64 bits", "device time"),
        ("Muon with sparsemax and StableMax, on greatest common divisors, powers and parities", "device time"),
    ),
)
