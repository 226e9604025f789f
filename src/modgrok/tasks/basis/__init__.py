"""The functions in which a task is simple: waves, characters and matrix coefficients of a finite group or monoid."""

from modgrok.tasks.basis.basis import Basis
from modgrok.tasks.basis.representation import Representation, representations

__all__ = ["Basis", "Representation", "representations"]
