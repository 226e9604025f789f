"""Bivariate polynomials of every kind that the structure search tells apart, from the easiest to the hardest."""

SUMS = ("n + m", "n - m", "2*n + 3*m", "n^2 + m^2", "n^2 - m", "n^3 + m", "n^3 + m^3", "n^2 + m^4")
FUNCTIONS_OF_SUMS = (
    "(n + m)^2",
    "(n - m)^2",
    "(n + 2*m)^2",
    "(n + m)^3",
    "(n^2 + m)^2",
    "n^2 + 2*n*m + m^2 + n + m",
    "(n + m)^4 + (n + m)^2",
)
PRODUCTS = ("n*m", "n^2*m", "n*m^3", "n^2*m^2", "(n + 1)*(m + 2)", "n^2*m + m")
FUNCTIONS_OF_PRODUCTS = ("n*m + n + m", "n^2*m^2 + n*m", "n^3*m^3 + n*m")
MIXTURES = (
    "n^2 + n*m",
    "n^2 + n*m + m",
    "n^2 + m^2 + n*m",
    "n^2 + m^2 + n*m + n",
    "n^2*m + n",
    "n^2*m + n*m^2",
    "n^3 + n*m",
    "n^3 + n*m^2",
    "n^3 + n*m^2 + m",
    "n^3 + m^3 + n*m",
    "n^2*m^2 + n + m",
    "n^4 + n*m + m^4",
)
FUNCTIONS = SUMS + FUNCTIONS_OF_SUMS + PRODUCTS + FUNCTIONS_OF_PRODUCTS + MIXTURES
