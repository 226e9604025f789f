"""Ways to grok sooner, each tuned by the same search and compared at its best."""

from modgrok.reproduce.accelerators import contest
from modgrok.reproduce.accelerators.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.accelerators.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import Paper

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
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    implied=tuple((f"{name}_tuned", name) for name in ("grokfast", "muon", "orthogonal_gradient", "stablemax")),
    cost={"quick": "2 min on two idle CPU cores", "full": "5 min on an H200"},
)
