"""How much is sampled, solved and trained."""

from modgrok.reproduce.form import sizes

PROFILES = sizes(
    sets=(3_000, 20_000, 100),  # random training sets for each point of a probability
    time_sets=(200_000, 2_000_000, 5_000),  # random training sets for each distribution of grokking times
    points=(100_000, 1_000_000, 2_000),  # test points for each sampled test error
    starts=(20, 60, 3),  # of a flow for each setting
    length=(12, 14, 6),  # bits of the longest ring on which Rule 30 is tested, all of them
    pairs=(2_000, 10_000, 20),  # random pairs of matrices
    bond=((4,), (5, 10), (2,)),  # d of networks that are trained whole
    networks=(6, 16, 2),
    network_steps=(600, 2_000, 20),
)
