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
    point, normal: contact point [m] and unit normal from the first into the second body, (n, 3).
    distance: signed distance at the start [m], (n,).
    impulse, tangential_impulse: impulse on the second body and its tangential part [N s], (n, 3).
    normal_impulse: its normal part [N s], (n,).
    rounding: error of both parts by the rounding of recorded normals and impulses [N s], (n,).
    """

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, records: NDArray[np.void]
    ) -> None:
        self._model, self._data = model, data
        self.geoms = np.asarray(records["geoms"])
        self.bodies = np.asarray(model.geom_bodyid)[self.geoms]
        self.point = records["point"].astype(float)
        normal = records["normal"].astype(float)
        self.normal = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        self.distance = records["distance"].astype(float)
        self.impulse = records["impulse"].astype(float)
        self.normal_impulse = np.sum(self.impulse * self.normal, axis=1)
        self.tangential_impulse = self.project(self.impulse)
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
        zero, one = np.zeros(3), np.zeros(self._model.nv)
        for i in np.flatnonzero(np.any(self.impulse, axis=1)):
            for sign, body in zip((-1, 1), self.bodies[i], strict=True):
                if self._model.body_weldid[body] == 0:
                    continue
                one[:] = 0
                mujoco.mj_applyFT(
                    self._model,
                    self._data,
                    sign * self.impulse[i],
                    zero,
                    self.point[i],
                    int(body),
                    one,
                )
                total += one
                sizes += np.abs(one)
        return total, sizes + self._calc_lever_sizes()

    def calc_velocities(self, velocity: Vector) -> Vector:
        """Returns the relative velocity at each point at the start, for a qvel [m/s], (n, 3)."""
        out = np.zeros((len(self), 3))
        jacobian = np.zeros((3, self._model.nv))
        for i in range(len(self)):
            for sign, body in zip((-1, 1), self.bodies[i], strict=True):
                if self._model.body_weldid[body] == 0:
                    continue
                mujoco.mj_jac(self._model, self._data, jacobian, None, self.point[i], int(body))
                out[i] += sign * (jacobian @ velocity)
        return out

    def calc_velocity_errors(self, velocity: Vector) -> Vector:
        """Returns the error of calc_velocities by the rounding of recorded points [m/s], (n,)."""
        turning = np.zeros(self._model.nbody)
        jacobian = np.zeros((3, self._model.nv))
        for body in np.unique(self.bodies):
            mujoco.mj_jac(self._model, self._data, None, jacobian, np.zeros(3), int(body))
            turning[body] = np.linalg.norm(jacobian @ velocity)
        rounding = np.finfo(np.float32).eps * np.linalg.norm(self.point, axis=1)
        return np.asarray(rounding * turning[self.bodies].sum(axis=1))

    def _calc_lever_sizes(self) -> Vector:
        """Returns the sizes of moments about the origin, of which rounded points have a share, (nv,)."""
        sizes = np.zeros(self._model.nv)
        moments = np.linalg.norm(self.point, axis=1) * np.linalg.norm(self.impulse, axis=1)
        for body, moment in zip(self.bodies.T, (moments, moments), strict=True):
            for i in np.unique(body):
                ancestor, share = int(i), float(moment[body == i].sum())
                while ancestor > 0:
                    first = self._model.body_dofadr[ancestor]
                    sizes[first : first + self._model.body_dofnum[ancestor]] += share
                    ancestor = int(self._model.body_parentid[ancestor])
        return sizes
