"""V. Thilak et al., The slingshot mechanism (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.thilak2022 import curvature, stairs, transformer
from modgrok.reproduce.thilak2022.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.thilak2022.sizes import FULL, QUICK, TINY

PAPER = Paper(
    key="thilak2022",
    title="The slingshot mechanism",
    reference="V. Thilak, E. Littwin, S. Zhai, O. Saremi, R. Paiss and J. Susskind, *The slingshot mechanism: an "
    "empirical study of adaptive optimizers and the grokking phenomenon* (arXiv 2206.04817, 2022)",
    line="Adam's last layer grows in stairs with spikes of the loss, which end in 64 bits",
    studies=members(Study, stairs, transformer, curvature),
    claims=members(Claim, stairs, curvature, transformer),
    profiles=(QUICK, FULL, TINY),
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    cost={"quick": "1 min on two idle CPU cores", "full": "4 min on an H200"},
)
