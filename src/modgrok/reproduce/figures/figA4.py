"""Fig. A4: nm, for which the paper has no closed form."""

from modgrok.reproduce.figures.preactivations import preactivations

STUDY = preactivations(
    "figA4",
    "n*m",
    (6, 11),
    {"random phases": {"form": "waves"}},
    "nm: what AdamW finds, and a closed form the paper does not have",
    "With discrete logarithms a product is a sum modulo p − 1, and the waves of the closed form live there. "
    "The trained network's neurons are waves in the same coordinate.",
)
