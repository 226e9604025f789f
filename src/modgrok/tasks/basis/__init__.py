"""The functions in which a task is simple: waves, characters and matrix coefficients of a finite group or monoid."""

# ruff: noqa: F401
from modgrok.tasks.basis.basis import Basis
from modgrok.tasks.basis.representation import Representation, representations
