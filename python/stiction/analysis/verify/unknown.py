"""Finds the dofs whose balance of momentum a recording cannot tell, and why.

A recording has the impulses of contacts, but not those of limits, equalities and tendons, and not the
torques of torsional and rolling friction. A dof on which one of these may act is left out.
"""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.contacts import StepContacts

Flags = NDArray[np.bool_]

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
_LIMIT_JOINT = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
_BODY = int(mujoco.mjtTrn.mjTRN_BODY)


def find_unknown_dofs(
    model: mujoco.MjModel,
    start: mujoco.MjData,
    end: mujoco.MjData,
    contacts: StepContacts,
    time_step: float,
    *,
    takes_torsion: bool,
) -> dict[str, Flags]:
    """Returns which dofs have an impulse that is not recorded, by the reason, (nv,) each."""
    unknown = {
        "impulses of limits": _find_limited(model, start, end, time_step),
        "impulses of equalities and tendons": _find_row_dofs(model, start)
        | _find_row_dofs(model, end),
        "forces of adhesion": np.full(model.nv, bool(np.any(model.actuator_trntype == _BODY))),
    }
    torsion = np.zeros(model.nv, bool)
    if takes_torsion:
        jacobian = np.zeros((3, model.nv))
        twisting = np.max(model.geom_condim[contacts.geoms], axis=1, initial=0) > 3
        twisting |= model.npair > 0  # a pair may have a condim of its own
        for body in np.unique(contacts.bodies[twisting]):
            mujoco.mj_jac(model, start, None, jacobian, start.xipos[body], int(body))
            torsion |= np.any(jacobian, axis=0)
    unknown["torques of torsional and rolling friction"] = torsion
    return unknown


def _find_limited(
    model: mujoco.MjModel, start: mujoco.MjData, end: mujoco.MjData, time_step: float
) -> Flags:
    """Returns the dofs of joints that a limit may stop within the step, (nv,)."""
    found = np.zeros(model.nv, bool)
    limited = np.flatnonzero(model.jnt_limited)
    for joint in limited:
        first = int(model.jnt_dofadr[joint])
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_BALL):
            found[first : first + 3] = True  # its angle is bounded, whatever its axis
            continue
        low, high = model.jnt_range[joint] + float(model.jnt_margin[joint]) * np.array([1, -1])
        address = int(model.jnt_qposadr[joint])
        step = time_step * 2 * (abs(float(start.qvel[first])) + abs(float(end.qvel[first])))
        for data in (start, end):
            q = float(data.qpos[address])
            found[first] |= q <= low + step + 1e-9 or q >= high - step - 1e-9
    return found


def _find_row_dofs(model: mujoco.MjModel, data: mujoco.MjData) -> Flags:
    """Returns the dofs in rows other than those of dry friction and limits of joints, (nv,)."""
    found = np.zeros(model.nv, bool)
    if data.nefc == 0:
        return found
    jacobian = np.zeros((data.nefc, model.nv))
    if mujoco.mj_isSparse(model):
        mujoco.mju_sparse2dense(
            jacobian, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind
        )
    else:
        jacobian[:] = data.efc_J.reshape(data.nefc, model.nv)
    others = ~np.isin(data.efc_type, (_FRICTION_DOF, _LIMIT_JOINT))
    return np.asarray(np.any(jacobian[others] != 0, axis=0) | found)
