"""Weights written down instead of trained: random phases, exact, products, complex, many variables."""

from modgrok.closed_form.exact import exact_width
from modgrok.closed_form.solve import NoClosedForm, available, default_width, natural_activation, solve

__all__ = ["NoClosedForm", "available", "default_width", "exact_width", "natural_activation", "solve"]
