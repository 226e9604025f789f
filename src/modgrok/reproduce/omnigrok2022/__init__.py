"""Z. Liu, E. Michaud and M. Tegmark, Omnigrok: grokking beyond algorithmic data (2022)."""
