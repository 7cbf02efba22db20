"""The calls in which a run advances: steps of one length, or periods of Simulator.advance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import mujoco

from stiction._core import StepReport
from stiction.errors import Error
from stiction.runs.controls import count_steps
from stiction.simulator import Simulator

# A period is this number of time steps unless it is given.
_STEPS_PER_PERIOD = 10


class Advances(Protocol):
    """A Simulator, or a Recorder of one."""

    def step(self, data: mujoco.MjData) -> StepReport: ...

    def advance(self, data: mujoco.MjData, until: float, accuracy: float) -> StepReport: ...


@dataclass(frozen=True)
class Strides:
    """The calls of a run.

    Attributes:
        length: simulated time of a call [s]. The last call of Simulator.advance may be shorter.
        count: number of calls.
        start, end: simulated time at the start and at the end of the run [s]. Steps of one length may
            end later.
        accuracy: the argument of Simulator.advance [m]; None for steps of one length.
    """

    length: float
    count: int
    start: float
    end: float
    accuracy: float | None = None

    @staticmethod
    def make(
        simulator: Simulator,
        start: float,
        duration: float,
        accuracy: float | None = None,
        period: float | None = None,
    ) -> Strides:
        """Makes the calls of a run that reaches a duration.

        Args:
            simulator: the simulator, whose time step a call has without an accuracy.
            start: simulated time at the start of the run [s].
            duration: [s].
            accuracy: the argument of Simulator.advance [m]; None for steps.
            period: time between two controls with an accuracy [s]; None for 10 time steps.

        Raises:
            Error: there is a period without an accuracy.
        """
        if accuracy is None:
            if period is not None:
                raise Error(
                    "invalid_value",
                    "period",
                    "needs an accuracy, because steps of one length have no other period",
                )
            length = simulator.time_step
        else:
            length = min(period or _STEPS_PER_PERIOD * simulator.time_step, duration)
        return Strides(length, count_steps(duration, length), start, start + duration, accuracy)

    def take(self, stepper: Advances, data: mujoco.MjData, index: int) -> StepReport:
        """Makes call `index`, from 0. Times are products and not sums, so that they do not drift."""
        if self.accuracy is None:
            return stepper.step(data)
        is_last = index + 1 == self.count
        until = self.end if is_last else self.start + (index + 1) * self.length
        return stepper.advance(data, until, self.accuracy)
