"""What a reader may take away, what is done otherwise than in the paper, and what is not done."""

from modgrok.reproduce.form import Deviation, Takeaway
from modgrok.reproduce.gromov2023.sizes import ADAMW_DECAY, ADAMW_FRACTION, GD_FRACTION
from modgrok.text import count, number

TAKEAWAYS = (
    Takeaway(
        "A two-layer quadratic network groks modular addition under plain gradient descent, without regularization, "
        "and memorizes first.",
        {"grokking": "holds", "memorizes_first": "holds with a remark"},
    ),
    Takeaway(
        "The weights can be written down: cosines with random phases and φ1 + φ2 = φ3 answer every pair, their loss "
        "falls as 1/N, and training finds waves with such phases.",
        {"claim_one": "holds", "loss_to_zero": "holds", "phases": "holds"},
    ),
    Takeaway(
        "The norms are not what the paper says: they grow fivefold, as its own closed form requires, and mostly before "
        "the onset.",
        {"norms": "does not hold here", "norms_of_solution": "holds"},
    ),
    Takeaway(
        "Adaptive optimizers grok in fewer steps, and weight decay in AdamW helps much near the critical fraction "
        "only; whether adaptive optimizers and regularizers need less data takes more seeds to decide.",
        {
            "adaptive_time": "holds",
            "decay_in_adamw": "holds with a remark",
            "adaptive_fraction": "undecided here",
            "lower_fraction": "undecided here",
        },
    ),
    Takeaway(
        "The critical fraction falls as the modulus grows; neither ln p / p nor a power of p fits it.",
        {"modulus": "holds", "law": "does not hold here"},
    ),
)
DEVIATIONS = (
    Deviation(
        "learning rates",
        "not given",
        lambda s: f"GD {number(s.gd.rate)} in units of (p/97)³(N/500), AdamW {number(s.adamw.rate)}",
        "chosen here; optimizers are compared each at its best of equally many trials",
    ),
    Deviation(
        "p of single networks, of sweeps, of hard functions",
        "97",
        lambda s: f"{s.modulus}, {s.sweep_modulus}, {s.hard_modulus}",
        "the quick profile has to fit two CPU cores",
    ),
    Deviation("width of Figs. 0 to 2", "not given", lambda s: str(s.width), "chosen here"),
    Deviation(
        "α of GD and of AdamW in Figs. 0 to 2",
        "0.49, not given",
        lambda s: f"{GD_FRACTION}, {ADAMW_FRACTION}",
        "of AdamW chosen here",
    ),
    Deviation("weight decay of AdamW", "not given", lambda s: str(ADAMW_DECAY), "chosen here"),
    Deviation(
        "steps of GD in Fig. 0, and of the longest runs at α = 0.2",
        "not given; extremely long",
        lambda s: f"{count(s.gd.steps)}, {count(s.longest_steps) if s.longest_fractions else 'none'}",
        "device time",
    ),
    Deviation(
        "seeds of single networks, sweeps, searches, hard functions",
        "not given",
        lambda s: f"{s.seeds}, {s.sweep_seeds}, {s.search_seeds}, {s.hard_seeds}",
        "every verdict asks for all of them",
    ),
    Deviation(
        "width of n² + m² + nm",
        "not given",
        lambda s: str(s.hard_width),
        "narrower and wider networks were not run",
    ),
    Deviation(
        "frequencies of the closed form",
        "k = 1 … N modulo p",
        lambda s: "1 … (p − 1)/2 equally often; as printed in the claim on its loss",
        "every neuron is a wave",
    ),
    Deviation("precision", "not given", lambda s: "float32 in training, float64 in closed forms", "speed"),
)
NOT_ATTEMPTED = (
    (
        "At some loss the only way down is to learn the features (the paper's central explanation)",
        "no measure of the ways down that a memorizer has left was found yet",
    ),
    ("Appendix B for Claim II and the Corollary", "other activations are scored on n + m only"),
    ("α_c as a measure of a function's complexity", "critical fractions are searched for n + m only"),
    ("Random features of finite width (W2 trained alone)", "the kernel regime is taken at infinite width"),
    ("eq_omg term by term, and √N of eq_interference", "tests check the expansion; no figure of it is drawn"),
    ("Fig. 3b against data and epochs; each weak series of Fig. 1; Fig. A2's four lines against two", "no row yet"),
    ("Claim II by several optimizers, and other monomials", "AdamW on n² + m² stands for them"),
)
