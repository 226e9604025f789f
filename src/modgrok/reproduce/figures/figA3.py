"""Fig. A3: n² + m², the example of Claim II."""

from modgrok.reproduce.figures.preactivations import preactivations

STUDY = preactivations(
    "figA3",
    "n^2 + m^2",
    (6, 11),
    {"random phases": {"form": "waves"}},
    "n² + m²: what AdamW finds, and the closed form",
    "The waves live in n² and m²: in n itself a neuron looks like noise with a symmetry, in the task's own "
    "coordinate it is one frequency.",
)
