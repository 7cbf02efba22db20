"""The arm's controller: computes joint angles for a pose of the grasp site, within speed limits."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from stiction.evidence.studies.pancake.scene import ARM_JOINTS, GRASP, JOINT_SPEEDS, Vector

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
