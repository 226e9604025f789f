"""How much is trained. quick: two CPU cores, four minutes for all findings. full: one H200."""

from modgrok.reproduce.form import sizes

QUICK, FULL, TINY = sizes(
    few_modulus=(97, 97, 11),
    few_width=(500, 500, 16),
    few_pairs=((3, 9, 28, 94, 282), (1, 2, 3, 5, 9, 28, 94, 282), (3, 9)),
    few_steps=(100, 100, 4),
    few_seeds=(2, 5, 1),
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
