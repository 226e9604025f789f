"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""

from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.gromov2023 import (
    closed_forms,
    correlations,
    critical,
    delay,
    features,
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
    moduli,
    powers,
    regularizers,
    sampling,
    sharpness,
    statements,
    tangent_kernel,
    tuning,
    variations,
)
from modgrok.reproduce.gromov2023.claims import beyond, dynamics, functions, optimizers, scaling, solution, weights
from modgrok.reproduce.gromov2023.claims import statements as said_in_passing
from modgrok.reproduce.gromov2023.errata import ERRATA
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
        *delay.STUDIES,
        *features.STUDIES,
        *statements.STUDIES,
        *correlations.STUDIES,
        *(module.STUDY for module in (tuning, regularizers, critical, moduli, sampling)),
        *(module.STUDY for module in (memorizer, sharpness, tangent_kernel, powers)),
    ),
    claims=claims_of(dynamics, solution, weights, functions, optimizers, scaling, said_in_passing, beyond),
    profiles=(QUICK, FULL, TINY),
    errata=ERRATA,
    cost={"quick": "5 to 7 min on two CPU cores", "full": "14 min on an H200"},
)
