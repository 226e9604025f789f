"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""

from modgrok.reproduce.form import Claim, Deviation, Paper, Study, members
from modgrok.reproduce.nanda2023 import circuit, progress, sweep
from modgrok.reproduce.nanda2023.sizes import FULL, QUICK, TINY
from modgrok.text import count, number

PAPER = Paper(
    key="nanda2023",
    title="Progress measures for grokking via mechanistic interpretability",
    reference="N. Nanda, L. Chan, T. Lieberum, J. Smith and J. Steinhardt, *Progress measures for grokking via "
    "mechanistic interpretability* (arXiv 2301.05217, 2023)",
    line="a transformer adds by a few frequencies, and measures of that circuit grow before the test loss falls",
    studies=members(Study, progress, circuit, sweep),
    claims=members(Claim, progress, circuit, sweep),
    profiles=(QUICK, FULL, TINY),
    deviations=(
        Deviation("p", "113", lambda s: str(s.modulus), "two CPU cores in the quick profile"),
        Deviation("steps", "40 000", lambda s: count(s.steps), "device time"),
        Deviation("share of the pairs", "0.3", lambda s: str(s.fraction), "small tables need more"),
        Deviation("weight decay", "1", lambda s: number(s.decay), "small tables grok sooner with more"),
        Deviation("precision", "float64 in the loss", lambda s: "float32", "speed"),
    ),
    not_attempted=(
        ("Modular addition at p = 53 to 401", "not run yet"),
        ("The two-dimensional Fourier picture of the logits, and its coefficients over time", "not drawn yet"),
        ("Training beyond 25 000 of 40 000 epochs", "device time"),
    ),
    cost={"quick": "90 s on two idle CPU cores", "full": "3 min on an H200"},
)
