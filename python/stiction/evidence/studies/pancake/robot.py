"""The robot as seen by its task: it follows a pose and a grip force, and measures bubble forces."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stiction import StepReport
from stiction.evidence.studies.pancake.scene import (
    ARM_JOINTS,
    BUBBLES,
    FINGERS,
    GRASP,
    JOINT_SPEEDS,
    START,
    Vector,
)

# ---- The arm: joint angles for a pose of the grasp site, within speed limits ---------------------

# Damping of the least squares [m^2]. The smallest singular value during the task is 0.1 m.
_DAMPING = 1e-4
_GAIN = 0.5  # fraction of the error that one step removes


@dataclass(frozen=True)
class Pose:
    """A pose X_AB of frame B in frame A. Poses are composed as X_AB = X_AC @ X_CB."""

    R: Vector  # rotation matrix, (3, 3)
    p: Vector  # position, (3,) [m]

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def inverse(self) -> Pose:
        """Returns X_BA of X_AB."""
        return Pose(self.R.T, -self.R.T @ self.p)


def make_rotation(axis: tuple[float, float, float], angle: float) -> Vector:
    """Returns the rotation matrix, (3, 3), of an angle [rad] about a unit axis."""
    quat, matrix = np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(quat, np.array(axis), angle)
    mujoco.mju_quat2Mat(matrix, quat)
    return matrix.reshape(3, 3)


def calc_rotation_vector(R: Vector) -> Vector:
    """Returns the axis times the angle of a rotation matrix, (3,) [rad]."""
    quat, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quat, R.ravel())
    mujoco.mju_quat2Vel(vector, quat, 1.0)
    return vector


def interpolate(first: Pose, last: Pose, share: float) -> Pose:
    """Returns a pose between two poses, on a straight line and with a rotation about one axis."""
    vector = first.R.T @ last.R
    turn = share * calc_rotation_vector(vector)
    angle = float(np.linalg.norm(turn))
    axis = turn / angle if angle > 0 else np.array([1.0, 0.0, 0.0])
    R = first.R @ make_rotation(tuple(axis), angle)
    return Pose(R, first.p + share * (last.p - first.p))


class ArmReference:
    """Reference joint angles that follow a pose by resolved-rate control.

    The reference has its own kinematics, so contact forces on the arm do not affect it.

    q: joint angles, (6,) [rad].
    v: joint rates, (6,) [rad/s].
    """

    def __init__(self, model: mujoco.MjModel, q: Vector) -> None:
        self._model, self._data = model, mujoco.MjData(model)
        self._site = model.site(GRASP).id
        self._q_at = [int(model.joint(name).qposadr[0]) for name in ARM_JOINTS]
        self._v_at = [int(model.joint(name).dofadr[0]) for name in ARM_JOINTS]
        self._jacobian = np.zeros((6, model.nv))
        self.q, self.v = q.copy(), np.zeros(6)

    def calc_pose(self) -> Pose:
        """Returns the pose X_WG of the grasp site."""
        self._data.qpos[self._q_at] = self.q
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)
        R = self._data.site_xmat[self._site].reshape(3, 3).copy()
        return Pose(R, self._data.site_xpos[self._site].copy())

    def follow(self, wanted: Pose, time_step: float) -> None:
        """Moves q toward a pose X_WG for one step, within the speed limits of the joints."""
        X = self.calc_pose()
        error = np.concatenate([wanted.p - X.p, calc_rotation_vector(wanted.R @ X.R.T)])
        mujoco.mj_jacSite(
            self._model, self._data, self._jacobian[:3], self._jacobian[3:], self._site
        )
        J = self._jacobian[:, self._v_at]
        rate = J.T @ np.linalg.solve(J @ J.T + _DAMPING * np.eye(6), _GAIN / time_step * error)
        self.v = rate / max(1.0, float(np.max(np.abs(rate) / JOINT_SPEEDS)))
        self.q = self.q + time_step * self.v


# ---- The arm with its gripper --------------------------------------------------------------------

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
