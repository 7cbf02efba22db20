"""Runners of Stiction and of mj_step on a MuJoCo model, each with its own copy of a state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

import mujoco

import stiction
from stiction.evidence.bench.timing import Runner
from stiction.recording import format as fmt

STAGES = ("kinematics", "collision", "surfaces", "assembly", "solve", "certificate", "finish")


@dataclass(frozen=True)
class SolverSummary:
    """Statistics of the timed steps, from a separate run of the same steps.

    contacts: mean number of contacts.
    iterations: Newton iterations per step, summed over islands, mean of the steps.
    max_iterations: largest number of iterations of an island.
    residual: largest relative residual [-].
    stages_us: median wall time of each stage of the step [us].
    """

    contacts: float
    iterations: float
    max_iterations: int
    residual: float
    stages_us: dict[str, float]


def make_mujoco_runner(
    model: mujoco.MjModel, start: mujoco.MjData, num_settle: int, num_steps: int
) -> Runner:
    """Makes a runner of mj_step that starts num_settle steps after `start`."""
    data = _copy(model, start)
    mujoco.mj_step(model, data, num_settle)
    return Runner(_make_reset(model, data), lambda n: mujoco.mj_step(model, data, n), num_steps)


def make_stiction_runner(
    simulator: stiction.Simulator, start: mujoco.MjData, num_settle: int, num_steps: int
) -> tuple[Runner, SolverSummary]:
    """Makes a runner of the simulator that starts num_settle steps after `start`.

    Returns the runner and the statistics of its steps.
    """
    model = simulator.model
    data = _copy(model, start)
    if num_settle:
        simulator.step(data, num_settle)
    reset = _make_reset(model, data)

    def advance(n: int) -> None:
        simulator.step(data, n)

    return Runner(reset, advance, num_steps), _summarize(simulator, data, reset, num_steps)


def _summarize(
    simulator: stiction.Simulator,
    data: mujoco.MjData,
    reset: Callable[[], None],
    num_steps: int,
) -> SolverSummary:
    reset()
    contacts, iterations, most, residual = 0, 0, 0, 0.0
    stages: dict[str, list[float]] = {name: [] for name in STAGES}
    for _ in range(num_steps):
        report = simulator.step(data)
        statistics = report.statistics
        for name, times in stages.items():
            times.append(getattr(report.timings, name))
        contacts += statistics.num_contacts
        iterations += statistics.iterations
        most = max(most, statistics.max_iterations)
        residual = max(residual, statistics.residual)
    medians = {name: median(times) for name, times in stages.items()}
    return SolverSummary(contacts / num_steps, iterations / num_steps, most, residual, medians)


def _copy(model: mujoco.MjModel, start: mujoco.MjData) -> mujoco.MjData:
    data = mujoco.MjData(model)
    mujoco.mj_copyData(data, model, start)
    return data


def _make_reset(model: mujoco.MjModel, data: mujoco.MjData) -> Callable[[], None]:
    state = fmt.get_state(model, data)
    return lambda: mujoco.mj_setState(model, data, state, fmt.INTEGRATION)
