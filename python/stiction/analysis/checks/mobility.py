"""The mobility of bodies at the initial state: how easily a force at a point moves them."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.checks.subject import Subject

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_SHARE = 4  # contacts of a face that carry a load together


def calc_mobility(subject: Subject, body: int) -> NDArray[np.float64]:
    """Returns J M^-1 J^T of the motion [w; v] at a body's center of mass, in world axes (6, 6)."""
    model, data = subject.model, subject.initial_pose
    if subject.is_free_body(body):
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


def calc_corner_mobility(
    subject: Subject, mobility: NDArray[np.float64], body: int, geom: int
) -> float:
    """Returns what the four contacts of a face share, for the corners of a geom's box [1/kg].

    It is a quarter of |W|_F / 3 of a corner, the mean of all: 0.65 / m for a cube.
    """
    model, data = subject.model, subject.initial_pose
    center, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
    R = data.geom_xmat[geom].reshape(3, 3)
    points = data.geom_xpos[geom] + (center + _CORNERS * half) @ R.T - data.xipos[body]
    norms = []
    for x, y, z in points:
        P = np.hstack([[[0, z, -y], [-z, 0, x], [y, -x, 0]], np.eye(3)])  # v + w x r
        norms.append(np.linalg.norm(P @ mobility @ P.T))
    return float(np.mean(norms)) / 3 / _SHARE
