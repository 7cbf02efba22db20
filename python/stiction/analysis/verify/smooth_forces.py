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

import mujoco
import numpy as np
from numpy.typing import NDArray

from stiction.analysis.verify.actuator_forces import calc_actuator_forces
from stiction.analysis.verify.elastic_joints import calc_spring_change
from stiction.analysis.verify.gyroscopic_forces import (
    calc_gyroscopic_change,
    find_free_turns,
    find_isotropic,
)
from stiction.analysis.verify.interval import Interval

Vector = NDArray[np.float64]

_FRICTION_ERROR = 1e-3  # of the bound of dry friction, which the solver meets to its tolerance [-]
_SMALL = 1e-5  # share of the change of velocity at which a force is linearized [-]


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
    damping, drag = _calc_velocity_changes(probe, start, change)
    gyroscopic = calc_gyroscopic_change(probe, start, change, contacts, time_step)
    springs = calc_spring_change(start, end, time_step)
    for part in (gyroscopic, damping, springs):
        force.add(part, part)
    force.add(drag, np.zeros(model.nv))
    kink = _SMALL * _calc_drag_change(probe, start, end)  # of v |v|, where v changes its sign
    force.add(kink, -kink)
    actuators = calc_actuator_forces(probe, start, end, time_step, limits_act=limits_act)
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


def find_unknown_forces(start: mujoco.MjData) -> NDArray[np.bool_]:
    """Returns the dofs with forces that calc_smooth_impulses does not know, (nv,).

    These are the forces of a fluid on ellipsoids, and the gyroscopic moments of bodies that turn freely
    if drag, tendons or servos act on them too.
    """
    model = start.model
    in_fluid = _is_in_fluid(model)
    if in_fluid and np.any(np.asarray(model.geom_fluid)[:, 0] > 0):
        return np.ones(model.nv, bool)
    turns_freely = find_free_turns(model) & ~find_isotropic(model)
    if in_fluid or not np.any(turns_freely):
        return turns_freely
    pulled = np.zeros(model.nv, bool)
    if model.ntendon:
        pulled[model.ten_J_colind] = True
    none, fixed = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtGain.mjGAIN_FIXED)
    is_servo = (model.actuator_biastype != none) | (model.actuator_gaintype != fixed)
    for output in np.flatnonzero(np.repeat(is_servo, model.actuator_outnum)):
        first = int(start.moment_rowadr[output])
        pulled[start.moment_colind[first : first + int(start.moment_rownnz[output])]] = True
    trees = np.unique(model.dof_treeid[pulled])
    return np.asarray(turns_freely & np.isin(model.dof_treeid, trees))


def _calc_velocity_changes(
    probe: mujoco.MjData, start: mujoco.MjData, change: Vector
) -> tuple[Vector, Vector]:
    """Returns the linearized changes of dampers' forces and of a fluid's drag, (nv,) each."""
    forces = []
    for share in (_SMALL, -_SMALL):
        probe.qvel[:] = start.qvel + share * change
        mujoco.mj_fwdVelocity(probe.model, probe)
        forces.append((np.array(probe.qfrc_damper), np.array(probe.qfrc_fluid)))
    damping, drag = ((up - down) / (2 * _SMALL) for up, down in zip(*forces, strict=True))
    return np.asarray(damping), np.asarray(drag)


def _calc_drag_change(probe: mujoco.MjData, start: mujoco.MjData, velocity: Vector) -> Vector:
    """Returns by how much the drag of a fluid differs at another velocity, (nv,)."""
    if not _is_in_fluid(start.model):
        return np.zeros(start.model.nv)
    probe.qvel[:] = velocity
    mujoco.mj_fwdVelocity(probe.model, probe)
    return np.asarray(np.abs(probe.qfrc_fluid - start.qfrc_fluid))


def _is_in_fluid(model: mujoco.MjModel) -> bool:
    return bool(model.opt.density > 0 or model.opt.viscosity > 0)
