"""The distance of two positions of a model in meters.

Each dof has a lever w_i, in meters per unit of the dof, so that meters and radians can be compared:

    |q_a - q_b| = max_i w_i |q_a (-) q_b|_i

where (-) is the difference in the tangent space. The distance is at least 1/sqrt(3) of the largest
displacement of any point of any geom that one joint causes.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_MIN_LEVER = 1e-3  # [m]


def calc_levers(model: mujoco.MjModel) -> Vector:
    """Returns the lever of each dof, (nv,).

    It is 1 for translation, and for rotation the distance from the joint to the farthest point of a
    geom that it carries in the reference pose [m/rad]. Points are those of bounding spheres. A geom
    without bounds counts as a point.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    parents = np.asarray(model.body_parentid)
    carries = np.zeros((model.nbody, model.nbody), bool)  # body, descendant
    for body in range(model.nbody):
        ancestor = body
        while ancestor > 0:
            carries[ancestor, body] = True
            ancestor = int(parents[ancestor])
    levers = np.ones(model.nv)
    for joint in range(model.njnt):
        first, size = int(model.jnt_dofadr[joint]), _count_rotations(model, joint)
        if size == 0:
            continue
        body = int(model.jnt_bodyid[joint])
        geoms = np.flatnonzero(carries[body][model.geom_bodyid])
        distances = np.linalg.norm(data.geom_xpos[geoms] - data.xanchor[joint], axis=1)
        reach = float(np.max(distances + model.geom_rbound[geoms], initial=_MIN_LEVER))
        num_dofs = 6 if size == 3 and _is_free(model, joint) else size
        levers[first + num_dofs - size : first + num_dofs] = reach
    return levers


def calc_distances(model: mujoco.MjModel, levers: Vector, a: Vector, b: Vector) -> Vector:
    """Returns the distance of each pair of positions [m], (n,).

    Args:
        model: the model.
        levers: as calc_levers returns them, (nv,).
        a, b: positions, (n, nq).
    """
    out = np.zeros(len(a))
    difference = np.zeros(model.nv)
    for i, (qa, qb) in enumerate(zip(a, b, strict=True)):
        mujoco.mj_differentiatePos(model, difference, 1.0, qb, qa)
        out[i] = np.max(levers * np.abs(difference), initial=0.0)
    return out


def calc_rms(distances: Vector) -> float:
    """Returns the root mean square over time, e = sqrt((1/T) int |q_a - q_b|^2 dt) [m].

    Source: [castro2023] section IX.
    """
    return float(np.sqrt(np.mean(distances**2))) if len(distances) else 0.0


def _is_free(model: mujoco.MjModel, joint: int) -> bool:
    return int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)


def _count_rotations(model: mujoco.MjModel, joint: int) -> int:
    """Returns the number of rotational dofs of a joint."""
    kind = int(model.jnt_type[joint])
    if kind == int(mujoco.mjtJoint.mjJNT_HINGE):
        return 1
    return 3 if kind == int(mujoco.mjtJoint.mjJNT_BALL) or _is_free(model, joint) else 0
