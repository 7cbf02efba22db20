"""The creep of contacts that stick, from the displacement of their bodies.

Under friction_law 'elastic' a contact that sticks keeps its place, although the velocity at the end
of a step may have a slip. What counts is by how much its two material points are apart later.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Geoms = NDArray[np.int32]

# The largest rotation of two surfaces over each other [rad]. A body that rolls lifts its material
# points off. Up to this angle, r angle^3 / 6, a radius of 0.1 m gives less than a nanometer.
_MAX_ROLLING = 3e-3


@dataclass(frozen=True)
class StuckContacts:
    """The contacts that stick, with geoms (n, 2), and points and normals in the world (n, 3)."""

    geoms: Geoms
    points: Vector
    normals: Vector


class CreepMeter:
    """Measures the creep of contacts from one look at a simulation to the next."""

    def __init__(self, model: mujoco.MjModel) -> None:
        moves = np.any(model.geom_surfacevel != 0, axis=1)
        self._moves, self._body = moves, np.asarray(model.geom_bodyid)
        self._last: tuple[float, Vector, Vector, StuckContacts] | None = None

    def look(self, data: mujoco.MjData, contacts: StuckContacts) -> tuple[Geoms, Vector]:
        """Returns geoms, (n, 2), and creep [m/s], (n,), of contacts that stuck before and stick now.

        Contacts of bodies that roll, and of surfaces with a velocity of their own, are left out.
        """
        last, poses = self._last, (data.xpos.copy(), data.xmat.reshape(-1, 3, 3).copy())
        self._last = (float(data.time), *poses, contacts)
        if last is None or not data.time > last[0]:
            return np.zeros((0, 2), np.int32), np.zeros(0)
        time, position, rotation, before = last
        slip, turn = np.zeros_like(before.points), np.zeros_like(before.points)
        bodies = self._body[before.geoms]
        for side, sign in ((0, -1.0), (1, 1.0)):
            for body in np.unique(bodies[:, side]):
                own = bodies[:, side] == body
                R = poses[1][body] @ rotation[body].T
                arm = before.points[own] - position[body]
                moved = (poses[0][body] - position[body]) + arm @ (R - np.eye(3)).T
                slip[own] += sign * moved
                turn[own] += sign * _calc_rotation_vector(R)
        rolling = np.linalg.norm(np.cross(turn, before.normals), axis=1)
        slip -= np.sum(slip * before.normals, axis=1, keepdims=True) * before.normals
        is_known = (rolling < _MAX_ROLLING) & ~np.any(self._moves[before.geoms], axis=1)
        present = {tuple(pair) for pair in contacts.geoms.tolist()}
        is_known &= np.array([tuple(pair) in present for pair in before.geoms.tolist()], bool)
        speed = np.linalg.norm(slip, axis=1) / (float(data.time) - time)
        return before.geoms[is_known], speed[is_known]


def _calc_rotation_vector(R: Vector) -> Vector:
    """Returns the rotation vector of a matrix [rad], (3,)."""
    quaternion, vector = np.zeros(4), np.zeros(3)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(R).reshape(9))
    mujoco.mju_quat2Vel(vector, quaternion, 1.0)
    return vector
