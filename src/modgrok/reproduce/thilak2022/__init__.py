"""V. Thilak et al., The slingshot mechanism (2022)."""
