"""Tasks whose structure is given, so that closed forms are tested apart from the search for structure."""

from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest

from modgrok.tasks import Structure, Task
from modgrok.tasks.structure.verdict import Kind

MakeTask = Callable[..., Task]


@pytest.fixture(scope="session")
def make_task() -> MakeTask:
    """`make_task(kind, p, parts, outer)`: the task F(f1 + … + fS) or F(g1 ⋯ gS) with these witnesses."""

    def make(kind: Kind, p: int, parts: list[np.ndarray] | None = None, outer: np.ndarray | None = None) -> Task:
        parts = [np.arange(p)] * 2 if parts is None else parts
        outer = np.arange(p) if outer is None else outer
        structure = Structure(kind, p, "Given.", tuple(parts), outer)
        operation = np.multiply if structure.is_product else np.add
        task = Task.from_table(outer[reduce(lambda a, b: operation.outer(a, b) % p, parts)], kind)
        vars(task)["structure"] = structure
        return task

    return make
