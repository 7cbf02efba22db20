"""The recorded states of a step in MuJoCo's data, and the dofs whose impulses a recording lacks.

A recording has no impulses of limits, equalities and tendons, and no torques of torsional and rolling
friction. A dof on which one of these may act is left out.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.contacts import StepContacts
from stiction.analysis.verify.smooth_forces import find_unknown_forces
from stiction.recording import format as fmt

Vector = NDArray[np.float64]

_INPUTS = (
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
)
Flags = NDArray[np.bool_]

_FRICTION_DOF = int(mujoco.mjtConstraint.mjCNSTR_FRICTION_DOF)
_LIMIT_JOINT = int(mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT)
_BODY = int(mujoco.mjtTrn.mjTRN_BODY)


@dataclass
class StepStates:
    """The states at the start and the end of a step, with MuJoCo's forces.

    `last` is of load_start, and `probe` the start for calc_smooth_impulses.
    """

    model: mujoco.MjModel
    start: mujoco.MjData
    end: mujoco.MjData
    last: mujoco.MjData
    probe: mujoco.MjData

    @classmethod
    def make(cls, model: mujoco.MjModel) -> StepStates:
        """Makes the data of a scene."""
        own = copy.copy(model)
        own.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        unlimited = copy.copy(own)
        for limited in ("actuator_forcelimited", "jnt_actfrclimited", "tendon_actfrclimited"):
            getattr(unlimited, limited)[:] = 0
        return cls(own, *map(mujoco.MjData, (own, own, own, unlimited)))

    def load(self, layout: fmt.Layout, before: Vector, after: Vector) -> None:
        """Computes positions, velocities and forces of the states before and after a step."""
        first = before.copy()
        for name in _INPUTS:
            if name in layout:
                first[layout[name]] = after[layout[name]]
        for data, state in ((self.start, first), (self.end, after)):
            mujoco.mj_setState(self.model, data, state, fmt.INTEGRATION)
            mujoco.mj_fwdPosition(self.model, data)
            mujoco.mj_fwdVelocity(self.model, data)
            mujoco.mj_fwdActuation(self.model, data)
        mujoco.mj_copyData(self.probe, self.probe.model, self.start)

    def load_start(self, layout: fmt.Layout, state: Vector, velocity: Vector) -> mujoco.MjData:
        """Returns data with the positions of a state and another qvel."""
        own = state.copy()
        own[layout["qvel"]] = velocity
        mujoco.mj_setState(self.model, self.last, own, fmt.INTEGRATION)
        mujoco.mj_fwdPosition(self.model, self.last)
        mujoco.mj_fwdVelocity(self.model, self.last)
        return self.last


def find_unknown_dofs(
    model: mujoco.MjModel,
    start: mujoco.MjData,
    end: mujoco.MjData,
    contacts: StepContacts,
    time_step: float,
    *,
    takes_torsion: bool,
    is_complementary: bool,
) -> dict[str, Flags]:
    """Returns which dofs have an impulse that is not recorded, by the reason, (nv,) each."""
    unknown = {
        "impulses of limits": _find_limited(
            model, start, end, time_step, is_complementary=is_complementary
        ),
        "impulses of equalities and tendons": _find_row_dofs(model, start)
        | _find_row_dofs(model, end),
        "forces of fluids, and gyroscopic moments under them, tendons or servos": find_unknown_forces(
            start
        ),
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
    model: mujoco.MjModel,
    start: mujoco.MjData,
    end: mujoco.MjData,
    time_step: float,
    *,
    is_complementary: bool,
) -> Flags:
    """Returns the dofs of joints that a limit may stop within the step, (nv,).

    Without complementarity, a limit may stop a joint at a distance.
    """
    found = np.zeros(model.nv, bool)
    limited = np.flatnonzero(model.jnt_limited)
    for joint in limited:
        first = int(model.jnt_dofadr[joint])
        if int(model.jnt_type[joint]) == int(mujoco.mjtJoint.mjJNT_BALL):
            found[first : first + 3] = True  # its angle is bounded, whatever its axis
            continue
        found[first] = not is_complementary
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
