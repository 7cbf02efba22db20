"""Steppers of a planar case, each from its start as often as asked for: ours and mj_step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from stiction.experiments.planar import Vector, calc_ground_velocities, set_ground_velocity
from stiction.experiments.planar_case import PlanarCase


class PlanarStepper(Protocol):
    """A program that steps one case."""

    def reset(self) -> None:
        """Returns to the start."""

    def advance(self, num_steps: int) -> None:
        """Takes steps; all of the case together are not more than its duration."""

    def get_position(self) -> Vector:
        """x and z against the ground [m], and theta [rad] of a body that rotates, (2 or 3,)."""

    def count_failures(self) -> int:
        """Of the last call of advance, where it was of one step."""


@dataclass(frozen=True)
class MujocoVariant:
    """Cones, and whether contacts are as stiff as MuJoCo takes or as soft as by default."""

    cone: mujoco.mjtCone
    is_stiff: bool


MUJOCO_VARIANTS = {
    "mujoco elliptic": MujocoVariant(mujoco.mjtCone.mjCONE_ELLIPTIC, True),
    "mujoco pyramidal": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, True),
    "mujoco default": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, False),
}


class _MujocoState:
    """A case's state in MuJoCo's coordinates, and the ground's motion.

    step: advances the data by a number of steps.
    """

    def __init__(
        self,
        case: PlanarCase,
        contact_model: str,
        model: mujoco.MjModel,
        step: Callable[[mujoco.MjData, int], object],
    ) -> None:
        time_step = model.opt.timestep
        self._case = case
        self._model = model
        self._data = mujoco.MjData(model)
        self._step = step
        self._start = case.make_start(contact_model, time_step)
        self._ground = calc_ground_velocities(
            case.ground_position, time_step, round(case.duration / time_step)
        )
        self._steps_taken = 0

    def reset(self) -> None:
        mujoco.mj_resetData(self._model, self._data)
        self._data.qpos[:], self._data.qvel[:] = self._start
        self._steps_taken = 0

    def advance(self, num_steps: int) -> None:
        if self._ground is None:
            self._step(self._data, num_steps)
        else:
            for velocity in self._ground[self._steps_taken : self._steps_taken + num_steps]:
                set_ground_velocity(self._model, velocity)
                self._step(self._data, 1)
        self._steps_taken += num_steps

    def get_position(self) -> Vector:
        q = np.array(self._data.qpos)
        if self._case.ground_position is not None:
            time = self._steps_taken * self._model.opt.timestep
            q[0] -= float(self._case.ground_position(np.array(time)))
        return q


class StictionStepper(_MujocoState):
    """Ours."""

    def __init__(
        self, case: PlanarCase, time_step: float, contact_model: str, tolerance: float
    ) -> None:
        simulator = case.body.make_simulator(contact_model, time_step, tolerance=tolerance)
        self._failed = 0

        def step(data: mujoco.MjData, num_steps: int) -> None:
            self._failed = not simulator.step(data, num_steps).ok

        super().__init__(case, contact_model, simulator.model, step)

    def count_failures(self) -> int:
        return int(self._failed)


class MujocoStepper(_MujocoState):
    """mj_step with its own default tolerance."""

    def __init__(self, case: PlanarCase, time_step: float, variant: MujocoVariant) -> None:
        model = case.body.make_model(time_step)
        usual = mujoco.MjOption()
        model.opt.tolerance, model.opt.iterations = usual.tolerance, usual.iterations
        model.opt.cone = variant.cone
        if not variant.is_stiff:
            soft = mujoco.MjSpec().default.geom
            model.geom_solref[:], model.geom_solimp[:] = soft.solref, soft.solimp

        def step(data: mujoco.MjData, num_steps: int) -> None:
            mujoco.mj_step(model, data, num_steps)

        super().__init__(case, "mujoco", model, step)

    def count_failures(self) -> int:
        return 0
