"""Z. Liu et al., Towards understanding grokking: an effective theory of representation learning (2022)."""
