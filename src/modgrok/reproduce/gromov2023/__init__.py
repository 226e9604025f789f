"""A. Gromov, Grokking modular arithmetic (2023): a quadratic network groks, and its weights can be written down."""
