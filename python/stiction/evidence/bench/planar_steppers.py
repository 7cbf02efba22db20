"""Stiction and mj_step as steppers of a planar case, which can run it repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import mujoco
import numpy as np

from stiction.evidence.experiments.planar import Vector, calc_ground_velocities, set_ground_velocity
from stiction.evidence.experiments.planar_case import PlanarCase


class PlanarStepper(Protocol):
    """A simulator that steps one case."""

    def reset(self) -> None:
        """Returns to the start of the case."""

    def advance(self, num_steps: int) -> None:
        """Takes num_steps steps. The steps since reset() must not exceed the case's duration."""

    def get_position(self) -> Vector:
        """Returns x and z relative to the ground [m], and theta [rad] of a rotating body, (2 or 3,)."""

    def count_failures(self) -> int:
        """Returns the number of failed steps in the last call of advance(1)."""


@dataclass(frozen=True)
class MujocoVariant:
    """A setting of MuJoCo.

    cone: type of the friction cones.
    is_stiff: whether contacts have MuJoCo's largest stiffness, or its default.
    """

    cone: mujoco.mjtCone
    is_stiff: bool


MUJOCO_VARIANTS = {
    "mujoco elliptic": MujocoVariant(mujoco.mjtCone.mjCONE_ELLIPTIC, True),
    "mujoco pyramidal": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, True),
    "mujoco default": MujocoVariant(mujoco.mjtCone.mjCONE_PYRAMIDAL, False),
}


class _MujocoState:
    """A case with its state in MuJoCo's coordinates and the motion of its ground.

    Args:
        case: the case.
        contact_model: name of the contact model, which determines the initial state.
        model: the case's model.
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
    """Stiction as a PlanarStepper."""

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
    """mj_step with its default tolerance as a PlanarStepper."""

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
