"""The runs of a batch while they train, in the memory of their devices: what every platform offers.

On a GPU all runs take each step together. On a CPU, whose cache holds one run's activations but not ten runs', each
run takes its steps in a call of its own.
"""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from modgrok.networks import Network
from modgrok.networks.architecture import Parameters
from modgrok.training.compilation_cache import enable_cache
from modgrok.training.data import RunData
from modgrok.training.evaluation import check_measures, settle
from modgrok.training.loop import State
from modgrok.training.optimizers import Rates
from modgrok.training.program import Program


class RunInputs(NamedTuple):
    """The constant inputs of one run."""

    data: RunData
    rates: Rates
    seed: np.uint32
    init_scale: np.ndarray


class LiveBatch(ABC):
    """The runs of a batch, numbered from 0, on their devices. `advance` takes and returns the state of all runs, whose
    layout depends on the platform."""

    program: Program
    devices: tuple[Any, ...]
    state: Any
    idle_share: float
    """Share of a run's time that it still takes after its end."""

    @abstractmethod
    def begin(self, weights: Sequence[Parameters] | None = None) -> None:
        """Starts from given weights, or from random ones, by seed."""

    @abstractmethod
    def restore(self, states: Sequence[State]) -> None:
        """Starts from stored states."""

    @property
    @abstractmethod
    def state_shapes(self) -> State:
        """Shapes and dtypes of one run's state."""

    @abstractmethod
    def advance(self, state: Any, step: int, count: int, measured: bool) -> tuple[Any, Any]:
        """Takes `count` steps, then measures every run if `measured`; may use up the memory of the given state. Returns
        when the devices are done, with measurements for `fetch`."""

    def fetch(self, measurement: Any) -> dict[str, np.ndarray]:
        """The measurement of each run, on the host."""
        found: dict[str, np.ndarray] = measurement
        return found

    @abstractmethod
    def copy_state(self, state: Any) -> Any:
        """A copy that `advance` does not invalidate."""

    @abstractmethod
    def freeze(self, state: Any, runs: Iterable[int]) -> Any:
        """The state with some runs frozen."""

    @abstractmethod
    def diverged_at(self) -> np.ndarray:
        """The step at which each run diverged."""

    @abstractmethod
    def states(self, state: Any, runs: Sequence[int]) -> list[State]:
        """States of some runs on the host. On a CPU they share memory with the live state and must be released before
        the next `advance`."""

    @abstractmethod
    def weights(self, runs: Sequence[int]) -> list[Parameters]:
        """Of some runs, on the host."""

    @abstractmethod
    def data_of(self, runs: Sequence[int]) -> list[RunData]:
        """Of some runs, on the host."""

    def end(self, runs: Iterable[int]) -> None:
        """Freezes runs for good."""
        self.state = self.freeze(self.state, runs)

    def compile_smaller(self, count: int) -> None:  # noqa: B027
        """Compiles what `count` of the runs need, so that `shrink` to as many goes on at once. For another thread."""

    def shrink(self, runs: Sequence[int]) -> None:  # noqa: B027
        """Continues with some of the runs only, renumbered."""

    @property
    def nbytes(self) -> int:
        """The size of the state."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self.state))

    def networks(self, runs: Sequence[int]) -> list[Network]:
        """Of some runs, on the host."""
        program = self.program
        parameters = self.weights(runs)
        if program.batch_norm:
            settled = _compiled_settle(program)
            parameters = [
                {name: np.asarray(value) for name, value in settled(*one).items()}
                for one in zip(parameters, self.data_of(runs), strict=True)
            ]
        return [Network(program.architecture, program.signature, one) for one in parameters]


@lru_cache(maxsize=64)
def _compiled_settle(program: Program) -> Callable[..., Parameters]:
    return jax.jit(partial(settle, program))


def assign_devices(
    program: Program, runs: int, rows: int, devices: tuple[Any, ...], sharing: int | None = None
) -> tuple[Program, tuple[Any, ...]]:
    """The program to compile for a number of runs, and the devices they use. A large single run is shared by at most
    `sharing` devices, if platform and architecture allow it."""
    if program.on.separate:
        most = min(len(devices), program.on.most_sharing if sharing is None else sharing)
        shared = program.sharing(rows, most) if runs == 1 else 1
        return dataclasses.replace(program, shared=shared), devices[: max(shared, runs)]
    used = devices[:runs]
    return dataclasses.replace(program, runs=-(-runs // len(used))), used


def place(program: Program, runs: Sequence[RunInputs], devices: tuple[Any, ...]) -> LiveBatch:
    """Runs of one program on devices, as `assign_devices` has chosen them."""
    from modgrok.training.separate import SeparateRuns
    from modgrok.training.together import RunsTogether

    enable_cache()
    check_measures(program, runs[0].data)
    return (SeparateRuns if program.on.separate else RunsTogether)(program, runs, devices)
