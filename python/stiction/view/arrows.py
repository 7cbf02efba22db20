"""Arrows of traction and slip on faces, and of forces at contact points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stiction.view.contact_arrays import PatchArrays, PointArrays

Arrows = NDArray[np.float64]  # start and end of each arrow [m], (n, 2, 3)

_MAX_ARROWS = 300  # more arrows than this would hide the patch


def make_traction_arrows(patches: PatchArrays, length: float) -> Arrows:
    """Returns the tractions on the second bodies. The longest arrow has this length [m]."""
    return _make_arrows(patches.center, patches.traction, length)


def make_slip_arrows(patches: PatchArrays, length: float) -> Arrows:
    """Returns the slip velocities of faces that slip. The longest arrow has this length [m]."""
    slips = patches.slipping
    return _make_arrows(patches.center[slips], patches.slip_velocity[slips], length)


def make_force_arrows(points: PointArrays, length: float) -> Arrows:
    """Returns the largest forces on the second bodies. The longest arrow has this length [m]."""
    size = np.linalg.norm(points.force, axis=1)
    largest = np.argsort(-size, kind="stable")[:_MAX_ARROWS]
    return _make_arrows(points.point[largest], points.force[largest], length)


def _make_arrows(start: Arrows, vectors: Arrows, length: float) -> Arrows:
    """Returns arrows along some vectors, scaled to the largest. Short ones are left out.

    Of more than 300 it takes every second, third, ..., which shows the whole of a patch.
    """
    size = np.linalg.norm(vectors, axis=1)
    largest = float(size.max(initial=0))
    shown = np.flatnonzero(size > 0.05 * largest)
    if not len(shown):
        return np.zeros((0, 2, 3))
    stride = -(-len(shown) // _MAX_ARROWS)
    shown = shown[::stride]
    tips = start[shown] + vectors[shown] * (length / largest)
    return np.stack([start[shown], tips], axis=1)
