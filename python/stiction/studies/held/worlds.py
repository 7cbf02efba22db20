"""The scenes of the study as data that other simulators can build."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from stiction.engines.rotations import Vec
from stiction.engines.world import Body, Geom, Joint, World
from stiction.studies.held.scenes import HeldScene, Vector

_KINDS = {mujoco.mjtGeom.mjGEOM_PLANE: "plane", mujoco.mjtGeom.mjGEOM_BOX: "box"}
_SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE


def make_world(scene: HeldScene) -> World:
    """Returns the start of a scene of boxes and planes that has no patches.

    A world has neither servos nor dampers. So a holder that turns does so from the start, at the speed
    that its servo holds, with the armature as inertia, and with all free bodies. The damping of slides
    is left out; it has no effect on what rests.
    """
    m = scene.model
    data = _make_data(scene, scene.settle)
    turning = [i for i in range(1, m.nbody) if _joint_type(m, i) == _HINGE]
    bodies = [_make_body(m, data, i) for i in range(1, m.nbody)]
    for i in turning:
        joint = int(m.body_jntadr[i])
        axis = data.xaxis[joint] * _find_speed(m, data, joint)
        bodies = [_turn(body, axis, data.xanchor[joint]) for body in bodies]
    geoms = tuple(_make_geom(m, i) for i in range(m.ngeom) if m.geom_bodyid[i] == 0)
    return World(tuple(bodies), geoms, _vec(m.opt.gravity))


def make_forces(scene: HeldScene, time_step: float, num_steps: int) -> Vector:
    """Returns the forces of motors and loads on the centers of mass [N], (num_steps, bodies, 3).

    They are those that the scene has from the beginning of its measurement on. Moments are left out.
    """
    m = scene.model
    forces = np.zeros((num_steps, m.nbody - 1, 3))
    data = _make_data(scene, scene.settle)
    for step in range(num_steps):
        data.time = scene.settle + step * time_step
        scene.drive(data)
        forces[step] = data.xfrc_applied[1:, :3]
        for actuator in range(m.nu):
            joint = int(m.actuator_trnid[actuator, 0])
            if m.jnt_type[joint] == _SLIDE:
                force = m.actuator_gainprm[actuator, 0] * data.ctrl[actuator]
                forces[step, m.jnt_bodyid[joint] - 1] += force * data.xaxis[joint]
    return forces


def name_body(model: mujoco.MjModel, body: int) -> str:
    """Returns the name of a body in a world."""
    name: str = model.body(body).name
    return name or f"body{body}"


def _make_data(scene: HeldScene, time: float) -> mujoco.MjData:
    """Returns the start of a scene with the inputs of a time [s]."""
    data = mujoco.MjData(scene.model)
    mujoco.mj_kinematics(scene.model, data)
    data.time = time
    scene.drive(data)
    return data


def _joint_type(m: mujoco.MjModel, body: int) -> int:
    return int(m.jnt_type[m.body_jntadr[body]])


def _find_speed(m: mujoco.MjModel, data: mujoco.MjData, joint: int) -> float:
    """Returns the speed that the velocity servo of a joint holds [rad/s]."""
    servos = np.flatnonzero(m.actuator_trnid[:, 0] == joint)
    return float(data.ctrl[servos].sum())


def _make_body(m: mujoco.MjModel, data: mujoco.MjData, i: int) -> Body:
    joint, parent = int(m.body_jntadr[i]), int(m.body_parentid[i])
    body = Body(
        name=name_body(m, i),
        pos=_vec(data.xpos[i]),
        mass=float(m.body_mass[i]),
        inertia=_vec(m.body_inertia[i]),
        geoms=tuple(_make_geom(m, g) for g in range(m.ngeom) if _belongs(m, g, i)),
        parent=name_body(m, parent) if parent else None,
    )
    if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
        return body
    axis = _vec(m.jnt_axis[joint])
    if m.jnt_type[joint] == _SLIDE:
        return dataclasses.replace(body, joint=Joint("slide", axis))
    # The inertia about other axes than the hinge's has no effect.
    armature = m.dof_armature[m.jnt_dofadr[joint]]
    return dataclasses.replace(
        body,
        inertia=_vec(m.body_inertia[i] + armature),
        joint=Joint("hinge", axis, velocity=_find_speed(m, data, joint)),
    )


def _turn(body: Body, spin: Vector, anchor: Vector) -> Body:
    """Returns a body that moves with one that turns; joints bring their bodies' motion about."""
    if body.joint is not None:
        return body
    velocity = np.cross(spin, np.array(body.pos) - anchor)
    return dataclasses.replace(body, velocity=_vec(velocity), spin=_vec(spin))


def _belongs(m: mujoco.MjModel, geom: int, body: int) -> bool:
    """True if a geom collides and belongs to a body."""
    collides = m.geom_contype[geom] or m.geom_conaffinity[geom]
    return bool(collides and m.geom_bodyid[geom] == body)


def _make_geom(m: mujoco.MjModel, i: int) -> Geom:
    kind = _KINDS[mujoco.mjtGeom(m.geom_type[i])]
    size = m.geom_size[i][:2] if kind == "plane" else m.geom_size[i]
    friction = float(m.geom_friction[i, 0])
    return Geom(kind, _vec(size), friction, _vec(m.geom_pos[i]), _vec(m.geom_quat[i]))


def _vec(numbers: Vector) -> Vec:
    return tuple(float(x) for x in numbers)
