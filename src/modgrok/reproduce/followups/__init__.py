"""What was found later about networks like the paper's: margins, wrong labels, and machines that learn features."""

from modgrok.reproduce.followups import corruption, features, margin
from modgrok.reproduce.followups.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.followups.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import Claim, Paper, Study, members

PAPER = Paper(
    key="followups",
    title="What came after",
    reference="D. Morwani et al., *Feature emergence via margin maximization* (arXiv 2311.07568); D. Doshi, A. Das, T. "
    "He and A. Gromov, *To grok or not to grok* (arXiv 2310.13061); N. Mallinar et al., *Emergence in non-neural "
    "models* (arXiv 2407.20199)",
    line="largest margins, wrong labels and recursive feature machines on the paper's network and task",
    studies=members(Study, margin, corruption, features),
    claims=members(Claim, margin, corruption, features),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "40 s on two idle CPU cores", "full": "2 min on an H200 with CPU cores beside it"},
)
