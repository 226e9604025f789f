"""What is to be learned: families of tasks, how a table decomposes, and what is trained on and tested."""

# ruff: noqa: F401
from modgrok.tasks.basis import Basis
from modgrok.tasks.expression import ExpressionError
from modgrok.tasks.families import FAMILIES, MODULUS, Family, reads_modulus, register, task, usual_modulus
from modgrok.tasks.families.modular import CATALOGUE
from modgrok.tasks.families.random import random_task
from modgrok.tasks.split import SAMPLINGS, Examples, Split
from modgrok.tasks.structure.verdict import Structure
from modgrok.tasks.task import HOLE, Signature, Task
