"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, gather
from modgrok.reproduce.gromov2023.sizes import ADAMW_DECAY, ADAMW_FRACTION, GD_FRACTION, PROFILES

STUDIES = """fig0 fig1 fig2 fig3 fig4 figA1 figA2 figA3 figA4 figA5 closed_forms kernel cross_entropy random_table
quadratic_form_data activations more_data delay memorizing features composed three_variables composite products
mixed_functions capacity minibatches general_behavior other_loss over_training shuffled_phases correlated_weights
third_phase loss_floor other_functions interference random_features sums_by_optimizers quadratic_form_widths
late_grokking tuning near_critical critical moduli samplings complexity way_down width_curves monomials memorizer
sharpness tangent_kernel powers"""
CLAIMS = """grokking memorizes_first no_waves_yet loss_peak train_loss loss_gap_closes norms gradients memorizing_phase
claim_one width trained_width trained_faster other_activations claim_two corollary branches complex_network
many_variables interference activations_and_functions fourier_peaks periodic copies phases phases_adamw phases_random
cross_entropy ipr_start ipr_onset ipr_regimes ipr_gap ipr_data multiplication square_of_sum four_lines quadratic_form
quadratic_form_data cubic random_table kernel random_features activations momentum momentum_fraction adaptive_time
adaptive_fraction regularization_time lower_fraction decay_in_adamw critical_fraction adamw_fraction adam_needs_more
very_long modulus law width_and_data sampling three_variables_trained composite_modulus complexity_by_data
only_way_down curves_depend other_monomials products_of_functions mixed_functions_harder parameter_regimes
minibatch_batch_norm general_behavior_everywhere train_loss_accelerates ipr_training phases_dependent
weights_correlated phases_chosen loss_to_zero memorizer_waves memorizer_projection memorizer_alignment sharpness_rises
edge_of_stability kernel_drifts kernel_learns roots_and_logarithms structure_predicts norms_of_solution"""

PAPER = Paper(
    key="gromov2023",
    title="Grokking modular arithmetic",
    reference="A. Gromov, *Grokking modular arithmetic* (2023)",
    line="a two-layer quadratic network groks modular functions, and its weights can be written down",
    studies=gather(Study, __name__, STUDIES),
    claims=gather(Claim, __name__, CLAIMS),
    profiles=PROFILES,
    errata=(  # docs/theory.md has the same list with the formulas
        "eq_omg, second line: the phases of the waves in 2m are 2φ2, not 2φ1.",
        "Section 3.1, last display: the prefactor 1/(DN) is missing on the left.",
        "Corollary: with b branches the accuracy is (1 + (p − 1)/b)/p for powers, 50.5 % for the square at p = 97, and "
        "what is right by chance, not 100 %/b.",
        "Appendix A: squaring the complex preactivations doubles their phases; the waves in 2n and 2m carry 2φ1 and "
        "2φ2.",
        "Appendix B, eq_f_relu: by eq_h1 and eq_h2 the prefactors are 1/N outside and 1/√D inside the activation, not "
        "1/(D√N) in front; GELU's curve depends on it.",
        "Introduction: the delayed rise of accuracy is in Fig. 0c; Fig. 0b, which is cited, shows weight norms.",
        "Introduction, last two points of the list: data and weight decay are in Fig. 3a; Fig. 3b is against width.",
        "Appendix C, n² + m² + nm: the gap disappears in Fig. 0, not Fig. 1, which shows preactivations.",
        "Section 4.3: the normalization of the spectrum needs the squares of absolute values.",
    ),
    exclusive=(("adaptive_fraction", "adam_needs_more"),),
    implied=(
        *(("law", "modulus"), ("very_long", "grokking"), ("claim_two", "claim_one"), ("corollary", "claim_one")),
        *(("phases_adamw", "phases"), ("copies", "periodic"), ("memorizer_projection", "memorizer_waves")),
    ),
    cost={"quick": "5 to 7 min on two CPU cores", "full": "27 min on an H200"},
    takeaways=(
        Takeaway(
            "A two-layer quadratic network groks modular addition under plain gradient descent, without "
            "regularization, and memorizes first.",
            holds="grokking",
            remark="memorizes_first",
        ),
        Takeaway(
            "The weights can be written down: cosines with random phases and φ1 + φ2 = φ3 answer every pair, their "
            "loss falls as 1/N, and training finds waves with such phases.",
            holds="claim_one loss_to_zero phases",
        ),
        Takeaway(
            "The norms are not what the paper says: they grow fivefold, as its own closed form requires, and mostly "
            "before the onset.",
            holds="norms_of_solution",
            fails="norms",
        ),
        Takeaway(
            "Tuned adaptive optimizers grok in fewer steps and from less data, Adam without weight decay too. Most "
            "regularizers lower the fraction that is needed; weight decay in AdamW saves much time near it only.",
            holds="adaptive_time adaptive_fraction",
            remark="decay_in_adamw lower_fraction",
        ),
        Takeaway(
            "The critical fraction falls as the modulus grows; neither ln p / p nor a power of p fits it.",
            holds="modulus",
            fails="law",
        ),
    ),
    deviations=(
        (
            "learning rates",
            "not given",
            "GD {gd.rate} in units of (p/97)³(N/500), AdamW {adamw.rate}",
            "chosen here; optimizers are compared each at its best of equally many trials",
        ),
        (
            "p of single networks, of sweeps, of hard functions",
            "97",
            "{modulus}, {sweep_modulus}, {hard_modulus}",
            "the quick profile has to fit two CPU cores",
        ),
        ("width of Figs. 0 to 2", "not given", "{width}", "chosen here"),
        (
            "α of GD and of AdamW in Figs. 0 to 2",
            "0.49, not given",
            f"{GD_FRACTION}, {ADAMW_FRACTION}",
            "of AdamW chosen here",
        ),
        ("weight decay of AdamW", "not given", str(ADAMW_DECAY), "chosen here"),
        (
            "steps of GD in Fig. 0, and of the longest runs at α = 0.2",
            "not given; extremely long",
            "{gd.steps}, {longest_steps}",
            "device time",
        ),
        (
            "seeds of single networks, sweeps, searches, hard functions",
            "not given",
            "{seeds}, {sweep_seeds}, {search_seeds}, {hard_seeds}",
            "each verdict says how it counts them",
        ),
        (
            "width of n² + m² + nm",
            "not given",
            "{hard_width}; {hard_widths} within {hard.steps} steps",
            "the width decides how well it is learned",
        ),
        (
            "frequencies of the closed form",
            "k = 1 … N modulo p",
            "1 … (p − 1)/2 equally often; as printed in the claim on its loss",
            "every neuron is a wave",
        ),
        ("precision", "not given", "float32 in training, float64 in closed forms", "speed"),
    ),
    not_attempted=(
        ("An expression for the least α_c over all methods (5.2)", "open in the paper, too"),
        ("Tasks that need depth, and data with a hierarchy (5.2)", "the paper names none"),
        ("Gains over known algorithms for modular roots and logarithms (5.2)", "they are learned here, not timed"),
    ),
)
