"""The one loop of all runs: what acts before a call, the call, and observers after it.

settings = RunSettings(load_scene("pinch"), "lagged", duration=2.0)
simulator = settings.make_simulator()
end = settings.make_run(simulator).to_end(lambda step: log.add(step.report, step.data))
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import mujoco

from stiction._core import StepReport, contact_model_traits
from stiction.binding.interrupts import AfterStep
from stiction.errors import Error
from stiction.inputs.names import choose_friction_law
from stiction.runs.controls import (
    Controls,
    ControlsName,
    count_steps,
    default_controls,
    default_duration,
    make_controls,
)
from stiction.scene import Scene
from stiction.setup.options import DEFAULTS
from stiction.simulator import Simulator

# A period is this number of time steps unless it is given.
_STEPS_PER_PERIOD = 10


class Advances(Protocol):
    """A Simulator, or a Recorder of one."""

    def step(self, data: mujoco.MjData, nstep: int = 1) -> StepReport: ...

    def advance(self, data: mujoco.MjData, until: float, accuracy: float) -> StepReport: ...


@dataclass(frozen=True)
class Strides:
    """The calls of a run: steps of one length, or periods of Simulator.advance.

    length: simulated time of a call [s]. The last call of Simulator.advance may be shorter.
    end: simulated time at the end of the run [s]. Steps of one length may end later.
    accuracy: the argument of Simulator.advance [m]; None for steps of one length.
    """

    count: int
    num_steps: int = 1
    length: float = 0.0
    start: float = 0.0
    end: float = 0.0
    accuracy: float | None = None

    @staticmethod
    def make(
        simulator: Simulator,
        start: float,
        duration: float,
        accuracy: float | None = None,
        period: float | None = None,
    ) -> Strides:
        """Makes the calls of a run for a duration; with an accuracy of periods, else of time steps."""
        if accuracy is not None:
            length = min(period or _STEPS_PER_PERIOD * simulator.time_step, duration)
        elif period is None:
            length = simulator.time_step
        else:
            raise Error(
                "invalid_value",
                "period",
                "needs an accuracy, because steps of one length have no other period",
            )
        count = count_steps(duration, length)
        return Strides(count, 1, length, start, start + duration, accuracy)

    def take(self, stepper: Advances, data: mujoco.MjData, index: int) -> StepReport:
        """Makes call `index`, from 0. Times are products and not sums, so that they do not drift."""
        if self.accuracy is None:
            return stepper.step(data, self.num_steps)
        is_last = index + 1 == self.count
        until = self.end if is_last else self.start + (index + 1) * self.length
        return stepper.advance(data, until, self.accuracy)


@dataclass(frozen=True, slots=True)
class Step:
    """A call that a run has made.

    index: number of calls before it.
    time: simulated time at its start [s].
    cpu_ns: CPU time of the call without controls and observers [ns].
    """

    index: int
    time: float
    report: StepReport
    data: mujoco.MjData
    cpu_ns: int


# Makes a step in place of Simulator.step; that of a Film keeps frames.
StepFunction = Callable[[Simulator, mujoco.MjData], StepReport]
# Looks at a step; True ends the run.
Observer = Callable[[Step], object]


class RunEnd(enum.StrEnum):
    """Why a run ended."""

    done = "done"  # all calls are made
    failed = "failed"  # a call failed; Run.report says why
    stopped = "stopped"  # an observer or Ctrl-C ended it


class Run:
    """The loop of a run.

    stepper: a Simulator, a Recorder, or a function that makes a step of the data; may be replaced.
    calls: the calls, or the number of steps of one length.
    before: called with the data before each call; sets controls, forces or motions.
    goes_on: True if a failed step does not end the run, as with on_failure 'keep_best'.
    """

    def __init__(
        self,
        stepper: Advances | Callable[[mujoco.MjData], StepReport],
        data: mujoco.MjData,
        calls: Strides | int,
        before: Controls | None = None,
        *,
        goes_on: bool = False,
    ) -> None:
        self.stepper, self.data = stepper, data
        self.calls = Strides(calls) if isinstance(calls, int) else calls
        self.num_made = 0
        self.report: StepReport | None = None
        self._before, self._goes_on = before, goes_on

    def step(self) -> Step:
        """Makes the next call. Error: as Simulator.step."""
        data, stepper, index = self.data, self.stepper, self.num_made
        if self._before is not None:
            self._before(data)
        start = float(data.time)
        begin = time.process_time_ns()
        report = stepper(data) if callable(stepper) else self.calls.take(stepper, data, index)
        cpu_ns = time.process_time_ns() - begin
        self.num_made, self.report = index + 1, report
        return Step(index, start, report, data, cpu_ns)

    def to_end(self, *observers: Observer, stop: AfterStep = lambda: False) -> RunEnd:
        """Makes all calls, with observers after each, until a failure, Ctrl-C or a `stop`."""
        while self.num_made < self.calls.count:
            step = self.step()
            if step.report.status_bits:
                if "interrupted" in step.report.status:
                    return RunEnd.stopped
                if not self._goes_on:
                    return RunEnd.failed
            results = [observe(step) for observe in observers]
            if stop() or any(result is True for result in results):
                return RunEnd.stopped
        return RunEnd.done


@dataclass(frozen=True)
class RunSettings:
    """A scene and how it runs, as commands take it. None means the default.

    duration: simulated time [s]; default: to the end of the scene's schedule of controls, or 2 s.
    accuracy: of Simulator.advance [m]; default: steps of one length.
    period: time between two controls with an accuracy [s]; default: 10 time steps.
    controls: what drives the actuators; default: as default_controls.
    """

    scene: Scene
    contact_model: str = DEFAULTS["contact_model"]
    time_step: float | None = None
    duration: float | None = None
    accuracy: float | None = None
    period: float | None = None
    controls: ControlsName | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    output: Path | None = None

    def find_time_step(self) -> float:
        """Returns the time step [s]."""
        return self.time_step or float(self.scene.model.opt.timestep)

    def find_duration(self) -> float:
        """Returns the duration [s]."""
        return self.duration or default_duration(self.scene)

    def find_controls(self) -> ControlsName:
        """Returns the name of the controls."""
        return self.controls or default_controls(self.scene)

    def count_steps(self) -> int:
        """Returns the number of steps of one length that reach the duration."""
        return count_steps(self.find_duration(), self.find_time_step())

    def under(self, contact_model: str, friction_law: str, normal_law: str = "") -> RunSettings:
        """Returns the settings for a contact model, with those of the laws that it takes."""
        laws = choose_friction_law(contact_model, friction_law)
        if normal_law and contact_model_traits(contact_model).takes_laws:
            laws["normal_law"] = normal_law
        return replace(self, contact_model=contact_model, options={**laws, **self.options})

    def make_simulator(self, **options: Any) -> Simulator:
        """Returns a simulator that stops at a failure unless the options say otherwise."""
        options = {"on_failure": "stop", **self.options, **options}
        return self.scene.make_simulator(self.contact_model, time_step=self.time_step, **options)

    def make_controls(self) -> Controls:
        """Returns the controls."""
        return make_controls(self.find_controls(), self.scene, self.seed)

    def make_run(self, simulator: Simulator) -> Run:
        """Returns the run of a simulator from the scene's initial state."""
        data, controls = self.scene.make_data(), self.make_controls()
        start, duration = float(data.time), self.find_duration()
        strides = Strides.make(simulator, start, duration, self.accuracy, self.period)
        return Run(simulator, data, strides, controls)
