"""Weights written down instead of trained: random phases and vectors, exact, complex, few neurons, smallest."""

# ruff: noqa: F401
from modgrok.closed_form.exact import exact_width
from modgrok.closed_form.interference import expected_accuracy, expected_loss, width_needed
from modgrok.closed_form.minimal import Attempt, least_width
from modgrok.closed_form.solve import (
    NoClosedForm,
    available,
    default_width,
    natural_activation,
    solve,
    usual_form,
    widths,
)
