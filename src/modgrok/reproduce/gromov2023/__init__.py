"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""

from typing import Any

from modgrok.reproduce.form import Claim, Paper, Study, members
from modgrok.reproduce.gromov2023 import (
    activations,
    behavior,
    closed_forms,
    correlations,
    critical,
    delay,
    dynamics,
    functions,
    hard_functions,
    images,
    kernel_regime,
    memorizer,
    moduli,
    periodicity,
    phases,
    powers,
    sampling,
    sharpness,
    statements,
    tangent_kernel,
    tuning,
    widths,
)
from modgrok.reproduce.gromov2023.errata import ERRATA
from modgrok.reproduce.gromov2023.reading import DEVIATIONS, NOT_ATTEMPTED, TAKEAWAYS
from modgrok.reproduce.gromov2023.sizes import FULL, QUICK, TINY

MODULES = (
    *(dynamics, delay, images, phases, widths, periodicity, functions, closed_forms, activations, hard_functions),
    *(kernel_regime, statements, behavior, correlations, tuning, critical, moduli, sampling, memorizer, sharpness),
    *(tangent_kernel, powers),
)

STUDIES = """fig0 fig1 fig2 fig3 fig4 figA1 figA2 figA3 figA4 figA5 closed_forms kernel cross_entropy random_table
quadratic_form_data activations more_data delay memorizing features composed three_variables composite products
mixed_functions capacity minibatches general_behavior over_training shuffled_phases correlated_weights third_phase
loss_floor tuning critical moduli samplings memorizer sharpness tangent_kernel powers"""
CLAIMS = """grokking memorizes_first no_waves_yet loss_peak train_loss loss_gap_closes norms gradients memorizing_phase
claim_one width trained_width trained_faster other_activations claim_two corollary branches complex_network
many_variables fourier_peaks periodic copies phases phases_adamw phases_random cross_entropy ipr_start ipr_onset
ipr_regimes ipr_gap ipr_data multiplication square_of_sum quadratic_form quadratic_form_data cubic random_table kernel
activations momentum momentum_fraction adaptive_time adaptive_fraction regularization_time lower_fraction decay_in_adamw
critical_fraction adamw_fraction adam_needs_more very_long modulus law width_and_data sampling three_variables_trained
composite_modulus products_of_functions mixed_functions_harder parameter_regimes minibatch_batch_norm
general_behavior_everywhere train_loss_accelerates ipr_training phases_dependent weights_correlated phases_chosen
loss_to_zero memorizer_waves memorizer_projection memorizer_alignment sharpness_rises edge_of_stability kernel_drifts
kernel_learns roots_and_logarithms structure_predicts norms_of_solution"""


def _in_order(found: tuple[Any, ...], names: str) -> tuple[Any, ...]:
    by_name = {one.name: one for one in found}
    return tuple(by_name[name] for name in names.split())


PAPER = Paper(
    key="gromov2023",
    title="Grokking modular arithmetic",
    reference="A. Gromov, *Grokking modular arithmetic* (2023)",
    line="a two-layer quadratic network groks modular functions, and its weights can be written down",
    studies=_in_order(members(Study, *MODULES), STUDIES),
    claims=_in_order(members(Claim, *MODULES), CLAIMS),
    profiles=(QUICK, FULL, TINY),
    errata=ERRATA,
    takeaways=TAKEAWAYS,
    deviations=DEVIATIONS,
    not_attempted=NOT_ATTEMPTED,
    exclusive=(("adaptive_fraction", "adam_needs_more"),),
    implied=(
        *(("law", "modulus"), ("very_long", "grokking"), ("claim_two", "claim_one"), ("corollary", "claim_one")),
        *(("phases_adamw", "phases"), ("copies", "periodic"), ("memorizer_projection", "memorizer_waves")),
    ),
    cost={"quick": "5 to 7 min on two CPU cores", "full": "14 min on an H200"},
)
