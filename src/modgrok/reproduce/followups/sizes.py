"""How much of the follow-ups is computed: quick on two CPU cores, with a weight decay of 10, since 15 and 20 leave
nothing of so small networks; full at the authors' sizes, on a GPU and, for the largest margin, on CPU cores."""

from modgrok.reproduce.form import sizes

TENTHS = tuple(tenth / 10 for tenth in range(1, 10))
PROFILES = QUICK, FULL, TINY = sizes(
    margin_modulus=(13, 71, 7),
    margin_width=(64, 500, 40),
    margin_steps=(2_000, 2_000, 300),  # at each of the rates
    margin_seeds=(3, 1, 1),
    modulus=(31, 97, 5),  # of the networks that are given wrong labels
    width=(128, 500, 8),
    steps=(2_000, 2_000, 3),
    fractions=((0.3, 0.5, 0.7, 0.9), TENTHS, (0.6,)),
    wrong=((0.1, 0.2, 0.35, 0.5, 0.7), TENTHS, (0.2,)),
    decays=((0.0, 5.0, 10.0, 15.0, 20.0), (0.0, 5.0, 15.0, 20.0), (0.0,)),
    # The networks whose neurons are taken away.
    pruned=(
        {"fraction": 0.7, "wrong_labels": 0.2, "weight_decay": 5.0},
        {"fraction": 0.5, "wrong_labels": 0.35, "weight_decay": 0.0},
        {"fraction": 0.6, "wrong_labels": 0.2, "weight_decay": 0.0},
    ),
    seeds=(3, 3, 1),
    machine_modulus=(31, 61, 5),
    machine_fraction=(0.6, 0.5),
    iterations=(30, 50, 3),
)
