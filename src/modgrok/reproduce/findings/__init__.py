"""Four findings of this laboratory that no paper reports, each with its controls. A report of our own."""

from modgrok.reproduce.findings import alignment, alignment_claims, dealing, few_neurons, large_steps
from modgrok.reproduce.findings.sizes import FULL, QUICK, TINY
from modgrok.reproduce.form import Claim, Paper, Study, members

MODULES = (dealing, alignment, alignment_claims, large_steps, few_neurons)

PAPER = Paper(
    key="findings",
    title="Four findings",
    reference="a report of our own; docs/findings names the papers beside each finding",
    line="how neurons are dealt, alignment before knowledge, large steps need less data, how few neurons",
    studies=members(Study, *MODULES),
    claims=members(Claim, *MODULES),
    profiles=(QUICK, FULL, TINY),
    cost={"quick": "4 min on two CPU cores", "full": "10 min on an H200"},
)
