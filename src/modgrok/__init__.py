"""modgrok: a laboratory for grokking modular arithmetic."""

__version__ = "0.1.0"
