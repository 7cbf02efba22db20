"""Kinematics of the legs of scenes/trotter.xml, of all four at once: left front, right front, left
rear, right rear.

The joints are abduction, hip and knee, and the frame is the base's, x forward and y to the left.
"""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from stiction.evidence.studies.quadruped.footsteps import Footsteps, Gait, Vector, calc_command

NAMES = ("left_front", "right_front", "left_rear", "right_rear")
JOINTS = ("abduction", "hip", "knee")

# Sign along x of the links at q = 0, and of the abduction axes.
_ALONG = np.array([1.0, 1.0, -1.0, -1.0])
_ACROSS = np.array([1.0, -1.0, 1.0, -1.0])  # sign along y of the axes of hip and knee
_MOUNT = np.stack([0.1 * _ALONG, 0.06 * _ACROSS, np.zeros(4)], axis=1)  # abduction joints [m]
_COXA, _THIGH, _SHANK = 0.05, 0.1, 0.1  # lengths of the links [m]

# Damping of the least squares, for straight legs [m^2]. J^T J is about 0.01 m^2 otherwise.
_DAMPING = 1e-9
_MAX_ITERATIONS, _MAX_HALVINGS = 50, 10


def calc_feet(q: Vector) -> Vector:
    """Returns the centers of the feet p_BF, (4, 3) [m], for joint angles q, (4, 3) [rad]."""
    roll, hip, knee = _calc_angles(q)
    down = -_ALONG * (_THIGH * np.sin(hip) + _SHANK * np.sin(knee))
    feet = _MOUNT.copy()
    feet[:, 0] += _ALONG * (_COXA + _THIGH * np.cos(hip) + _SHANK * np.cos(knee))
    feet[:, 1] -= np.sin(roll) * down
    feet[:, 2] += np.cos(roll) * down
    return feet


def calc_jacobians(q: Vector) -> Vector:
    """Returns d p_BF / dq, (4, 3, 3) [m]. The last index is that of the joint."""
    roll, hip, knee = _calc_angles(q)
    sine, cosine = np.sin(roll), np.cos(roll)
    shank_x, shank_z = _SHANK * np.sin(knee), _SHANK * np.cos(knee)
    thigh_x, thigh_z = _THIGH * np.sin(hip), _THIGH * np.cos(hip)
    down = -_ALONG * (thigh_x + shank_x)
    sign = -_ALONG * _ACROSS
    J = np.zeros((4, 3, 3))
    J[:, 1, 0], J[:, 2, 0] = -_ALONG * cosine * down, -_ALONG * sine * down
    J[:, 0, 1], J[:, 0, 2] = sign * (thigh_x + shank_x), sign * shank_x
    for joint, rate in ((1, sign * (thigh_z + shank_z)), (2, sign * shank_z)):
        J[:, 1, joint], J[:, 2, joint] = -sine * rate, cosine * rate
    return J


def solve_legs(feet: Vector, q: Vector, tolerance: float = 1e-6) -> Vector:
    """Computes joint angles, (4, 3), that put the centers of the feet at given positions p_BF,
    (4, 3), or as close as they can be. The guess q decides in which of two ways a knee bends. It
    uses Newton's method and halves steps that do not bring a foot closer."""
    error = feet - calc_feet(q)
    for _ in range(_MAX_ITERATIONS):
        distance = _calc_lengths(error)
        if distance.max() <= tolerance:
            break
        step = calc_joint_rates(q, error)
        share = np.ones((4, 1))
        for _ in range(_MAX_HALVINGS):
            error = feet - calc_feet(q + share * step)
            is_worse = _calc_lengths(error) > distance
            if not is_worse.any():
                break
            share[is_worse] *= 0.5
        else:
            share[is_worse] = 0
            error = feet - calc_feet(q + share * step)
        q = q + share * step
        if not share.any():
            break
    return q


def calc_joint_rates(q: Vector, velocity: Vector) -> Vector:
    """Returns joint rates, (4, 3), that move the feet with velocities in the base frame, (4, 3)."""
    J = calc_jacobians(q)
    J_T = np.swapaxes(J, 1, 2)
    rates = np.linalg.solve(J_T @ J + _DAMPING * np.eye(3), J_T @ velocity[:, :, None])
    return np.asarray(rates[:, :, 0], dtype=float)


def _calc_lengths(vectors: Vector) -> Vector:
    lengths: Vector = np.sqrt((vectors * vectors).sum(axis=1))
    return lengths


def _calc_angles(q: Vector) -> tuple[Vector, Vector, Vector]:
    """Returns the roll of each leg, and the rotations of thigh and shank about y, (4,) each [rad]."""
    return _ALONG * q[:, 0], _ACROSS * q[:, 1], _ACROSS * (q[:, 1] + q[:, 2])


# ---- The controller of the walk: joint torques that make joints and feet follow the planned steps

_JOINT_KP, _JOINT_KV = 10.0, 0.1  # [N m/rad, N m s/rad]
_FOOT_KP, _FOOT_KV = 1000.0, 10.0  # [N/m, N s/m]
_FOOT_KI = 0.01  # factor of the sum over calls of _FOOT_KP times the error [-]
MAX_TORQUE = 4.0  # largest torque of a joint [N m]


class TrotController:
    """Sets data.ctrl of scenes/trotter.xml, once before each step of 1 ms, because it sums errors.

    The joints follow the angles of the positions of Footsteps, and a force through J^T pulls each
    foot to its position. The body has no balance control. `command` is its last velocity, (2,).
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        gait: Gait | None = None,
        command: Callable[[float], Vector] = calc_command,
    ) -> None:
        names = [f"{leg}_{joint}" for leg in NAMES for joint in JOINTS]
        self._q_at = [int(model.joint(name).qposadr[0]) for name in names]
        self._v_at = [int(model.joint(name).dofadr[0]) for name in names]
        self._ctrl_at = [model.actuator(name).id for name in names]
        self._base_q = int(model.joint("base").qposadr[0])
        self._base_v = int(model.joint("base").dofadr[0])
        self._gait = gait or Gait()
        self._footsteps: Footsteps | None = None
        self._q_wanted = np.zeros((4, 3))
        self._foot_sum = np.zeros((4, 3))
        self._calc_command = command
        self.command = np.zeros(2)

    def __call__(self, data: mujoco.MjData) -> None:
        q, qd = data.qpos[self._q_at].reshape(4, 3), data.qvel[self._v_at].reshape(4, 3)
        feet, J = calc_feet(q), calc_jacobians(q)
        if self._footsteps is None:
            self._footsteps, self._q_wanted = Footsteps(self._gait, feet), q.copy()

        # Plan positions and velocities of the feet, and compute those of the joints.
        R_WB = self._calc_rotation(data)
        self.command = self._calc_command(calc_pitch(R_WB))
        velocity = (R_WB.T @ data.qvel[self._base_v :][:3])[:2]
        x, v = self._footsteps.calc_motion(data.time, self.command, velocity)
        self._q_wanted = solve_legs(x, self._q_wanted)
        qd_wanted = calc_joint_rates(self._q_wanted, v)

        # Compute the torques that make joints and feet follow.
        torque = _JOINT_KP * (self._q_wanted - q) + _JOINT_KV * (qd_wanted - qd)
        pull = _FOOT_KP * (x - feet)
        self._foot_sum += pull
        foot_velocity = np.einsum("fij,fj->fi", J, qd)
        force = pull + _FOOT_KI * self._foot_sum + _FOOT_KV * (v - foot_velocity)
        torque += np.einsum("fij,fi->fj", J, force)
        data.ctrl[self._ctrl_at] = np.clip(torque.ravel(), -MAX_TORQUE, MAX_TORQUE)

    def _calc_rotation(self, data: mujoco.MjData) -> Vector:
        R_WB = np.empty(9)
        mujoco.mju_quat2Mat(R_WB, data.qpos[self._base_q + 3 :][:4])
        return R_WB.reshape(3, 3)


def calc_pitch(R_WB: Vector) -> float:
    """Returns the pitch of roll-pitch-yaw angles [rad], which is positive if the nose is down."""
    return float(np.arcsin(np.clip(-R_WB[2, 0], -1, 1)))
