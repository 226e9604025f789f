"""The settings of an experiment as flags: `Experiment` itself, its task in the place of an argument."""

from dataclasses import dataclass
from typing import Annotated

import tyro

from modgrok.experiments import Experiment


@dataclass(frozen=True)
class Settings(Experiment):
    __doc__ = Experiment.__doc__

    task: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="EXPR")]

    @property
    def experiment(self) -> Experiment:
        """The plain value."""
        return Experiment.from_dict(self.as_dict())
