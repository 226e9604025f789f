"""N. Nanda et al., Progress measures for grokking via mechanistic interpretability (2023)."""
