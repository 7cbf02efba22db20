"""The distance of two positions of a model in meters.

Each dof has a lever w_i, in meters per unit of the dof, so that meters and radians can be compared:

    |q_a - q_b| = max_i w_i |q_a (-) q_b|_i

where (-) is the difference in the tangent space. The distance is at least 1/sqrt(3) of the largest
displacement of any point of any geom that one joint causes.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_MIN_LEVER = 1e-3  # [m]


def calc_levers(model: mujoco.MjModel) -> Vector:
    """Returns the lever of each dof, (nv,).

    It is 1 for translation, and for rotation the distance from the joint to the farthest point of a
    geom's bounding sphere that it carries in the reference pose [m/rad].
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
    """Returns the distance of each pair of positions a and b, (n, nq), with levers (nv,) [m], (n,)."""
    out = np.zeros(len(a))
    difference = np.zeros(model.nv)
    for i, (qa, qb) in enumerate(zip(a, b, strict=True)):
        mujoco.mj_differentiatePos(model, difference, 1.0, qb, qa)
        out[i] = np.max(levers * np.abs(difference), initial=0.0)
    return out


def calc_rms(distances: Vector) -> float:
    """Returns the root mean square, e = sqrt((1/T) int |q_a - q_b|^2 dt) [m] [castro2023] IX."""
    return float(np.sqrt(np.mean(distances**2))) if len(distances) else 0.0


def _is_free(model: mujoco.MjModel, joint: int) -> bool:
    return int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_FREE)


def _count_rotations(model: mujoco.MjModel, joint: int) -> int:
    """Returns the number of rotational dofs of a joint."""
    kind = int(model.jnt_type[joint])
    if kind == int(mujoco.mjtJoint.mjJNT_HINGE):
        return 1
    return 3 if kind == int(mujoco.mjtJoint.mjJNT_BALL) or _is_free(model, joint) else 0


# ---- Finds out whether a scene is chaotic, from the growth of a small displacement ---------------
# In a chaotic scene, such as a pile that falls, a small displacement grows as exp(t / T_e). Errors of a
# step grow as fast, so that no step follows one trajectory for long. Only the time until errors have
# grown by a factor of a thousand is then judged.
#
# A contact that opens or closes by a displacement changes a trajectory by a jump, once. In terms of the
# displacement, a jump is the smaller the larger the displacement is, but chaos is not. So the smaller
# growth of two displacements counts.


DISPLACEMENTS = (1e-8, 1e-6)  # of the initial position [m]
_SAFE_GROWTH = 1e3  # the largest growth of a displacement that counts as no chaos [-]


@dataclasses.dataclass(frozen=True)
class Sensitivity:
    """The growth of a small displacement.

    growth: largest distance of both runs over the displacement at the start [-].
    folding_time: time in which a displacement grows by e [s]; None if it does not grow.
    horizon: number of samples until it has grown a thousandfold; all if it does not.
    """

    growth: float
    is_chaotic: bool
    folding_time: float | None
    horizon: int


def judge_sensitivity(distances: Sequence[Vector], sample_time: float) -> Sensitivity:
    """Judges the distances [m], (n,), of runs from those that started with a displacement."""
    growths = [d / max(float(d[0]), 1e-300) for d in distances]
    growth = np.maximum.accumulate(np.min(growths, axis=0))
    largest = float(growth[-1])
    beyond = np.flatnonzero(growth > _SAFE_GROWTH)
    if len(beyond) == 0:
        return Sensitivity(largest, False, None, len(growth))
    horizon = max(int(beyond[0]), 1)
    folding_time = horizon * sample_time / math.log(float(growth[horizon]))
    return Sensitivity(largest, True, folding_time, horizon)


def make_displacement(levers: Vector, size: float) -> Vector:
    """Returns a displacement of all dofs by a size [m], with signs that are always the same, (nv,)."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], len(levers))
    return np.asarray(size * signs / levers)
