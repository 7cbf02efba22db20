"""The controller of the walk: joint torques that make joints and feet follow the planned steps."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

from stiction.evidence.studies.quadruped.footsteps import Footsteps
from stiction.evidence.studies.quadruped.gait import Gait, Vector, calc_command
from stiction.evidence.studies.quadruped.leg import (
    JOINTS,
    NAMES,
    calc_feet,
    calc_jacobians,
    calc_joint_rates,
    solve_legs,
)

_JOINT_KP, _JOINT_KV = 10.0, 0.1  # [N m/rad, N m s/rad]
_FOOT_KP, _FOOT_KV = 1000.0, 10.0  # [N/m, N s/m]
_FOOT_KI = 0.01  # factor of the sum over calls of _FOOT_KP times the error [-]
MAX_TORQUE = 4.0  # largest torque of a joint [N m]


class TrotController:
    """Sets data.ctrl of scenes/trotter.xml.

    It must be called once before each step of 1 ms, because it integrates errors by summing over
    calls. Footsteps plans the positions of the feet. The controller makes the joints follow the
    corresponding angles, and pulls each foot to its position by a force through J^T. There is no
    balance control of the body.

    Args:
        model: the model.
        gait: the gait; None means the published one.
        command: returns the commanded velocity of the body, (2,) [m/s], for its pitch [rad].

    Attributes:
        command: the last commanded velocity, forward and to the left, (2,) [m/s].
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
