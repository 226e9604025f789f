"""Ways to grok sooner: each in its authors' arena, and all of them tuned by the same search."""

from modgrok.reproduce.accelerators import arenas, contest
from modgrok.reproduce.accelerators.sizes import PROFILES
from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members

PAPER = Paper(
    key="accelerators",
    title="Ways to grok sooner",
    reference="Lee et al., *Grokfast* (arXiv 2405.20233); Prieto et al., *Grokking at the edge of numerical stability* "
    "(arXiv 2501.04697); Tveit et al., *Muon optimizer accelerates grokking* (arXiv 2504.16041); and Lion (arXiv "
    "2302.06675), each beside AdamW and tuned by the same search",
    line="Grokfast, ⊥Grad, StableMax, Muon and Lion beside AdamW, all tuned by one search",
    studies=(*members(Study, arenas), *contest.STUDIES),
    claims=(*members(Claim, arenas), *contest.CLAIMS),
    profiles=PROFILES,
    cost={"quick": "2 min on two idle CPU cores", "full": "5 min on an H200"},
    takeaways=(
        Takeaway(
            "Beside AdamW that is tuned by the same search Grokfast, Muon and StableMax are not faster in this "
            "network.",
            fails="grokfast_tuned muon_tuned stablemax_tuned",
        ),
        Takeaway(
            "⊥Grad needs half of the steps on sums and products, and three times as many on S5.",
            remark="orthogonal_gradient_tuned",
        ),
        Takeaway(
            "What the authors say of their own networks is not decided: this one has no delay once AdamW is tuned.",
            undecided="grokfast muon without_decay",
        ),
    ),
    deviations=(
        ("network of Grokfast", "two-layer transformer, x · y", "{width} hidden squares", "one for all"),
        (
            "network of ⊥Grad and StableMax",
            "200-200 ReLU, p = 113, 40 %, no decay",
            "{width} hidden squares",
            "one for all",
        ),
        ("Muon", "2-D weights inside, AdamW for the rest", "all matrices, signs for vectors", "as it is here"),
        ("steps", "39 890 for Adam, 80 000 for StableMax", "{steps}", "tuned AdamW is done in 20"),
        ("rate and decay", "one of each", "{rates:#} × {decays:#} trials of each", "same search"),
    ),
    not_attempted=(
        ("Grokfast on x · y by the two-layer transformer", "to be run: its authors' own setting comes first"),
        ("⊥Grad and StableMax without decay at p = 113", "to be run"),
        ("Jordan's Muon, with its factor for shapes and AdamW for embeddings", "is not written yet"),
    ),
)
