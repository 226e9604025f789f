"""How a table of answers decomposes: the verdict, and the search that finds it."""

# ruff: noqa: F401
from modgrok.tasks.structure.search import find_structure
from modgrok.tasks.structure.verdict import Kind, Structure
