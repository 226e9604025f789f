"""How many samples are drawn; everything else is a formula."""

import dataclasses
from dataclasses import dataclass


@dataclass(frozen=True)
class Profile:
    """All sizes of a reproduction."""

    name: str
    sets: int
    """Random training sets for each point of a probability."""
    time_sets: int
    """Random training sets for each distribution of grokking times."""
    points: int
    """Test points for each sampled test error."""
    starts: int
    """Starts of a flow for each setting."""
    length: int
    """Bits of the longest ring on which Rule 30 is tested, all of them."""
    pairs: int
    """Random pairs of matrices."""
    left_out: tuple[str, ...] = ()


TINY = Profile("tiny", sets=100, time_sets=5_000, points=2_000, starts=3, length=6, pairs=20)
"""For tests of the pipeline."""
QUICK = Profile("quick", sets=3_000, time_sets=200_000, points=100_000, starts=20, length=12, pairs=2_000)
"""Half a minute on two CPU cores."""
FULL = dataclasses.replace(
    QUICK, name="full", sets=20_000, time_sets=2_000_000, points=1_000_000, starts=60, length=14, pairs=10_000
)
"""More samples and longer rings; the formulas are the same."""
