"""The mobility of bodies at the initial state: how easily a force at a point moves them."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.checks.subject import Subject

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_SHARE = 4  # contacts of a face that carry a load together


class Mobilities:
    """The mobilities of the bodies of a scene at its initial state."""

    def __init__(self, subject: Subject) -> None:
        self._model = subject.model
        self._data = subject.scene.make_data()
        for calc in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_makeM, mujoco.mj_factorM):
            calc(self._model, self._data)
        self._num_bodies = np.bincount(self._model.body_rootid, minlength=self._model.nbody)

    def is_free_tree(self, body: int) -> bool:
        """Whether the kinematic tree of a body has a free joint, so that its contacts may carry it."""
        m, root = self._model, self._model.body_rootid[body]
        if not m.body_jntnum[root]:
            return False
        return bool(m.jnt_type[m.body_jntadr[root]] == mujoco.mjtJoint.mjJNT_FREE)

    def is_free_body(self, body: int) -> bool:
        """Whether a body with a free joint is a kinematic tree of its own."""
        is_alone = self._model.body_rootid[body] == body and self._num_bodies[body] == 1
        return bool(is_alone and self.is_free_tree(body))

    def calc(self, body: int) -> NDArray[np.float64]:
        """Returns J M^-1 J^T of the motion [w; v] at a body's center of mass, in world axes (6, 6)."""
        model, data = self._model, self._data
        if self.is_free_body(body):
            R = data.ximat[body].reshape(3, 3)
            mobility = np.zeros((6, 6))
            mobility[:3, :3] = R @ np.diag(1 / model.body_inertia[body]) @ R.T
            mobility[3:, 3:] = np.eye(3) / model.body_mass[body]
            return mobility
        J = np.zeros((6, model.nv))
        mujoco.mj_jacBodyCom(model, data, J[3:], J[:3], body)
        solved = np.zeros_like(J)
        mujoco.mj_solveM(model, data, solved, J)
        return J @ solved.T

    def calc_at_corners(self, body: int, geom: int) -> float:
        """Returns what the four contacts of a face share, for the corners of a geom's box [1/kg].

        It is a quarter of |W|_F / 3 of a corner, the mean of all: 0.65 / m for a cube.
        """
        model, data = self._model, self._data
        W = self.calc(body)
        center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        R = data.geom_xmat[geom].reshape(3, 3)
        points = data.geom_xpos[geom] + (center + _CORNERS * half) @ R.T - data.xipos[body]
        norms = []
        for x, y, z in points:
            P = np.hstack([[[0, z, -y], [-z, 0, x], [y, -x, 0]], np.eye(3)])  # v + w x r
            norms.append(np.linalg.norm(P @ W @ P.T))
        return float(np.mean(norms)) / 3 / _SHARE
