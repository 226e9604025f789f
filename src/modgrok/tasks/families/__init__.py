"""Families of tasks, one file each: text → Task."""

# ruff: noqa: F401
from modgrok.tasks.families import digits, discrete, files, groups, integers, modular, parity, random, teacher
from modgrok.tasks.families.family import FAMILIES, MODULUS, Family, reads_modulus, register, task, usual_modulus

for _module in (modular, random, files, groups, parity, integers, discrete, teacher, digits):
    register(_module.FAMILY)

OWN_FAMILIES = dict(FAMILIES)
"""Those that modgrok brings."""
