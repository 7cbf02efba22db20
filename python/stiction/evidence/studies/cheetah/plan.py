"""Plans controls of a robot by the cross-entropy method, and replays them without feedback."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

import stiction
from stiction.errors import ignored_settings_are_fine

Vector = NDArray[np.float64]

HOLD = 4  # number of time steps of the scene for which a control is held
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS
_SPREAD, _LEAST_SPREAD = 0.6, 0.05  # standard deviations of the samples [-]
_ELITE = 8  # number of best samples, to which the next samples are fitted


@dataclass(frozen=True)
class Effort:
    """The work of planning.

    rounds: number of times that the samples are fitted to the best ones.
    samples: number of sequences of controls in a round.
    horizon: number of controls of a sequence.
    """

    rounds: int
    samples: int
    horizon: int


class Planner:
    """Plans controls that move a robot as far as possible along its first dof, x.

    Before each control it samples sequences about the last plan, simulates all of them, and fits mean
    and spread of the next samples to the best ones. The samples depend on a fixed seed alone.
    """

    def __init__(self, model: mujoco.MjModel, contact_model: str, effort: Effort) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        with ignored_settings_are_fine():
            self._simulator = stiction.Simulator(model, contact_model)
        self._effort = effort
        self._random = np.random.default_rng(0)

    def plan(self, num_controls: int) -> Vector:
        """Returns the controls, (num_controls, nu) [-]."""
        mean = np.zeros((self._effort.horizon, self._model.nu))
        state = np.empty(mujoco.mj_stateSize(self._model, _STATE))
        controls = []
        for _ in range(num_controls):
            mujoco.mj_getState(self._model, self._data, state, _STATE)
            spread = np.full_like(mean, _SPREAD)
            for _ in range(self._effort.rounds):
                noise = self._random.standard_normal((self._effort.samples, *mean.shape))
                samples = np.clip(mean + spread * noise, -1, 1)
                ways = [self._try(state, sample) for sample in samples]
                best = samples[np.argsort(ways)[-_ELITE:]]
                mean, spread = best.mean(axis=0), best.std(axis=0) + _LEAST_SPREAD
            mujoco.mj_setState(self._model, self._data, state, _STATE)
            self._hold(mean[0])
            controls.append(mean[0])
            mean = np.vstack([mean[1:], np.zeros(self._model.nu)])
        return np.array(controls)

    def _try(self, state: Vector, controls: Vector) -> float:
        """Returns the way along x from a state under a sequence of controls [m]."""
        mujoco.mj_setState(self._model, self._data, state, _STATE)
        start = float(self._data.qpos[0])
        for control in controls:
            self._hold(control)
        return float(self._data.qpos[0]) - start

    def _hold(self, control: Vector) -> None:
        self._data.ctrl[:] = control
        self._simulator.step(self._data, HOLD)


def replay(model: mujoco.MjModel, controls: Vector, contact_model: str, time_step: float) -> Vector:
    """Runs the robot from its initial state with planned controls and without feedback.

    Args:
        model: the robot.
        controls: from Planner.plan.
        contact_model: name of the contact model.
        time_step: the model's time step, or a fraction of it [s].

    Returns:
        Position along x at the start and after each control [m]; NaN after a step that failed.
    """
    num_steps = round(HOLD * model.opt.timestep / time_step)
    data = mujoco.MjData(model)
    with ignored_settings_are_fine():
        simulator = stiction.Simulator(model, contact_model, time_step=time_step, on_failure="stop")
    way = np.full(1 + len(controls), np.nan)
    way[0] = data.qpos[0]
    for i, control in enumerate(controls):
        data.ctrl[:] = control
        if not simulator.step(data, num_steps).ok:
            break
        way[i + 1] = data.qpos[0]
    return way
