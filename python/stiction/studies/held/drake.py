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
        scene: a scene that DrakeScene takes, whose holder does not move.
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
    """A scene of boxes and planes, free or on slides with motors, in Drake with point contact.

    Point contact of Drake has one point per pair of geometries. So boxes touch with small spheres at
    their corners, as in Drake's own examples of boxes, and pairs of two boxes, of two such spheres,
    and of a box and a plane are left out. All other settings are Drake's defaults.

    Args:
        scene: the scene, with constant inputs.
        approximation: Drake's discrete contact approximation.
        time_step: [s].
    """

    def __init__(self, scene: HeldScene, approximation: str, time_step: float) -> None:
        self._drake = _load()
        self._model = scene.model
        data = mujoco.MjData(scene.model)
        scene.drive(data)
        mujoco.mj_forward(scene.model, data)
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
        forces = [self._add_body(body, data) for body in range(1, scene.model.nbody)]
        for geom in range(scene.model.ngeom):
            self._add_geom(geom)
        self._plant.Finalize()
        self._leave_out_pairs()
        self._simulator = self._drake.Simulator(builder.Build())
        context = self._simulator.get_mutable_context()
        self._context = self._plant.GetMyMutableContextFromRoot(context)
        actuated = [force for force in forces if force is not None]
        if actuated:
            self._plant.get_actuation_input_port().FixValue(self._context, np.array(actuated))
        for body in range(1, scene.model.nbody):
            if forces[body - 1] is None:
                pose = self._drake.RigidTransform(data.xpos[body])
                self._plant.SetFreeBodyPose(self._context, self._bodies[body], pose)
        self._held = self._bodies[scene.model.body(scene.held).id]
        self._simulator.Initialize()

    def advance(self, time: float) -> None:
        """Takes steps until a time [s].

        Raises:
            RuntimeError: Drake's solver failed.
        """
        self._simulator.AdvanceTo(time)

    def find_place(self) -> Vector:
        """Returns the place of the held body in the world [m]."""
        pose = self._plant.EvalBodyPoseInWorld(self._context, self._held)
        return np.array(pose.translation())

    def _add_body(self, i: int, data: mujoco.MjData) -> float | None:
        """Adds a body of MuJoCo's model, whose frame is at its center of mass.

        Returns:
            The force of the motor of its slide [N], or None if the body is free.
        """
        m, drake, plant = self._model, self._drake, self._plant
        name = m.body(i).name or f"body{i}"
        central = drake.RotationalInertia(*m.body_inertia[i])
        inertia = drake.SpatialInertia.MakeFromCentralInertia(
            float(m.body_mass[i]), np.zeros(3), central
        )
        body = plant.AddRigidBody(name, inertia)
        self._bodies.append(body)
        joint = int(m.body_jntadr[i])
        if m.jnt_type[joint] != mujoco.mjtJoint.mjJNT_SLIDE:
            return None
        dof = int(m.jnt_dofadr[joint])
        at = drake.FixedOffsetFrame(
            f"{name}_start", plant.world_frame(), drake.RigidTransform(m.body_pos[i])
        )
        slide = drake.PrismaticJoint(
            name,
            plant.AddFrame(at),
            body.body_frame(),
            m.jnt_axis[joint],
            damping=float(m.dof_damping[dof]),
        )
        actuator = plant.AddJointActuator(name, plant.AddJoint(slide))
        # The inertia is that of a rotor behind a gear of 1.
        actuator.set_default_rotor_inertia(float(m.dof_armature[dof]))
        actuator.set_default_gear_ratio(1.0)
        return float(data.qfrc_actuator[dof])

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
