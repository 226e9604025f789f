"""What the paper's text and formulas get wrong; docs/theory.md has the same list with the formulas."""

ERRATA = (
    "eq_omg, second line: the phases of the waves in 2m are 2φ2, not 2φ1.",
    "Section 3.1, last display: the prefactor 1/(DN) is missing on the left.",
    "Corollary: with b branches the accuracy is (1 + (p − 1)/b)/p for powers, 50.5 % for the square at p = 97, and "
    "what is right by chance, not 100 %/b.",
    "Appendix A: squaring the complex preactivations doubles their phases; the waves in 2n and 2m carry 2φ1 and 2φ2.",
    "Appendix B, eq_f_relu: by eq_h1 and eq_h2 the prefactors are 1/N outside and 1/√D inside the activation, not "
    "1/(D√N) in front; GELU's curve depends on it.",
    "Introduction: the delayed rise of accuracy is in Fig. 0c; Fig. 0b, which is cited, shows weight norms.",
    "Introduction, last two points of the list: data and weight decay are in Fig. 3a; Fig. 3b is against width.",
    "Appendix C, n² + m² + nm: the gap disappears in Fig. 0, not Fig. 1, which shows preactivations.",
    "Section 4.3: the normalization of the spectrum needs the squares of absolute values.",
)
