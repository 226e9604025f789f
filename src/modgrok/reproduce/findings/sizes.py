"""How much is trained. quick: two CPU cores, four minutes for all findings. full: one H200."""

from modgrok.reproduce.form import sizes
from modgrok.reproduce.gromov2023.sizes import natural_unit


def descent_rate(rate: float, modulus: int, width: int) -> float:
    """Of gradient descent, from millions of natural units."""
    return float(f"{rate * 1e6 * natural_unit(modulus, width):.5g}")


PROFILES = QUICK, FULL, TINY = sizes(
    # Finding 2
    few_modulus=(97, 97, 11),
    few_width=(500, 500, 16),
    few_pairs=((3, 9, 28, 94, 282), (1, 2, 3, 5, 9, 28, 94, 282), (3, 9)),
    few_steps=(100, 100, 4),
    few_seeds=(1, 5, 1),
    line_pairs=((9, 28), (9, 28, 94), (9,)),
    line_widths=((250,), (125, 250, 1000), (8,)),
    line_moduli=((59,), (31, 59, 127), (7,)),
    clock_pairs=((94, 282), (9, 28, 94, 282, 940, 4704), (9, 60)),
    clock_steps=(150, 150, 5),
    turned_modulus=(31, 97, 11),
    turned_width=(128, 500, 16),
    turned_fractions=((0.55,), (0.225, 0.25, 0.3), (0.55,)),
    turned_at=(300, 400, 3),
    turned_steps=(3_000, 30_000, 6),
    turned_seeds=(3, 8, 1),
    erased_seeds=(3, 3, 1),
    kinds=(("n + m", "random labels"), ("n + m", "random labels", "n·m", "ReLU", "transformer"), ("n + m", "ReLU")),
    kinds_steps=(150, 200, 4),
    kinds_seeds=(1, 4, 1),
    # Finding 3
    step_modulus=(31, 97, 11),
    step_width=(128, 500, 16),
    ceilings=(
        {0: (0.5, 2.0), 0.9: (0.5, 2.0)},
        {0: (0.25, 0.5, 1.0, 2.0, 3.0), 0.5: (0.25, 0.5, 1.0, 2.0), 0.9: (0.0625, 0.125, 0.25, 0.5, 1.0, 2.0)},
        {0: (1.0, 2.0), 0.5: (1.0, 2.0)},
    ),
    large=(2.0, 2.0, 2.0),
    step_fractions=((0.45, 0.5, 0.55), (0.15, 0.175, 0.2, 0.225, 0.25, 0.275, 0.3, 0.325), (0.5,)),
    step_time=(10_000, 32_000, 12),
    least_steps=(300, 1_000, 4),
    step_seeds=(2, 3, 1),
    switched=((0.45,), (0.225, 0.25), (0.5,)),
    noisy_rate=(0.5, 0.5, 1.0),
    noises=((), (5e-10, 2e-9, 8e-9), (2e-9,)),
    batches=((), (256,), (32,)),
    adam_rates=((0.1, 1.0), (0.03, 0.1, 0.3, 1.0, 3.0), (0.1,)),
    adam_time=(100, 1_000, 1),
    # Finding 1
    dealing_groups=(("S4",), ("S4", "S3xS3", "S4xZ2", "A5"), ("S3",)),
    dealing_steps=(
        {"gd": 2_500, "adam": 1_500, "adamw": 600},
        {"gd": 8_000, "adam": 4_000, "adamw": 2_000},
        {"gd": 6, "adam": 6, "adamw": 6},
    ),
    dealing_seeds=(2, 5, 1),
    scales=((1.0, 0.25), (1.0, 0.5, 0.25), (1.0, 0.5)),
    scale_rules=(("adamw",), ("gd", "adamw"), ("adamw",)),
    scale_seeds=(2, 3, 1),
    # Finding 4
    few_moduli=((5, 8, 97), (2, 3, 5, 7, 8, 12, 23, 60, 97), (5,)),
    margin_moduli=((5,), (5, 7, 11), (3,)),
    margin_starts=(6, 64, 1),
    margin_steps=(1_500, 6_000, 4),
    trained_steps=(200, 2_000, 2),
    trained_seeds=(1, 3, 1),
    limits=(
        (("Z5", (6, 7, 8)), ("S3", (9,))),
        (
            *(("Z5", (6, 7, 8)), ("Z6", (7, 8, 9)), ("Z7", (9, 10, 11, 12)), ("Z8", (10, 11, 12))),
            *(("Z9", (13, 14, 15)), ("Z11", (16, 18, 19, 20)), ("Z13", (19, 22, 24))),
            *(("S3", (8, 9)), ("D4", (10, 11)), ("Q8", (12, 14, 16, 18, 19))),
        ),
        (("Z3", (3, 4)),),
    ),
    limit_starts=(8, 128, 1),
    limit_steps=(60, 300, 2),
)
