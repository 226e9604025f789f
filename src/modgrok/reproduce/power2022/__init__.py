"""A. Power et al., Grokking: generalization beyond overfitting on small algorithmic datasets (2022)."""
