"""All studies and all claims by name, in the order of the paper."""

from collections.abc import Sequence

from modgrok.errors import ModgrokError
from modgrok.reproduce.claims import dynamics, functions, localization, scaling, solution, weights
from modgrok.reproduce.claims.claim import Claim
from modgrok.reproduce.figures import fig0, fig1, fig2, fig3, fig4, figA1, figA2, figA3, figA4, figA5
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.studies import (
    activations,
    closed_forms,
    cross_entropy,
    kernel,
    memorizing,
    moduli,
    more_data,
    quadratic_form,
    random_table,
    sampling,
)
from modgrok.reproduce.study import Study

FIGURES: tuple[Study, ...] = tuple(
    module.STUDY for module in (fig0, fig1, fig2, fig3, fig4, figA1, figA2, figA3, figA4, figA5)
)
STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        *FIGURES,
        *(
            module.STUDY
            for module in (
                closed_forms,
                kernel,
                cross_entropy,
                random_table,
                quadratic_form,
                moduli,
                sampling,
                memorizing,
                activations,
                more_data,
            )
        ),
    )
}
CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for module in (dynamics, solution, weights, localization, functions, scaling)
    for claim in module.CLAIMS
}


def chosen_studies(names: Sequence[str], profile: Profile) -> list[Study]:
    """The studies behind figures and claims, all of them where none is named, less those the profile leaves out."""
    for name in names:
        if name not in STUDIES and name not in CLAIMS:
            raise ModgrokError(
                f"There is no figure or claim {name!r}. Figures: {', '.join(study.name for study in FIGURES)}. "
                f"Claims: {', '.join(CLAIMS)}."
            )
    wanted = {study for name in names for study in (CLAIMS[name].studies if name in CLAIMS else (name,))}
    return [
        study
        for study in STUDIES.values()
        if (not names or study.name in wanted) and study.name not in profile.left_out
    ]
