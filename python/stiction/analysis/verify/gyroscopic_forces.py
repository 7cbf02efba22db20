"""The gyroscopic forces of bodies that turn freely, which a step linearizes."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.elastic_joints import calc_joint_spring_change

Vector = NDArray[np.float64]


def calc_gyroscopic_change(
    probe: mujoco.MjData,
    start: mujoco.MjData,
    change: Vector,
    contacts: Vector,
    time_step: float,
) -> Vector:
    """Returns -C (v* - v0) of the dofs of bodies that turn freely, (nv,).

    C is the derivative of the Coriolis forces c, and v* = v - A^-1 J^T gamma. c is a quadratic form, so
    that C (v* - v0) = c(v*) - c(v* - v0) - c(v0). A is M and the implicit terms of joints.
    """
    model = start.model
    turns_freely = find_free_turns(model)
    if not np.any(turns_freely):
        return np.zeros(model.nv)
    implicit = _calc_joint_terms(start, time_step)
    free = change.copy()
    for tree in np.unique(model.dof_treeid[turns_freely]):
        dofs = np.flatnonzero(model.dof_treeid == tree)
        free[dofs] -= np.linalg.solve(
            _calc_inertia(start, dofs) + np.diag(implicit[dofs]), contacts[dofs]
        )
    gravity = _calc_bias(probe, np.zeros(model.nv))
    bent = _calc_bias(probe, start.qvel + free) - _calc_bias(probe, free)
    return np.where(turns_freely, start.qfrc_bias - gravity - bent, 0.0)


def _calc_bias(probe: mujoco.MjData, velocity: Vector) -> Vector:
    """Returns the Coriolis forces and gravity at a velocity, (nv,)."""
    probe.qvel[:] = velocity
    mujoco.mj_fwdVelocity(probe.model, probe)
    return np.array(probe.qfrc_bias)


def _calc_inertia(data: mujoco.MjData, dofs: NDArray[np.intp]) -> Vector:
    """Returns the block of the inertia matrix of the dofs of a tree, (n, n)."""
    model, block = data.model, np.zeros((len(dofs), len(dofs)))
    for i, dof in enumerate(dofs):
        row = slice(model.M_rowadr[dof], model.M_rowadr[dof] + model.M_rownnz[dof])
        columns = np.asarray(model.M_colind)[row] - dofs[0]
        block[i, columns] = block[columns, i] = np.asarray(data.M)[row]
    return block


def _calc_joint_terms(start: mujoco.MjData, time_step: float) -> Vector:
    """Returns dt D + dt^2 K of the dampers and springs of joints, (nv,)."""
    model = start.model
    terms = time_step * np.array(model.dof_damping)
    higher = np.asarray(model.dof_dampingpoly)
    speed = np.abs(start.qvel)
    terms += time_step * (2 * higher[:, 0] * speed + 3 * higher[:, 1] * speed**2)
    terms = np.maximum(terms, 0)
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_DAMPER):
        terms[:] = 0
    return terms - time_step * calc_joint_spring_change(start, np.ones(model.nv), time_step)


def find_free_turns(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns the dofs of trees of one body with a free joint, or with a ball joint, (nv,)."""
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    kind = np.asarray(model.jnt_type)[model.dof_jntid]
    size = np.asarray(model.tree_dofnum)[model.dof_treeid]
    return np.asarray(((kind == free) & (size == 6)) | ((kind == ball) & (size == 3)))


def find_isotropic(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns the dofs of bodies without gyroscopic moments, such as cubes about their center, (nv,)."""
    inertia = np.asarray(model.body_inertia)
    isotropic = np.ptp(inertia, axis=1) <= 1e-12 * inertia.max(axis=1)
    isotropic &= ~np.any(model.body_ipos, axis=1)
    isotropic &= np.asarray(model.body_mass) == np.asarray(model.body_subtreemass)
    return np.asarray(isotropic[model.dof_bodyid])
