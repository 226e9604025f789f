"""Papers made runnable: studies, claims with verdicts, figures and a report for each.

The package is called as the command is: `mg.reproduce("gromov2023", profile="quick", only=("fig2",))`.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modgrok.reproduce.pipeline import Outcome
    from modgrok.reproduce.plan import Row


class _Reproduce(ModuleType):
    def __call__(self, paper: str | None = None, **request: Any) -> "Outcome | list[Row]":
        """Train, measure, draw and judge a paper; the request's fields are the command's flags. With `plan=True` only
        the rows of the plan are returned: what each study would train, and about how long it takes."""
        from modgrok.reproduce.pipeline import Request, planned, reproduce

        asked = Request.from_dict(request if paper is None else request | {"paper": paper})
        if asked.plan:
            return planned(asked)
        return reproduce(asked, say=lambda sentence: print(sentence, file=sys.stderr))


sys.modules[__name__].__class__ = _Reproduce
