"""B. Barak et al., Hidden progress in deep learning: SGD learns parities near the computational limit (2022)."""
