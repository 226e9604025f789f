"""The colors of every figure, of the terminal and of the page (after Okabe and Ito: told apart by color-blind eyes)."""

TRAIN, TEST = "#e69f00", "#0072b2"
"""The training set is orange and the test set blue, wherever the two appear."""

BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, WINE, GRAY = SERIES = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#882255",
    "#555555",
)
"""Colors of things that have no order; wine in the place of yellow, which is too near to orange."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
EMPTY = "#eeeeee"
"""Where a map has no value."""
