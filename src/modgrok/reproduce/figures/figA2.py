"""Fig. A2: (n + m)², whose outer function has two branches."""

from modgrok.reproduce.figures.preactivations import preactivations

STUDY = preactivations(
    "figA2",
    "(n + m)^2",
    (4, 5),
    {"one branch": {"branches": "one"}, "all branches": {"branches": "all"}},
    "(n + m)²: what AdamW finds, and the closed form with one branch and with all",
    "The hidden layer is that of n + m. For an answer that is a square (left output) the trained network "
    "shows the lines of both square "
    "roots; the paper's closed form reads out one of them and is right for half of the pairs, reading out all of them "
    "makes it right everywhere. An answer that is no square (right output) is never given: noise.",
)
