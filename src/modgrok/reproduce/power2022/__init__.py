"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""

from operator import attrgetter

from modgrok.reproduce.claim import claims_of
from modgrok.reproduce.paper import Paper
from modgrok.reproduce.power2022 import (
    claims,
    representations,
    studies_curves,
    studies_data,
    studies_geometry,
    studies_tuning,
)
from modgrok.reproduce.power2022.profile import FULL, QUICK, TINY

PAPER = Paper(
    key="power2022",
    title="Grokking: generalization beyond overfitting on small algorithmic datasets",
    reference="A. Power, Y. Burda, H. Edwards, I. Babuschkin and V. Misra, *Grokking: generalization beyond "
    "overfitting on small algorithmic datasets* (arXiv 2201.02177, 2022)",
    line="a transformer learns tables of operations by heart, and understands them much later",
    studies=tuple(
        sorted(
            (
                *studies_curves.STUDIES,
                *studies_data.STUDIES,
                *studies_tuning.STUDIES,
                *studies_geometry.STUDIES,
                *representations.STUDIES,
            ),
            key=attrgetter("name"),
        )
    ),
    claims=claims_of(claims),
    profiles=(QUICK, FULL, TINY),
    cost={
        "quick": "4 min on two idle CPU cores",
        "full": "about 37 min on an H200 (13, 5, 12 and 7, in four calls)",
    },
)
