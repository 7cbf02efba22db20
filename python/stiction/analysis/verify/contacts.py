"""The recorded contacts of a step: their Jacobians, and their velocities from the recorded states."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

SINGLE = 4e-7  # rounding of products of numbers in single precision [-]


class StepContacts:
    """The contacts of a step, in double precision, from records of format.CONTACT_DTYPE.

    bodies, geoms: first and second one, (n, 2).
    points: of the first and the second body [m], (n, 2, 3).
    normal: unit normal from the first into the second body, (n, 3).
    distance: signed distance at the start [m], (n,).
    impulse, tangential_impulse: impulse on the second body and its tangential part [N s], (n, 3).
    normal_impulse: its normal part [N s], (n,).
    slip_velocity: recorded one, which under friction_law 'elastic' has the expected arcs [m/s], (n, 3).
    rounding: error of both parts by the rounding of recorded normals and impulses [N s], (n,).
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, records: NDArray[np.void]
    ) -> None:
        self._model, self._data = model, data
        self.geoms = np.asarray(records["geoms"])
        self.bodies = np.asarray(model.geom_bodyid)[self.geoms]
        half_gap = records["half_gap"].astype(float)
        self.points = records["point"].astype(float)[:, None] + np.stack((-half_gap, half_gap), 1)
        normal = records["normal"].astype(float)
        self.normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        self.distance = records["distance"].astype(float)
        self.impulse = records["impulse"].astype(float)
        self.normal_impulse = np.sum(self.impulse * self.normal, axis=1)
        self.tangential_impulse = self.project(self.impulse)
        self.slip_velocity = records["slip_velocity"].astype(float)
        self.rounding = SINGLE * np.linalg.norm(self.impulse, axis=1)

    def __len__(self) -> int:
        """Number of contacts."""
        return len(self.distance)

    def project(self, vectors: Vector) -> Vector:
        """Returns the tangential parts of vectors at the contacts, (n, 3)."""
        normal_part = np.sum(vectors * self.normal, axis=1, keepdims=True)
        return np.asarray(vectors - normal_part * self.normal)

    def calc_generalized_impulses(self) -> tuple[Vector, Vector]:
        """Returns J^T gamma of all contacts, and the sum of the sizes of their terms, (nv,) each."""
        total, sizes = np.zeros(self._model.nv), np.zeros(self._model.nv)
        for i in np.flatnonzero(np.any(self.impulse, axis=1)):
            for jacobian in self._calc_jacobians(int(i)):
                one = self.impulse[i] @ jacobian
                total += one
                sizes += np.abs(one)
        return total, sizes + self._calc_lever_sizes()

    def _calc_jacobians(self, i: int) -> Vector:
        """Returns d v / d qvel for the minus first and the second body's velocity, (2, 3, nv).

        A dof that moves both bodies does not move them relative to each other.
        """
        jacobians = np.zeros((2, 3, self._model.nv))
        moves = np.zeros((2, self._model.nv), bool)
        turning = np.zeros((3, self._model.nv))
        for side, body in enumerate(self.bodies[i]):
            if self._model.body_weldid[body] == 0:
                continue
            mujoco.mj_jac(
                self._model, self._data, jacobians[side], turning, self.points[i, side], int(body)
            )
            moves[side] = np.any(jacobians[side], axis=0) | np.any(turning, axis=0)
        jacobians[:, :, np.all(moves, axis=0)] = 0
        jacobians[0] *= -1
        return jacobians

    def calc_velocities(self, velocity: Vector) -> Vector:
        """Returns the relative velocity at each point at the start, for a qvel [m/s], (n, 3)."""
        out = np.zeros((len(self), 3))
        for i in range(len(self)):
            out[i] = self._calc_jacobians(i).sum(axis=0) @ velocity
        return out

    def calc_velocity_errors(self, velocity: Vector) -> Vector:
        """Returns the error of calc_velocities by the rounding of recorded points [m/s], (n,)."""
        turning = np.zeros(self._model.nbody)
        jacobian = np.zeros((3, self._model.nv))
        for body in np.unique(self.bodies):
            mujoco.mj_jac(self._model, self._data, None, jacobian, np.zeros(3), int(body))
            turning[body] = np.linalg.norm(jacobian @ velocity)
        rounding = np.finfo(np.float32).eps * np.linalg.norm(self.points, axis=2).max(axis=1)
        return np.asarray(rounding * turning[self.bodies].sum(axis=1))

    def _calc_lever_sizes(self) -> Vector:
        """Returns the sizes of moments about the origin, of which rounded points have a share, (nv,)."""
        sizes = np.zeros(self._model.nv)
        moments = np.linalg.norm(self.points, axis=2).max(axis=1) * np.linalg.norm(
            self.impulse, axis=1
        )
        for body, moment in zip(self.bodies.T, (moments, moments), strict=True):
            for i in np.unique(body):
                ancestor, share = int(i), float(moment[body == i].sum())
                while ancestor > 0:
                    first = self._model.body_dofadr[ancestor]
                    sizes[first : first + self._model.body_dofnum[ancestor]] += share
                    ancestor = int(self._model.body_parentid[ancestor])
        return sizes
