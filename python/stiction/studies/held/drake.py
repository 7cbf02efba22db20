"""Holds bodies in Drake with its default settings, if it is installed."""

from __future__ import annotations

import importlib.util
import itertools
import logging
import math
import warnings
from typing import Any

import mujoco
import numpy as np

from stiction.studies.held.scenes import HeldScene, Vector

APPROXIMATIONS = ("sap", "lagged")

_CORNER = 1e-4  # radius of the spheres at the corners of a box [m]


def is_installed() -> bool:
    """True if Drake is installed."""
    return importlib.util.find_spec("pydrake") is not None


def measure_creep(scene: HeldScene, approximation: str, time_step: float) -> float | None:
    """Returns the speed of the held body [m/s], as stiction.studies.held.run does.

    Args:
        scene: a scene that DrakeScene takes.
        approximation: Drake's discrete contact approximation.
        time_step: [s].

    Returns:
        The speed; None if a step failed.
    """
    drake_scene = DrakeScene(scene, approximation, time_step)
    try:
        drake_scene.advance(scene.settle)
        start = drake_scene.find_place()
        drake_scene.advance(scene.settle + scene.duration)
    except RuntimeError:
        return None
    speed = float(np.linalg.norm(drake_scene.find_place() - start)) / scene.duration
    return speed if math.isfinite(speed) else None


class DrakeScene:
    """A scene of boxes and planes, free or on joints, in Drake with point contact.

    Point contact of Drake has one point per pair of geometries. So boxes touch with small spheres at
    their corners, as in Drake's own examples of boxes, and pairs of two boxes, of two such spheres,
    and of a box and a plane are left out. All other settings are Drake's defaults. Inputs are set before
    each step. Servos are explicit; the armature of their joints keeps them stable.

    Args:
        scene: the scene.
        approximation: Drake's discrete contact approximation.
        time_step: [s].
    """

    def __init__(self, scene: HeldScene, approximation: str, time_step: float) -> None:
        self._drake = _load()
        self._scene, self._model, self._time_step = scene, scene.model, time_step
        self._data = mujoco.MjData(scene.model)
        mujoco.mj_kinematics(scene.model, self._data)
        builder = self._drake.DiagramBuilder()
        config = self._drake.MultibodyPlantConfig()
        config.time_step = time_step
        config.discrete_contact_approximation = approximation
        config.contact_model = "point"
        self._plant, self._graph = self._drake.AddMultibodyPlant(config, builder)
        self._plant.mutable_gravity_field().set_gravity_vector(scene.model.opt.gravity)
        self._planes: list[Any] = []
        self._boxes: list[Any] = []
        self._corners: list[Any] = []
        self._bodies = [self._plant.world_body()]
        # The id in MuJoCo's model, the joint and the actuator in Drake.
        self._actuators: list[tuple[int, Any, Any]] = []
        for body in range(1, scene.model.nbody):
            self._add_body(body)
        for geom in range(scene.model.ngeom):
            if scene.model.geom_contype[geom] or scene.model.geom_conaffinity[geom]:
                self._add_geom(geom)
        self._plant.Finalize()
        self._leave_out_pairs()
        self._simulator = self._drake.Simulator(builder.Build())
        context = self._simulator.get_mutable_context()
        self._context = self._plant.GetMyMutableContextFromRoot(context)
        for body in range(1, scene.model.nbody):
            if self._bodies[body].is_floating_base_body():
                pose = self._drake.RigidTransform(self._data.xpos[body])
                self._plant.SetFreeBodyPose(self._context, self._bodies[body], pose)
        self._held = self._bodies[scene.model.body(scene.held).id]
        self._holder = self._bodies[scene.model.body(scene.holder).id]
        self._num_steps = 0
        self._set_inputs()
        self._simulator.Initialize()

    def advance(self, time: float) -> None:
        """Takes steps until a time [s].

        Raises:
            RuntimeError: Drake's solver failed.
        """
        while self._num_steps < round(time / self._time_step):
            self._set_inputs()
            self._num_steps += 1
            self._simulator.AdvanceTo(self._num_steps * self._time_step)

    def find_place(self) -> Vector:
        """Returns the place of the held body in the frame of its holder [m]."""
        holder, held = (
            self._plant.EvalBodyPoseInWorld(self._context, body)
            for body in (self._holder, self._held)
        )
        return np.array(holder.inverse() @ held.translation())

    def _set_inputs(self) -> None:
        """Sets the forces of actuators and the loads on bodies for the next step."""
        m, data, plant = self._model, self._data, self._plant
        data.time = self._num_steps * self._time_step
        self._scene.drive(data)
        if self._actuators:
            forces = np.zeros(plant.num_actuators())
            for k, joint, actuator in self._actuators:
                forces[actuator.input_start()] = self._calc_force(k, joint)
            plant.get_actuation_input_port().FixValue(self._context, forces)
        loads = []
        for body in range(1, m.nbody):
            force, torque = np.split(data.xfrc_applied[body], 2)
            load = self._drake.ExternallyAppliedSpatialForce()
            load.body_index = self._bodies[body].index()
            load.p_BoBq_B = np.zeros(3)
            load.F_Bq_W = self._drake.SpatialForce(tau=torque, f=force)
            loads.append(load)
        plant.get_applied_spatial_force_input_port().FixValue(self._context, loads)

    def _add_body(self, i: int) -> None:
        """Adds a body of MuJoCo's model, whose frame is at its center of mass."""
        m, drake, plant = self._model, self._drake, self._plant
        name = m.body(i).name or f"body{i}"
        central = drake.RotationalInertia(*m.body_inertia[i])
        inertia = drake.SpatialInertia.MakeFromCentralInertia(
            float(m.body_mass[i]), np.zeros(3), central
        )
        body = plant.AddRigidBody(name, inertia)
        self._bodies.append(body)
        joint = int(m.body_jntadr[i])
        if m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE:
            return
        dof = int(m.jnt_dofadr[joint])
        is_hinge = m.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        parent = self._bodies[m.body_parentid[i]].body_frame()
        at = drake.FixedOffsetFrame(f"{name}_start", parent, drake.RigidTransform(m.body_pos[i]))
        kind = drake.RevoluteJoint if is_hinge else drake.PrismaticJoint
        added = plant.AddJoint(
            kind(
                name,
                plant.AddFrame(at),
                body.body_frame(),
                m.jnt_axis[joint],
                damping=float(m.dof_damping[dof]),
            )
        )
        for k in np.flatnonzero(m.actuator_trnid[:, 0] == joint):
            actuator = plant.AddJointActuator(f"{name}_{k}", added)
            # The inertia is that of a rotor behind a gear of 1.
            actuator.set_default_rotor_inertia(float(m.dof_armature[dof]))
            actuator.set_default_gear_ratio(1.0)
            self._actuators.append((int(k), added, actuator))

    def _calc_force(self, k: int, joint: Any) -> float:
        """Returns the force of MuJoCo's actuator k on a joint of Drake [N or N m]."""
        m = self._model
        bias = m.actuator_biasprm[k]
        q, v = joint.GetOnePosition(self._context), joint.GetOneVelocity(self._context)
        gain = m.actuator_gainprm[k, 0]
        return float(gain * self._data.ctrl[k] + bias[0] + bias[1] * q + bias[2] * v)

    def _add_geom(self, i: int) -> None:
        m, drake = self._model, self._drake
        mu = float(m.geom_friction[i, 0])
        rotation = drake.RotationMatrix(drake.Quaternion(m.geom_quat[i]))
        pose = drake.RigidTransform(rotation, m.geom_pos[i])

        def register(shape: Any, name: str, at: Any) -> Any:
            return self._plant.RegisterCollisionGeometry(
                self._bodies[m.geom_bodyid[i]], at, shape, name, drake.CoulombFriction(mu, mu)
            )

        if m.geom_type[i] == mujoco.mjtGeom.mjGEOM_PLANE:
            self._planes.append(register(drake.HalfSpace(), f"plane{i}", pose))
            return
        half = m.geom_size[i]
        self._boxes.append(register(drake.Box(*(2 * half)), f"box{i}", pose))
        for k, signs in enumerate(itertools.product((-1, 1), repeat=3)):
            center = drake.RigidTransform(np.array(signs) * (half - _CORNER))
            sphere = register(drake.Sphere(_CORNER), f"corner{i}_{k}", pose @ center)
            self._corners.append(sphere)

    def _leave_out_pairs(self) -> None:
        drake = self._drake
        planes, boxes, corners = (
            drake.GeometrySet(each) for each in (self._planes, self._boxes, self._corners)
        )
        left_out = drake.CollisionFilterDeclaration()
        left_out.ExcludeWithin(boxes).ExcludeWithin(corners).ExcludeBetween(planes, boxes)
        self._graph.collision_filter_manager().Apply(left_out)


def _load() -> Any:
    """Returns pydrake.all without its warnings: it warns about every half-space."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pydrake import all as drake
    logging.getLogger("drake").setLevel(logging.ERROR)
    return drake
