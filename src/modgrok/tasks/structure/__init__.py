"""How a table of answers decomposes: the verdict, and the search that finds it."""

from modgrok.tasks.structure.search import find_structure
from modgrok.tasks.structure.verdict import Coordinate, Kind, Structure

__all__ = ["Coordinate", "Kind", "Structure", "find_structure"]
