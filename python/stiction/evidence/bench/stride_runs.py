"""Runs of a stepper from a model's initial state, timed stride by stride."""

from __future__ import annotations

import time
from collections.abc import Callable

import mujoco
import numpy as np

from stiction.errors import StepError
from stiction.recording import format as fmt
from stiction.runs.slow_controls import make_slow_controls

STRIDE = 10  # steps between updates of the controls


class StrideRuns:
    """Repeated runs of one stepper with slow controls, and the CPU time of each stride.

    A run ends early if a step fails or if its time is used up; later runs then end there too.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        step: Callable[[mujoco.MjData, int], object],
        num_strides: int,
        max_seconds: float,
    ) -> None:
        """Makes the runs of a stepper.

        Args:
            model: the model.
            step: takes the given number of steps.
            num_strides: number of strides of a run.
            max_seconds: CPU time of a run after which it ends.
        """
        self.data = mujoco.MjData(model)
        self.num_strides = num_strides
        self.failure = ""  # status of the step that failed
        self._model = model
        self._step = step
        self._max_us = 1e6 * max_seconds
        self._controls = make_slow_controls(model)
        self._start = fmt.get_state(model, self.data)
        self._times: list[list[float]] = []  # [us], by run and stride
        self._contacts: list[int] = []

    def start(self) -> None:
        """Starts the next run."""
        mujoco.mj_setState(self._model, self.data, self._start, fmt.INTEGRATION)
        self._times.append([])

    def advance(self) -> None:
        """Takes a stride, unless the run has ended."""
        times = self._times[-1]
        if len(times) >= self.num_strides:
            return
        self.data.ctrl[:] = self._controls(self.data.time)
        start = time.process_time()
        try:
            self._step(self.data, STRIDE)
        except StepError as e:
            self.failure = e.report.status
            self.num_strides = len(times)
            return
        times.append(1e6 * (time.process_time() - start))
        self._contacts.append(self.data.ncon)
        if sum(times) > self._max_us:
            self.num_strides = len(times)

    def calc_contacts(self) -> float:
        """Returns the mean number of contacts at the ends of strides."""
        return float(np.mean(self._contacts)) if self._contacts else 0.0

    def calc_us(self, num_strides: int, choose: Callable[..., np.ndarray] = np.min) -> float:
        """Returns the time per step over the first strides [us].

        Args:
            num_strides: number of strides, at least 1.
            choose: reduces the runs to one time for each stride: np.min or np.median.
        """
        times = np.array([run[:num_strides] for run in self._times])
        return float(choose(times, axis=0).mean()) / STRIDE
