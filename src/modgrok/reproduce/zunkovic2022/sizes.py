"""How many samples are drawn; everything else is a formula.

quick: half a minute on two CPU cores. full: more samples and longer rings.
"""

from modgrok.reproduce.form import sizes

PROFILES = QUICK, FULL, TINY = sizes(
    sets=(3_000, 20_000, 100),  # random training sets for each point of a probability
    time_sets=(200_000, 2_000_000, 5_000),  # random training sets for each distribution of grokking times
    points=(100_000, 1_000_000, 2_000),  # test points for each sampled test error
    starts=(20, 60, 3),  # of a flow for each setting
    length=(12, 14, 6),  # bits of the longest ring on which Rule 30 is tested, all of them
    pairs=(2_000, 10_000, 20),  # random pairs of matrices
)
