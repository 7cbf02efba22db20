"""The impulse of all smooth forces in a step of the integrator 'euler', as an interval for each dof.

The step takes each part of these forces in a way of its own (docs/step.md), which is computed here
with MuJoCo from the recorded states, at the positions of the start:

    part                                   velocity, and displacement of springs, at which it acts
    gravity, gravity compensation, user    those of the start
    Coriolis forces of an articulated tree those of the start
    those of a body that turns freely      linearized at the start, at the end of its free motion
    springs and dampers                    linearized at the start, at the end of the step
    actuators                              length and velocity of the end, with the input of the start

For these the interval is a point. It is wider for what may be at a limit within the step: the force of
an actuator that reaches one, and dry friction. The drag of a fluid lies between that of the start and its
linearization at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

_FRICTION_ERROR = 1e-3  # of the bound of dry friction, which the solver meets to its tolerance [-]
_SMALL = 1e-5  # share of the change of velocity at which a force is linearized [-]


@dataclass
class Interval:
    """The smallest and largest value of each dof, and the sum of the sizes of its parts, (nv,) each."""

    low: Vector
    high: Vector
    size: Vector

    def add(self, first: Vector, second: Vector) -> None:
        """Adds a part that lies between two values, (nv,)."""
        self.low = self.low + np.minimum(first, second)
        self.high = self.high + np.maximum(first, second)
        self.size = self.size + np.maximum(np.abs(first), np.abs(second))


def calc_smooth_impulses(
    probe: mujoco.MjData,
    start: mujoco.MjData,
    end: Vector,
    contacts: Vector,
    time_step: float,
    *,
    limits_act: bool,
) -> Interval:
    """Returns the impulse of smooth forces and dry friction [N s or N m s].

    Args:
        probe: a copy of start, whose velocities and forces are overwritten, under a model without limits
            of forces.
        start: data at the start of the step, after mj_fwdActuation.
        end: velocities at the end, (nv,).
        contacts: impulse of all contacts, (nv,).
        time_step: [s].
        limits_act: True if the force of a servo may reach its limit within the step. Otherwise it is
            constant if the step begins at the limit, and else has no limit, as under rigid models.
    """
    model = start.model
    change = end - start.qvel
    force = Interval(*np.zeros((3, model.nv)))
    for part in (
        -start.qfrc_bias,
        start.qfrc_spring,
        start.qfrc_damper,
        start.qfrc_passive - start.qfrc_spring - start.qfrc_damper,
        start.qfrc_applied,
        _calc_wrenches(start),
    ):
        force.add(part, part)
    gyroscopic = _calc_gyroscopic_change(probe, start, change, contacts)
    damping, drag = _calc_velocity_changes(probe, start, change)
    springs = _calc_spring_change(start, end, time_step)
    for part in (gyroscopic, damping, springs):
        force.add(part, part)
    force.add(drag, np.zeros(model.nv))
    actuators = _calc_actuator_forces(probe, start, end, time_step, limits_act=limits_act)
    force.add(actuators.low, actuators.high)
    force.size += actuators.size
    friction = (1 + _FRICTION_ERROR) * np.asarray(model.dof_frictionloss)
    force.add(friction, -friction)
    return Interval(time_step * force.low, time_step * force.high, time_step * force.size)


def _calc_wrenches(data: mujoco.MjData) -> Vector:
    """Returns the force of the user's wrenches on bodies, (nv,)."""
    applied = np.zeros(data.model.nv)
    for body in np.flatnonzero(np.any(data.xfrc_applied, axis=1)):
        wrench = data.xfrc_applied[body]
        mujoco.mj_applyFT(
            data.model, data, wrench[:3], wrench[3:], data.xipos[body], int(body), applied
        )
    return applied


def _calc_bias(probe: mujoco.MjData, velocity: Vector) -> Vector:
    """Returns the Coriolis forces and gravity at a velocity, (nv,)."""
    probe.qvel[:] = velocity
    mujoco.mj_fwdVelocity(probe.model, probe)
    return np.array(probe.qfrc_bias)


def _calc_gyroscopic_change(
    probe: mujoco.MjData, start: mujoco.MjData, change: Vector, contacts: Vector
) -> Vector:
    """Returns -C (v* - v0) of the dofs of bodies that turn freely, (nv,).

    C is the derivative of the Coriolis forces c, and v* = v - M^-1 J^T gamma. c is a quadratic form, so
    that C (v* - v0) = c(v*) - c(v* - v0) - c(v0).
    """
    model = start.model
    turns_freely = find_free_turns(model)
    if not np.any(turns_freely):
        return np.zeros(model.nv)
    push = np.zeros((1, model.nv))
    mujoco.mj_solveM(model, start, push, contacts[None, :])
    free = change - push[0]
    gravity = _calc_bias(probe, np.zeros(model.nv))
    bent = _calc_bias(probe, start.qvel + free) - _calc_bias(probe, free)
    return np.where(turns_freely, start.qfrc_bias - gravity - bent, 0.0)


def find_free_turns(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns the dofs of trees of one body with a free joint, or with a ball joint, (nv,)."""
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    kind = np.asarray(model.jnt_type)[model.dof_jntid]
    size = np.asarray(model.tree_dofnum)[model.dof_treeid]
    return np.asarray(((kind == free) & (size == 6)) | ((kind == ball) & (size == 3)))


def _calc_velocity_changes(
    probe: mujoco.MjData, start: mujoco.MjData, change: Vector
) -> tuple[Vector, Vector]:
    """Returns the linearized changes of dampers' forces and of a fluid's drag, (nv,) each."""
    probe.qvel[:] = start.qvel + _SMALL * change
    mujoco.mj_fwdVelocity(probe.model, probe)
    damping = (probe.qfrc_damper - start.qfrc_damper) / _SMALL
    return damping, (probe.qfrc_fluid - start.qfrc_fluid) / _SMALL


def _calc_spring_change(start: mujoco.MjData, end: Vector, time_step: float) -> Vector:
    """Returns -dt K v of the springs of joints and tendons, (nv,)."""
    model = start.model
    change = np.zeros(model.nv)
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_SPRING):
        return change
    for joint in np.flatnonzero(_find_elastic(model.jnt_stiffness, model.jnt_stiffnesspoly)):
        for dofs, x in _find_displacements(start, int(joint)):
            stiffness = _calc_slope(model.jnt_stiffness[joint], model.jnt_stiffnesspoly[joint], x)
            change[dofs] -= time_step * stiffness * end[dofs]
    for tendon in np.flatnonzero(_find_elastic(model.tendon_stiffness, model.tendon_stiffnesspoly)):
        x = _calc_stretch(start, int(tendon))
        if x == 0:
            continue
        first = int(model.ten_J_rowadr[tendon])
        row = slice(first, first + int(model.ten_J_rownnz[tendon]))
        dofs, moment = model.ten_J_colind[row], np.ravel(start.ten_J)[row]
        stiffness = _calc_slope(
            model.tendon_stiffness[tendon], model.tendon_stiffnesspoly[tendon], x
        )
        change[dofs] -= time_step * stiffness * (moment @ end[dofs]) * moment
    return change


def _find_elastic(stiffness: Vector, higher: Vector) -> NDArray[np.bool_]:
    return np.asarray((stiffness != 0) | np.any(higher != 0, axis=1))


def _calc_slope(stiffness: float, higher: Vector, x: float) -> float:
    """Returns the derivative of a spring's polynomial at x, or 0 if it is negative."""
    return max(0.0, float(stiffness + 2 * higher[0] * x + 3 * higher[1] * x * x))


def _find_displacements(data: mujoco.MjData, joint: int) -> list[tuple[slice, float]]:
    """Returns the dofs of a joint and the displacement of their spring [m or rad]."""
    model = data.model
    dof, address = int(model.jnt_dofadr[joint]), int(model.jnt_qposadr[joint])
    plastic = int(model.jnt_plasticadr[joint])
    rest = data.plastic[plastic:] if plastic >= 0 else model.qpos_spring[address:]
    q = data.qpos[address:]

    def calc_angle(first: int) -> float:
        quat, turn = q[first : first + 4].copy(), np.zeros(3)
        mujoco.mju_normalize4(quat)
        mujoco.mju_subQuat(turn, quat, rest[first : first + 4].copy())
        return float(np.linalg.norm(turn))

    match int(model.jnt_type[joint]):
        case mujoco.mjtJoint.mjJNT_FREE.value:
            linear = float(np.linalg.norm(q[:3] - rest[:3]))
            return [(slice(dof, dof + 3), linear), (slice(dof + 3, dof + 6), calc_angle(3))]
        case mujoco.mjtJoint.mjJNT_BALL.value:
            return [(slice(dof, dof + 3), calc_angle(0))]
        case _:
            return [(slice(dof, dof + 1), float(q[0] - rest[0]))]


def _calc_stretch(data: mujoco.MjData, tendon: int) -> float:
    """Returns the length of a tendon beyond its rest lengths [m]; 0 if it is slack."""
    plastic = int(data.model.tendon_plasticadr[tendon])
    rest = (
        data.plastic[plastic : plastic + 2]
        if plastic >= 0
        else data.model.tendon_lengthspring[tendon]
    )
    length = float(data.ten_length[tendon])
    return length - min(max(length, float(rest[0])), float(rest[1]))


def _calc_actuator_forces(
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
    slope = (calc(0, _SMALL) - unlimited) / _SMALL
    dissipates = slope * change <= 0
    is_affine, shares_limit = _find_affine(model), _find_shared_limits(model)
    last = np.where(is_affine, calc(restores, dissipates), unlimited + slope * dissipates)
    ranges = np.repeat(model.actuator_forcerange, model.actuator_outnum, axis=0)
    ranges[np.repeat(model.actuator_forcelimited, model.actuator_outnum) == 0] = [-np.inf, np.inf]
    if limits_act:
        last = np.where(is_affine, np.clip(last, ranges[:, 0], ranges[:, 1]), last)
        return np.where(is_affine & ~shares_limit, last, force), last
    is_held = (force <= ranges[:, 0]) | (force >= ranges[:, 1])
    is_held |= np.abs(force - unlimited) > 1e-12 * np.abs(unlimited)
    last = np.where(is_held, force, last)
    return np.where(is_affine & ~shares_limit, last, force), last


def _find_affine(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns which outputs have a force that is affine in length and velocity, (nout,)."""
    gain, bias = mujoco.mjtGain, mujoco.mjtBias
    affine = np.isin(model.actuator_gaintype, (int(gain.mjGAIN_FIXED), int(gain.mjGAIN_AFFINE)))
    affine &= np.isin(model.actuator_biastype, (int(bias.mjBIAS_NONE), int(bias.mjBIAS_AFFINE)))
    affine &= (np.asarray(model.actuator_plugin) < 0) & (np.asarray(model.actuator_outnum) == 1)
    return np.asarray(np.repeat(affine, model.actuator_outnum))


def _find_shared_limits(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Returns which outputs act on a joint or tendon whose total force is limited, (nout,)."""
    kinds, target = np.asarray(model.actuator_trntype), np.asarray(model.actuator_trnid)[:, 0]
    shares = np.zeros(model.nactuator, bool)
    transmission = mujoco.mjtTrn
    joints = np.isin(
        kinds, (int(transmission.mjTRN_JOINT), int(transmission.mjTRN_JOINTINPARENT))
    )
    shares[joints] = np.asarray(model.jnt_actfrclimited, bool)[target[joints]]
    tendons = kinds == int(transmission.mjTRN_TENDON)
    shares[tendons] = np.asarray(model.tendon_actfrclimited, bool)[target[tendons]]
    return np.asarray(np.repeat(shares, model.actuator_outnum))
