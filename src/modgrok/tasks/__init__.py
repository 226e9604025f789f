"""What is to be learnt: expressions and tables, the catalogue, how a table decomposes, and train/test splits."""

from modgrok.tasks.catalogue import CATALOGUE
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.split import SAMPLINGS, Split
from modgrok.tasks.structure.verdict import Coordinate, Structure
from modgrok.tasks.task import Task, random_task, task

__all__ = [
    "CATALOGUE",
    "SAMPLINGS",
    "Coordinate",
    "ExpressionError",
    "Split",
    "Structure",
    "Task",
    "random_task",
    "task",
]
