"""How much is trained. quick: two CPU cores, four minutes for all findings. full: one H200."""

from modgrok.reproduce.form import sizes

QUICK, FULL, TINY = sizes(
    few_modulus=97,
    few_width=500,
    few_pairs=((3, 9, 28, 94, 282), (1, 2, 3, 5, 9, 28, 94, 282)),
    few_steps=100,
    few_seeds=(2, 5),
    tiny={"few_modulus": 11, "few_width": 16, "few_pairs": (3, 9), "few_steps": 4, "few_seeds": 1},
)
