"""Kinematics of the legs of scenes/trotter.xml, forward and inverse.

The legs are left front, right front, left rear and right rear. The joints of a leg are abduction,
hip and knee. All functions compute all four legs at once, in the base frame with x forward and y to
the left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

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
    """Computes joint angles that put the centers of the feet at given positions.

    It uses Newton's method and halves steps that do not bring a foot closer.

    Args:
        feet: positions p_BF of the feet, (4, 3) [m].
        q: initial guess, (4, 3) [rad]. It decides in which of two ways a knee bends.
        tolerance: largest distance of a foot from its position [m].

    Returns:
        The joint angles, (4, 3) [rad]. If a foot cannot reach its position, they are the closest
        that the search found.
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
    """Returns the joint rates, (4, 3) [rad/s], that move the feet with given velocities.

    Args:
        q: joint angles, (4, 3) [rad].
        velocity: velocities of the feet in the base frame, (4, 3) [m/s].
    """
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
