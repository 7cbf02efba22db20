"""The force of actuators in a step, computed anew with MuJoCo from the state at its start."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.interval import Interval

Vector = NDArray[np.float64]

_JOINTS = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_TENDONS = (mujoco.mjtTrn.mjTRN_TENDON,)
_SMALL = 1e-5  # share of the change of velocity at which a force is linearized [-]


def calc_actuator_forces(
    probe: mujoco.MjData, start: mujoco.MjData, end: Vector, time_step: float, *, limits_act: bool
) -> Interval:
    """Returns the force of all actuators on each dof."""
    model = start.model
    moment = np.zeros((model.nout, model.nv))
    mujoco.mju_sparse2dense(
        moment,
        np.ravel(start.actuator_moment),
        start.moment_rownnz,
        start.moment_rowadr,
        start.moment_colind,
    )
    ends = _calc_actuator_ends(probe, start, moment @ end, time_step, limits_act=limits_act)
    first, last = (moment * force[:, None] for force in ends)
    low, high = np.minimum(first, last).sum(axis=0), np.maximum(first, last).sum(axis=0)
    size = np.maximum(np.abs(first), np.abs(last)).sum(axis=0)
    for joint in np.flatnonzero(
        np.asarray(model.jnt_actgravcomp) | np.asarray(model.jnt_actfrclimited)
    ):
        dof = int(model.jnt_dofadr[joint])  # of a slide or hinge, or the first of others
        if model.jnt_actgravcomp[joint]:
            dofs = model.dof_jntid == joint
            low[dofs] += start.qfrc_gravcomp[dofs]
            high[dofs] += start.qfrc_gravcomp[dofs]
        if not model.jnt_actfrclimited[joint]:
            continue
        limit, now = model.jnt_actfrcrange[joint], float(start.qfrc_actuator[dof])
        if limits_act or not limit[0] < now < limit[1]:
            low[dof], high[dof] = np.clip((low[dof], high[dof]), *limit)
    return Interval(low, high, size)


def _calc_actuator_ends(
    probe: mujoco.MjData, start: mujoco.MjData, speed: Vector, time_step: float, *, limits_act: bool
) -> tuple[Vector, Vector]:
    """Returns two forces of each output of actuators between which that of the step lies, (nout,) each.

    An affine force acts at the end of the step, without the parts that destabilize. Others, and those
    that share a limit, lie between the force at the start and its linearization.
    """
    model = start.model
    length, velocity = np.array(start.actuator_length), np.array(start.actuator_velocity)
    way, change = time_step * speed, speed - velocity

    def calc(lengths: Any, velocities: Any) -> Vector:
        probe.actuator_length[:] = length + lengths * way
        probe.actuator_velocity[:] = velocity + velocities * change
        mujoco.mj_fwdActuation(probe.model, probe)
        return np.array(probe.actuator_force)

    force, unlimited = np.array(start.actuator_force), calc(0, 0)
    restores = (calc(1, 0) - unlimited) * way <= 0
    slope = (calc(0, _SMALL) - calc(0, -_SMALL)) / (2 * _SMALL)
    dissipates = slope * change <= 0
    is_affine = _find_affine(model)
    kink = _SMALL * (calc(0, 1) - unlimited) * dissipates  # the slope of a muscle jumps
    linear = unlimited + slope * dissipates + kink
    last = np.where(is_affine, calc(restores, dissipates), linear)
    low, high = _find_ranges(model)
    is_held = (force <= low) | (force >= high)
    is_held |= np.abs(force - unlimited) > 1e-12 * np.abs(unlimited)
    joint, tendon = (_find_targets(model, kinds) for kinds in (_JOINTS, _TENDONS))
    if not limits_act:
        is_held |= _find_held_joints(start)[joint] & (joint >= 0)
        last = np.where(is_held, force, last)
        return np.where(is_affine, last, force), last
    # A limit that several share holds their sum. Each has its own only at the start.
    shares = (joint >= 0) & np.append(model.jnt_actfrclimited != 0, False)[joint]
    shares |= (tendon >= 0) & np.append(model.tendon_actfrclimited != 0, False)[tendon]
    clipped = np.clip(last, low, high)
    is_known = is_affine & (~shares | ~(is_held | (last != clipped)))
    last = np.where(is_affine & ~shares, clipped, last)
    for i in np.flatnonzero(model.tendon_actfrclimited):
        own = tendon == i
        total = float(last[own].sum())
        limited = float(np.clip(total, *model.tendon_actfrcrange[i]))
        if limited != total and np.all(is_affine[own]):
            last[own] *= limited / total
            is_known[own] = np.ptp(_find_gears(model)[own]) == 0
    return np.where(is_known, last, force), last


def _find_held_joints(start: mujoco.MjData) -> NDArray[np.bool_]:
    """Returns the joints that a limit of their total force holds, and False at the end, (njnt + 1,)."""
    model = start.model
    force = np.asarray(start.qfrc_actuator)[model.jnt_dofadr]
    low, high = np.asarray(model.jnt_actfrcrange).T
    held = (np.asarray(model.jnt_actfrclimited) != 0) & ((force <= low) | (force >= high))
    return np.append(held, False)


def _find_gears(model: mujoco.MjModel) -> Vector:
    """Returns the first gear of each output [-], (nout,)."""
    return np.asarray(model.actuator_gear).reshape(model.nout, -1)[:, 0]


def _find_ranges(model: mujoco.MjModel) -> tuple[Vector, Vector]:
    """Returns the limits of the force of each output, infinite without limits, (nout,) each."""
    ranges = np.repeat(model.actuator_forcerange, model.actuator_outnum, axis=0)
    ranges[np.repeat(model.actuator_forcelimited, model.actuator_outnum) == 0] = [-np.inf, np.inf]
    return ranges[:, 0], ranges[:, 1]


def _find_affine(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns which outputs have a force that is affine in length and velocity, (nout,)."""
    gain, bias = mujoco.mjtGain, mujoco.mjtBias
    affine = np.isin(model.actuator_gaintype, (int(gain.mjGAIN_FIXED), int(gain.mjGAIN_AFFINE)))
    affine &= np.isin(model.actuator_biastype, (int(bias.mjBIAS_NONE), int(bias.mjBIAS_AFFINE)))
    affine &= (np.asarray(model.actuator_plugin) < 0) & (np.asarray(model.actuator_outnum) == 1)
    return np.asarray(np.repeat(affine, model.actuator_outnum))


def _find_targets(model: mujoco.MjModel, kinds: tuple[mujoco.mjtTrn, ...]) -> NDArray[np.int32]:
    """Returns the joint or tendon of outputs with a transmission of these kinds, else -1, (nout,)."""
    own = np.isin(model.actuator_trntype, [int(kind) for kind in kinds])
    target = np.where(own, np.asarray(model.actuator_trnid)[:, 0], -1)
    return np.asarray(np.repeat(target, model.actuator_outnum))
