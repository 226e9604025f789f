"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""

from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.gromov2023 import (
    closed_forms,
    correlations,
    fig0,
    fig1,
    fig2,
    fig3,
    fig4,
    figA1,
    figA2,
    figA5,
    kernel,
    memorizer,
    powers,
    sharpness,
    statements,
    tangent_kernel,
    variations,
)
from modgrok.reproduce.gromov2023.claims import beyond, dynamics, functions, scaling, solution, weights
from modgrok.reproduce.gromov2023.claims import statements as said_in_passing
from modgrok.reproduce.gromov2023.profile import FULL, QUICK, TINY
from modgrok.reproduce.paper import Paper

PAPER = Paper(
    key="gromov2023",
    title="Grokking modular arithmetic",
    reference="A. Gromov, *Grokking modular arithmetic* (2023)",
    line="a two-layer quadratic network groks modular functions, and its weights can be written down",
    studies=(
        *(module.STUDY for module in (fig0, fig1, fig2, fig3, fig4, figA1)),
        *figA2.STUDIES,
        *(module.STUDY for module in (figA5, closed_forms, kernel)),
        *variations.STUDIES,
        *statements.STUDIES,
        *correlations.STUDIES,
        *(module.STUDY for module in (memorizer, sharpness, tangent_kernel, powers)),
    ),
    claims=claims_of(dynamics, solution, weights, functions, scaling, said_in_passing, beyond),
    profiles=(QUICK, FULL, TINY),
    errata=(
        "eq_omg, second line: the phases of the waves in 2m are 2φ2, not 2φ1.",
        "Appendix A: squaring the complex preactivations doubles their phases; the first two terms carry 2φ1 and 2φ2.",
        "eq_f_relu: the prefactor of a general activation is 1/(√D N) in the paper's own normalization (eq_h1, eq_h2), "
        "not 1/(D √N).",
        "Introduction: the delayed rise of accuracy is in Fig. 0c; Fig. 0b, which is cited, shows weight norms.",
        "Section 3: the sum over k = 1 … N has no frequency 0, without which the loss stops at 1/(p(p − 1)); see the "
        "claim on the loss.",
    ),
    cost={"quick": "8 min on two CPU cores", "full": "9 min on an H200"},
)
