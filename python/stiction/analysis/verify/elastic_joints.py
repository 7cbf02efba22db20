"""The springs of joints and tendons, linearized as a step takes them."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def calc_spring_change(start: mujoco.MjData, end: Vector, time_step: float) -> Vector:
    """Returns -dt K v of the springs of joints and tendons, (nv,)."""
    model = start.model
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_SPRING):
        return np.zeros(model.nv)
    change = calc_joint_spring_change(start, end, time_step)
    for tendon in np.flatnonzero(_find_elastic(model.tendon_stiffness, model.tendon_stiffnesspoly)):
        x = _calc_stretch(start, int(tendon))
        if x == 0:
            continue
        first = int(model.ten_J_rowadr[tendon])
        row = slice(first, first + int(model.ten_J_rownnz[tendon]))
        dofs, moment = model.ten_J_colind[row], np.ravel(start.ten_J)[row]
        stiffness = _calc_slope(
            model.tendon_stiffness[tendon], model.tendon_stiffnesspoly[tendon], x
        )
        change[dofs] -= time_step * stiffness * (moment @ end[dofs]) * moment
    return change


def calc_joint_spring_change(start: mujoco.MjData, end: Vector, time_step: float) -> Vector:
    """Returns -dt K v of the springs of joints, (nv,)."""
    model, change = start.model, np.zeros(start.model.nv)
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_SPRING):
        return change
    for joint in np.flatnonzero(_find_elastic(model.jnt_stiffness, model.jnt_stiffnesspoly)):
        for dofs, x in _find_displacements(start, int(joint)):
            stiffness = _calc_slope(model.jnt_stiffness[joint], model.jnt_stiffnesspoly[joint], x)
            change[dofs] -= time_step * stiffness * end[dofs]
    return change


def _find_elastic(stiffness: Vector, higher: Vector) -> NDArray[np.bool_]:
    return np.asarray((stiffness != 0) | np.any(higher != 0, axis=1))


def _calc_slope(stiffness: float, higher: Vector, x: float) -> float:
    """Returns the derivative of a spring's polynomial at x, or 0 if it is negative."""
    return max(0.0, float(stiffness + 2 * higher[0] * x + 3 * higher[1] * x * x))


def _find_displacements(data: mujoco.MjData, joint: int) -> list[tuple[slice, float]]:
    """Returns the dofs of a joint and the displacement of their spring [m or rad]."""
    model = data.model
    dof, address = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint])
    plastic = int(model.jnt_plasticadr[joint])
    rest = data.plastic[plastic:] if plastic >= 0 else model.qpos_spring[address:]
    q = data.qpos[address:]

    def calc_angle(first: int) -> float:
        quat, turn = q[first : first + 4].copy(), np.zeros(3)
        mujoco.mju_normalize4(quat)
        mujoco.mju_subQuat(turn, quat, rest[first : first + 4].copy())
        return float(np.linalg.norm(turn))

    match int(model.jnt_type[joint]):
        case mujoco.mjtJoint.mjJNT_FREE.value:
            linear = float(np.linalg.norm(q[:3] - rest[:3]))
            return [(slice(dof, dof + 3), linear), (slice(dof + 3, dof + 6), calc_angle(3))]
        case mujoco.mjtJoint.mjJNT_BALL.value:
            return [(slice(dof, dof + 3), calc_angle(0))]
        case _:
            return [(slice(dof, dof + 1), float(q[0] - rest[0]))]


def _calc_stretch(data: mujoco.MjData, tendon: int) -> float:
    """Returns the length of a tendon beyond its rest lengths [m]; 0 if it is slack."""
    plastic = int(data.model.tendon_plasticadr[tendon])
    rest = (
        data.plastic[plastic : plastic + 2]
        if plastic >= 0
        else data.model.tendon_lengthspring[tendon]
    )
    length = float(data.ten_length[tendon])
    return length - min(max(length, float(rest[0])), float(rest[1]))
