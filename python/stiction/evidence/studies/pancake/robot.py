"""The robot as seen by its task: it follows a pose and a grip force, and measures bubble forces."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stiction import StepReport
from stiction.evidence.studies.pancake.arm import ArmReference, Pose
from stiction.evidence.studies.pancake.scene import ARM_JOINTS, BUBBLES, FINGERS, START, Vector

_FINGER_SPEED = 0.05  # [m/s]
_FORCE_GAIN = 2e-3  # speed of the fingers' set point per error of the grip force [m/(N s)]
_OPEN = 0.045  # opening of each finger at the start [m]
_FILTER_TIME = 0.02  # time constant of the filter of measured forces [s]


@dataclass(frozen=True)
class Command:
    """A command for one step."""

    pose: Pose  # pose X_WG of the grasp site
    grip: float | None  # force of each bubble [N]; None opens the fingers


class Robot:
    """Converts commands to set points of the servos, and measures forces in the contacts of a step.

    start: initial pose X_WG of the grasp site.
    bubble_forces: filtered force on each bubble, (2, 3), in the world frame [N].
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, time_step: float) -> None:
        self._data, self._time_step = data, time_step
        self._arm = ArmReference(model, START)
        self._fingers = np.full(2, _OPEN)
        self._bubbles = [model.geom(name).id for name in BUBBLES]
        self._lag = model.actuator_biasprm[:6, 2] / model.actuator_biasprm[:6, 1]
        for name, q in zip(ARM_JOINTS + FINGERS, [*START, _OPEN, _OPEN], strict=True):
            data.qpos[model.joint(name).qposadr[0]] = q
        mujoco.mj_kinematics(model, data)
        self.start = self._arm.calc_pose()
        self.bubble_forces = np.zeros((2, 3))

    @property
    def time(self) -> float:
        """The simulated time [s]."""
        return float(self._data.time)

    @property
    def grip_force(self) -> float:
        """The force across the grip, mean of both bubbles [N]."""
        across = self._arm.calc_pose().R[:, 1]
        return float(np.abs(self.bubble_forces @ across).mean())

    @property
    def handle_force(self) -> Vector:
        """The force of both bubbles on the held body, (3,), in the world frame [N]."""
        force: Vector = -self.bubble_forces.sum(axis=0)
        return force

    def obey(self, command: Command) -> None:
        """Sets the controls of the next step."""
        self._arm.follow(command.pose, self._time_step)
        # The servo damps the joint's velocity. A lead in the set point cancels the damping of the
        # reference velocity.
        self._data.ctrl[:6] = self._arm.q + self._lag * self._arm.v
        speed = _FINGER_SPEED
        if command.grip is not None:
            error = self.grip_force - command.grip
            speed = float(np.clip(_FORCE_GAIN * error, -_FINGER_SPEED, _FINGER_SPEED))
        self._fingers = np.clip(self._fingers + self._time_step * speed, -0.02, _OPEN)
        self._data.ctrl[6:] = self._fingers

    def feel(self, report: StepReport) -> None:
        """Updates the forces on the bubbles from the report of a step."""
        contacts = report.contacts
        share = self._time_step / (self._time_step + _FILTER_TIME)
        for i, bubble in enumerate(self._bubbles):
            impulse = contacts.impulse[contacts.geoms[:, 1] == bubble].sum(axis=0)
            impulse = impulse - contacts.impulse[contacts.geoms[:, 0] == bubble].sum(axis=0)
            self.bubble_forces[i] += share * (impulse / self._time_step - self.bubble_forces[i])
