"""Rotations as unit quaternions (w, x, y, z), as arrays of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def multiply(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Returns the rotation b, followed by the rotation a; both (..., 4)."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by + ay * bw + az * bx - ax * bz,
            aw * bz + az * bw + ax * by - ay * bx,
        ],
        axis=-1,
    )


def make_rotation(angle: NDArray[Any], axis: NDArray[Any]) -> Floats:
    """Returns the rotations by angles (...) [rad] about axes (..., 3) of any length."""
    direction = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    half = np.asarray(angle)[..., None] / 2
    return np.concatenate([np.cos(half), np.sin(half) * direction], axis=-1)


def find_angle(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Returns the angle of the rotation from b to a [rad], in [0, 2 pi]: q and -q differ by 2 pi."""
    cosine = np.clip((a * b).sum(axis=-1), -1.0, 1.0)
    return np.asarray(2 * np.arccos(cosine))
