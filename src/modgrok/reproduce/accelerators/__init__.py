"""Ways to grok sooner, each tuned by the same search and compared at its best."""

from modgrok.reproduce.accelerators import contest
from modgrok.reproduce.accelerators.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import Deviation, Paper

PAPER = Paper(
    key="accelerators",
    title="Ways to grok sooner",
    reference="Lee et al., *Grokfast* (arXiv 2405.20233); Prieto et al., *Grokking at the edge of numerical stability* "
    "(arXiv 2501.04697); Tveit et al., *Muon optimizer accelerates grokking* (arXiv 2504.16041); and Lion (arXiv "
    "2302.06675), each beside AdamW and tuned by the same search",
    line="Grokfast, ⊥Grad, StableMax, Muon and Lion beside AdamW, all tuned by one search",
    studies=contest.STUDIES,
    claims=contest.CLAIMS,
    profiles=(QUICK, FULL, TINY),
    deviations=(
        Deviation(
            "arena",
            "each author's own network and task",
            lambda s: "a quadratic perceptron on n + m, n · m and a group",
            "one arena for all; each author's own is not run yet",
        ),
        Deviation(
            "Muon",
            "√max(1, rows/columns), AdamW for vectors and embeddings",
            lambda s: "every matrix orthogonalized, signs for vectors",
            "as it is implemented here",
        ),
    ),
    not_attempted=(
        (
            "Grokfast on the two-layer transformer and x · y; ⊥Grad and StableMax without decay at p = 113",
            "not run yet",
        ),
    ),
    cost={"quick": "2 min on two idle CPU cores", "full": "5 min on an H200"},
)
