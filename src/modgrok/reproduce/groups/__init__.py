"""Every finite group: what the paper does for Z_p, found again in trained networks. A report of our own."""

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.groups import dealing, neurons, sweeps, written
from modgrok.reproduce.groups.sizes import PROFILES

PAPER = Paper(
    key="groups",
    title="From Z_p to every finite group",
    reference="a report of our own, beside B. Chughtai, L. Chan and N. Nanda, *A toy model of universality* (arXiv "
    "2302.03025, 2023), D. Stander et al., *Grokking group multiplication with cosets* (arXiv 2312.06581, 2023), "
    "D. Morwani et al., *Feature emergence via margin maximization* (arXiv 2311.07568, 2023), and W. Wu, L. Jaburi, J. "
    "Drori and J. Gross, *Towards a unified and verified understanding of group-operation networks* (arXiv 2410.07476, "
    "2024), of which abstract, first figure and code were read",
    line="the quadratic network multiplies in any finite group, and training finds matrix coefficients of rank one",
    studies=members(Study, written, neurons, dealing, sweeps),
    claims=members(Claim, written, neurons, dealing, sweeps),
    profiles=PROFILES,
    cost={"quick": "2 min on two CPU cores", "full": "4 min on an H200"},
)
