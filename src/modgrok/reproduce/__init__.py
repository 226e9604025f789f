"""Papers made runnable: studies, claims with verdicts, figures and a report for each.

The package is called as the command is: `mg.reproduce("gromov2023", profile="quick", only=("fig2",))`.
"""

import sys
from types import ModuleType
from typing import Any


class _Reproduce(ModuleType):
    def __call__(self, paper: str | None = None, **request: Any) -> Any:
        """Train, measure, draw and judge a paper; the request's fields are the command's flags."""
        from modgrok.reproduce.pipeline import Request, reproduce

        asked = request if paper is None else request | {"paper": paper}
        return reproduce(Request(**asked), say=lambda sentence: print(sentence, file=sys.stderr))


sys.modules[__name__].__class__ = _Reproduce
