"""The scenes of the study as data that other simulators can build."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np

from stiction.evidence.engines.rotations import Vec
from stiction.evidence.engines.world import Body, Geom, Joint, World
from stiction.evidence.studies.held.peers import RefusedError
from stiction.evidence.studies.held.scenes import HeldScene, Vector

_KINDS = {
    mujoco.mjtGeom.mjGEOM_PLANE: ("plane", 2),
    mujoco.mjtGeom.mjGEOM_BOX: ("box", 3),
    mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", 2),
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: ("ellipsoid", 3),
}  # with the number of sizes
_SLIDE, _HINGE = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE


def make_world(scene: HeldScene) -> World:
    """Returns the start of a scene.

    A world has neither servos nor dampers. So a holder that turns does so from the start, at the speed
    that its servo holds, with the armature as inertia, and with all free bodies. The damping of slides
    is left out; it has no effect on what rests. Bodies without joints, which do not move, are left out.

    Raises:
        RefusedError: a world cannot have a geom of the scene.
    """
    m = scene.model
    data = _make_data(scene, scene.settle)
    moving = list_moving(m)
    turning = [i for i in moving if _joint_type(m, i) == _HINGE]
    bodies = [_make_body(m, data, i) for i in moving]
    for i in turning:
        joint = int(m.body_jntadr[i])
        axis = data.xaxis[joint] * _find_speed(m, data, joint)
        bodies = [_turn(body, axis, data.xanchor[joint]) for body in bodies]
    ground = [g for g in _list_geoms(m) if m.geom_bodyid[g] not in moving]
    geoms = tuple(_make_geom(m, data, g, np.zeros(3), np.eye(3)) for g in ground)
    return World(tuple(bodies), geoms, _vec(m.opt.gravity))


def make_forces(scene: HeldScene, time_step: float, num_steps: int) -> Vector:
    """Returns the forces of motors and loads on the centers of mass [N], (num_steps, bodies, 3).

    They are those that the scene has from the beginning of its measurement on. Moments are left out.
    """
    m = scene.model
    moving = list_moving(m)
    forces = np.zeros((num_steps, len(moving), 3))
    data = _make_data(scene, scene.settle)
    for step in range(num_steps):
        data.time = scene.settle + step * time_step
        scene.drive(data)
        forces[step] = data.xfrc_applied[moving, :3]
        for actuator in range(m.nu):
            joint = int(m.actuator_trnid[actuator, 0])
            if m.jnt_type[joint] == _SLIDE:
                gain = m.actuator_gainprm[actuator, 0] * m.actuator_gear[actuator, 0]
                force = gain * data.ctrl[actuator] * data.xaxis[joint]
                forces[step, moving.index(m.jnt_bodyid[joint])] += force
    return forces


def list_moving(model: mujoco.MjModel) -> list[int]:
    """Returns the bodies with a joint."""
    return [i for i in range(1, model.nbody) if model.body_jntnum[i]]


def name_body(model: mujoco.MjModel, body: int) -> str:
    """Returns the name of a body in a world."""
    name: str = model.body(body).name
    return name or f"body{body}"


def _make_data(scene: HeldScene, time: float) -> mujoco.MjData:
    """Returns the start of a scene with the inputs of a time [s]."""
    data = mujoco.MjData(scene.model)
    if scene.model.nkey:
        mujoco.mj_resetDataKeyframe(scene.model, data, 0)
    mujoco.mj_kinematics(scene.model, data)
    mujoco.mj_comPos(scene.model, data)
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
    """Returns a body, whose frame in a world is that of its inertia."""
    joint, parent = int(m.body_jntadr[i]), int(m.body_parentid[i])
    turned = data.ximat[i].reshape(3, 3)
    geoms = [g for g in _list_geoms(m) if m.geom_bodyid[g] == i]
    body = Body(
        name=name_body(m, i),
        pos=_vec(data.xipos[i]),
        quat=_find_quat(turned),
        mass=float(m.body_mass[i]),
        inertia=_vec(m.body_inertia[i]),
        geoms=tuple(_make_geom(m, data, g, data.xipos[i], turned) for g in geoms),
        parent=name_body(m, parent) if m.body_jntnum[parent] else None,
    )
    if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
        return body
    axis = _vec(turned.T @ data.xaxis[joint])
    if m.jnt_type[joint] == _SLIDE:
        return dataclasses.replace(body, joint=Joint("slide", axis))
    # The inertia about other axes than the hinge's has no effect.
    armature = m.dof_armature[m.jnt_dofadr[joint]]
    anchor = turned.T @ (data.xanchor[joint] - data.xipos[i])
    return dataclasses.replace(
        body,
        inertia=_vec(m.body_inertia[i] + armature),
        joint=Joint("hinge", axis, _vec(anchor), _find_speed(m, data, joint)),
    )


def _turn(body: Body, spin: Vector, anchor: Vector) -> Body:
    """Returns a body that moves with one that turns; joints bring their bodies' motion about."""
    if body.joint is not None:
        return body
    velocity = np.cross(spin, np.array(body.pos) - anchor)
    return dataclasses.replace(body, velocity=_vec(velocity), spin=_vec(spin))


def _list_geoms(m: mujoco.MjModel) -> list[int]:
    """Returns the geoms that collide."""
    return [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]


def _make_geom(m: mujoco.MjModel, data: mujoco.MjData, i: int, pos: Vector, mat: Vector) -> Geom:
    """Returns a geom in a frame with a position and a rotation matrix in the world."""
    kind = mujoco.mjtGeom(m.geom_type[i])
    if kind not in _KINDS:
        raise RefusedError(
            f"the geom '{m.geom(i).name}' is a {kind.name.removeprefix('mjGEOM_').lower()}; the scenes "
            f"for it have {', '.join(name for name, _ in _KINDS.values())} alone"
        )
    name, num_sizes = _KINDS[kind]
    return Geom(
        name,
        _vec(m.geom_size[i][:num_sizes]),
        float(m.geom_friction[i, 0]),
        _vec(mat.T @ (data.geom_xpos[i] - pos)),
        _find_quat(mat.T @ data.geom_xmat[i].reshape(3, 3)),
    )


def _find_quat(mat: Vector) -> Vec:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, mat.ravel())
    return _vec(quat)


def _vec(numbers: Vector) -> Vec:
    return tuple(float(x) for x in numbers)
