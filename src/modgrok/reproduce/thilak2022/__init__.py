"""V. Thilak et al., The slingshot mechanism (2022)."""

from modgrok.reproduce.form import Claim, Deviation, Paper, Study, members
from modgrok.reproduce.thilak2022 import curvature, stairs, transformer
from modgrok.reproduce.thilak2022.sizes import FULL, QUICK, TINY
from modgrok.text import count

PAPER = Paper(
    key="thilak2022",
    title="The slingshot mechanism",
    reference="V. Thilak, E. Littwin, S. Zhai, O. Saremi, R. Paiss and J. Susskind, *The slingshot mechanism: an "
    "empirical study of adaptive optimizers and the grokking phenomenon* (arXiv 2206.04817, 2022)",
    line="Adam's last layer grows in stairs with spikes of the loss, which end in 64 bits",
    studies=members(Study, stairs, transformer, curvature),
    claims=members(Claim, stairs, curvature, transformer),
    profiles=(QUICK, FULL, TINY),
    deviations=(
        Deviation("p", "97", lambda s: str(s.modulus), "two CPU cores in the quick profile"),
        Deviation(
            "network",
            "transformer of Power et al.",
            lambda s: f"perceptron of width {s.width}" + ("" if s.left_out else ", and the transformer"),
            "the perceptron is cheap",
        ),
        Deviation("steps", "up to 1 000 000", lambda s: count(s.steps), "device time"),
    ),
    not_attempted=(
        ("Stairs and generalization after 100 000 steps and more", "device time"),
        ("Features of the transformer over spikes", "followed on the perceptron alone"),
    ),
    cost={"quick": "1 min on two idle CPU cores", "full": "4 min on an H200"},
)
