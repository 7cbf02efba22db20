"""Rotations as quaternions (w, x, y, z), in plain Python."""

from __future__ import annotations

import math

Vec = tuple[float, ...]
NO_ROTATION: Vec = (1.0, 0.0, 0.0, 0.0)


def turn_about_y(angle: float) -> Vec:
    """Returns the quaternion of a rotation about y [rad]."""
    return (math.cos(angle / 2), 0.0, math.sin(angle / 2), 0.0)


def rotate(quat: Vec, v: Vec) -> Vec:
    """Returns a vector rotated by a unit quaternion."""
    w, x, y, z = quat
    tx, ty, tz = (
        2 * (y * v[2] - z * v[1]),
        2 * (z * v[0] - x * v[2]),
        2 * (x * v[1] - y * v[0]),
    )
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def invert(quat: Vec) -> Vec:
    """Returns the inverse of a unit quaternion."""
    return (quat[0], -quat[1], -quat[2], -quat[3])


def multiply(a: Vec, b: Vec) -> Vec:
    """Returns the product of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )
