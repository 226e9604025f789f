"""How a table of answers decomposes: the verdict, and the search that finds it."""

from modgrok.tasks.structure.search import find_structure
from modgrok.tasks.structure.verdict import Kind, Structure

__all__ = ["Kind", "Structure", "find_structure"]
