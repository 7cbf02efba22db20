"""Measures the CPU time of steppers. They take turns, so that noise affects all of them equally."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mujoco

from stiction.recording import format as fmt
from stiction.runs.run import Run, Step
from stiction.simulator import Simulator

STAGES = ("kinematics", "collision", "surfaces", "assembly", "solve", "certificate", "finish")


@dataclass(frozen=True)
class Runner:
    """A stepper that can return to its initial state."""

    reset: Callable[[], object]  # restores the initial state; not timed
    advance: Callable[[int], object]  # takes the given number of steps
    num_steps: int  # number of steps of one repeat


@dataclass(frozen=True)
class Timing:
    """The minimum and the median of the CPU time per step over the repeats [us]."""

    minimum: float
    median: float


@dataclass(frozen=True)
class SolverSummary:
    """Statistics of the timed steps, from a separate run of the same steps."""

    contacts: float  # mean number of contacts
    iterations: float  # Newton iterations per step, summed over islands, mean of the steps
    max_iterations: int  # largest number of iterations of an island
    residual: float  # largest relative residual [-]
    stages_us: dict[str, float]  # median wall time of each stage of the step [us]


def take_turns(runners: Mapping[str, Runner], num_repeats: int) -> dict[str, list[float]]:
    """Returns the CPU times per step of num_repeats runs of each runner [us]."""
    samples: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(num_repeats):
        for name, runner in runners.items():
            runner.reset()
            start = time.process_time()
            runner.advance(runner.num_steps)
            samples[name].append((time.process_time() - start) * 1e6 / runner.num_steps)
    return samples


def time_in_turns(runners: Mapping[str, Runner], num_repeats: int) -> dict[str, Timing]:
    """Times each runner num_repeats times; the runners take turns."""
    samples = take_turns(runners, num_repeats)
    return {name: Timing(min(s), statistics.median(s)) for name, s in samples.items()}


def make_mujoco_runner(
    model: mujoco.MjModel, start: mujoco.MjData, num_settle: int, num_steps: int
) -> Runner:
    """Makes a runner of mj_step that starts num_settle steps after `start`."""
    data = copy_data(model, start)
    mujoco.mj_step(model, data, num_settle)
    return Runner(make_reset(model, data), lambda n: mujoco.mj_step(model, data, n), num_steps)


def make_stiction_runner(
    simulator: Simulator, start: mujoco.MjData, num_settle: int, num_steps: int
) -> tuple[Runner, SolverSummary]:
    """Makes a runner that starts num_settle steps after `start`, and the statistics of its steps."""
    data = copy_data(simulator.model, start)
    if num_settle:
        simulator.step(data, num_settle)
    runner = Runner(make_reset(simulator.model, data), lambda n: simulator.step(data, n), num_steps)
    runner.reset()
    return runner, _summarize(simulator, data, num_steps)


def _summarize(simulator: Simulator, data: mujoco.MjData, num_steps: int) -> SolverSummary:
    reports = []

    def add(step: Step) -> None:
        reports.append((step.report.statistics, step.report.timings))

    Run(simulator, data, num_steps, goes_on=True).to_end(add)
    return SolverSummary(
        sum(s.num_contacts for s, _ in reports) / num_steps,
        sum(s.iterations for s, _ in reports) / num_steps,
        max(s.max_iterations for s, _ in reports),
        max(s.residual for s, _ in reports),
        {name: statistics.median(getattr(t, name) for _, t in reports) for name in STAGES},
    )


def copy_data(model: mujoco.MjModel, start: mujoco.MjData) -> mujoco.MjData:
    """Returns a copy of data."""
    data = mujoco.MjData(model)
    mujoco.mj_copyData(data, model, start)
    return data


def make_reset(model: mujoco.MjModel, data: mujoco.MjData) -> Callable[[], object]:
    """Returns a function that restores the present state of data."""
    state = fmt.get_state(model, data)
    return lambda: mujoco.mj_setState(model, data, state, fmt.INTEGRATION)
