"""The legs of scenes/trotter.xml: where their feet are, and which joint angles put them there.

Legs are left front, right front, left rear, right rear; joints of each abduction, hip, knee. All is in
the base's frame, x ahead and y to the left, of all four legs at once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

NAMES = ("left_front", "right_front", "left_rear", "right_rear")
JOINTS = ("abduction", "hip", "knee")

_ALONG = np.array([1.0, 1.0, -1.0, -1.0])  # of the links at q = 0; and the axis of abduction
_ACROSS = np.array([1.0, -1.0, 1.0, -1.0])  # of the axes of hip and knee
_MOUNT = np.stack([0.1 * _ALONG, 0.06 * _ACROSS, np.zeros(4)], axis=1)  # of abduction [m]
_COXA, _THIGH, _SHANK = 0.05, 0.1, 0.1  # [m]

_DAMPING = 1e-9  # of the least squares, where a leg is straight [m^2]; otherwise 0.01
_MAX_ITERATIONS, _MAX_HALVINGS = 50, 10


def calc_feet(q: Vector) -> Vector:
    """Centers of the feet p_BF [m], (4, 3), of joint angles q [rad], (4, 3)."""
    roll, hip, knee = _calc_angles(q)
    down = -_ALONG * (_THIGH * np.sin(hip) + _SHANK * np.sin(knee))
    feet = _MOUNT.copy()
    feet[:, 0] += _ALONG * (_COXA + _THIGH * np.cos(hip) + _SHANK * np.cos(knee))
    feet[:, 1] -= np.sin(roll) * down
    feet[:, 2] += np.cos(roll) * down
    return feet


def calc_jacobians(q: Vector) -> Vector:
    """d p_BF / dq [m], (4, 3, 3), joints last."""
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
    """Joint angles that put the feet's centers there, by Newton's method with halved steps.

    Args:
        feet: wanted p_BF [m], (4, 3).
        q: where the search starts [rad], (4, 3); of the two ways to bend a knee it picks one.
        tolerance: distance of each foot from there [m].

    Returns:
        q [rad], (4, 3); as near as the search came where a foot cannot reach.
    """
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
    """qd [rad/s], (4, 3), with which the feet move at velocities in the base's frame [m/s], (4, 3)."""
    J = calc_jacobians(q)
    J_T = np.swapaxes(J, 1, 2)
    rates = np.linalg.solve(J_T @ J + _DAMPING * np.eye(3), J_T @ velocity[:, :, None])
    return np.asarray(rates[:, :, 0], dtype=float)


def _calc_lengths(vectors: Vector) -> Vector:
    lengths: Vector = np.sqrt((vectors * vectors).sum(axis=1))
    return lengths


def _calc_angles(q: Vector) -> tuple[Vector, Vector, Vector]:
    """Roll of each leg, and turns of thigh and shank about y."""
    return _ALONG * q[:, 0], _ACROSS * q[:, 1], _ACROSS * (q[:, 1] + q[:, 2])
