"""The runs of a batch on the devices that train them, each at its place."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from modgrok.experiments.planner import Batch
from modgrok.experiments.programs import rates_of
from modgrok.networks import Network
from modgrok.networks.architecture import Parameters
from modgrok.training.batch import (
    SHARING,
    compiled,
    freeze,
    lay_out,
    select,
    share_between_devices,
    stack,
    unstack,
)
from modgrok.training.data import RunData, run_data
from modgrok.training.evaluation import check_measures, settle
from modgrok.training.kept_programs import prepare
from modgrok.training.loop import State


class PlacedRuns:
    """The state of all runs, and what they are advanced with. Runs are named by their numbers in the batch; places
    that none of them needs are frozen."""

    state: State

    def __init__(self, batch: Batch, devices: tuple[Any, ...], sharing: int = SHARING) -> None:
        self.rows, members = batch.room.rows, batch.members
        self.program, self.devices = share_between_devices(batch.program, len(members), self.rows, devices, sharing)
        self._randomly, self._from_weights, self._advance = compiled(self.program, self.devices)
        self.axis, self.places = lay_out(self.program, len(members), self.devices)
        experiments = [member.experiment for member in members]
        data = [run_data(self.program, m.task, m.examples, batch.room) for m in members]
        check_measures(self.program, data[0])
        self.data: RunData = self._stacked(data)
        self.rates = self._stacked([rates_of(e) for e in experiments])
        self.seeds = self._stacked([np.uint32(e.seed) for e in experiments])
        self.scales = self._stacked([np.asarray(e.init_scale, self.program.dtype) for e in experiments])
        prepare(self._advance, self.data, self.rates, self.seeds, np.int32(0), np.int32(0), np.bool_(True))

    def begin(self) -> None:
        """With weights that depend on the seeds."""
        self._place(self._randomly(*self._fresh))

    def begin_with(self, weights: Sequence[Parameters]) -> None:
        self._place(self._from_weights(self._stacked(weights), self.rates, self.data.batch))

    def restore(self, states: Sequence[State]) -> None:
        """Goes on from what was stored."""
        self._place(self._stacked(states))

    @property
    def form(self) -> State:
        """What a state of one run looks like, with an axis for all."""
        return self._randomly.eval_shape(*self._fresh)

    @property
    def nbytes(self) -> int:
        """The size of the state."""
        return sum(leaf.nbytes for leaf in jax.tree.leaves(self.state))

    def advance(self, state: State, step: int, count: int, measured: bool) -> tuple[State, dict[str, Any]]:
        """Takes steps, and fetches what was measured of every run after them."""
        parts = (state, self.data, self.rates, self.seeds)
        state, measurement = self._advance(*parts, np.int32(step), np.int32(count), np.bool_(measured))
        return state, jax.tree.map(lambda values: np.asarray(values)[self.places], measurement)

    def frozen(self, state: State, runs: Iterable[int]) -> State:
        """The state with some runs stopped where they are."""
        return freeze(state, self._placed(runs))

    def diverged_at(self) -> np.ndarray:
        """The step at which each run diverged."""
        return np.asarray(self.state.diverged_at)[self.places]

    def states(self, state: State, runs: Sequence[int]) -> list[State]:
        """Of some runs, on the host."""
        return unstack(state, self._placed(runs), len(self.axis))

    def networks(self, runs: Sequence[int]) -> list[Network]:
        """Of some runs, on the host."""
        program, count, places = self.program, len(self.axis), self._placed(runs)
        parameters = unstack(self.state.weights, places, count)
        if program.batch_norm:
            settled = jax.jit(partial(settle, program))
            parameters = [
                {name: np.asarray(value) for name, value in settled(*one).items()}
                for one in zip(parameters, unstack(self.data, places, count), strict=True)
            ]
        return [Network(program.architecture, program.signature, one) for one in parameters]

    def shrink(self, runs: Sequence[int]) -> None:
        """Goes on with some of the runs alone, numbered anew."""
        self.program, self.devices = share_between_devices(self.program, len(runs), self.rows, self.devices, most=1)
        *_, self._advance = compiled(self.program, self.devices)
        axis, places = lay_out(self.program, len(runs), self.devices)
        chosen = self._placed(runs[i] for i in axis)
        parts = (self.state, self.data, self.rates, self.seeds)
        state, self.data, self.rates, self.seeds = (select(part, chosen, self.devices) for part in parts)
        self.axis, self.places = axis, places
        self._place(state)

    @property
    def _fresh(self) -> tuple[Any, ...]:
        return self.seeds, self.scales, self.rates, self.data.batch

    def _stacked(self, values: Sequence[Any]) -> Any:
        return stack([values[i] for i in self.axis], self.program, self.devices)

    def _place(self, state: State) -> None:
        empty = sorted(set(range(len(self.axis))) - set(self.places))
        self.state = freeze(state, empty) if empty else state

    def _placed(self, runs: Iterable[int]) -> list[int]:
        """Where some of the runs stand."""
        return [self.places[i] for i in runs]
